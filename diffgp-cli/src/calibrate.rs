//! `diffgp calibrate`: the error bars of a finished model, by rows that it has not seen.

use std::path::PathBuf;

use anyhow::Context;
use diffgp_infer::Model;
use diffgp_train::calibration::{self, Calibration, CalibrationMode, CalibrationSource, LEAST_ROWS};
use diffgp_train::evaluate::Known;
use serde::Serialize;

use super::failure::mistake;
use super::file_options::FileOption;
use super::keep::ForceArg;
use super::known_rows::KnownRowsArgs;
use super::threads::ThreadsArgs;
use super::{console, model_file, output};

/// Calibrate the error bars of a model on fresh rows.
///
/// Nothing is trained: the rows say how far predictions are off, and the file remembers it in at most 256 bytes per target. The
/// rows must have taken no part in training. It is also the way to adapt a shipped model's bars to a new sensor, and to give
/// bars to a compressed model. docs/calibration.md tells what is guaranteed.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp calibrate model.dgp fresh.csv --out calibrated.dgp
  diffgp calibrate small.dgp data.csv --test-rows splits.txt --split 0 --out small-calibrated.dgp"
)]
pub(crate) struct Args {
    #[command(flatten)]
    known: KnownRowsArgs,
    /// Model file to write.
    #[arg(long, value_name = "CALIBRATED.dgp")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// auto: quantiles, and a local scale where it pays; table: quantiles alone.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = ["auto", "table"])]
    calibration: String,
    /// Sample paths per row, of the bars of sampled predictions.
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    paths: u32,
    /// Decides the paths.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print one JSON object: model, bytes, and calibration as in `inspect --json`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    bytes: usize,
    calibration: Option<Calibrated>,
}

/// What the bars of a model were calibrated on, as JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Calibrated {
    pub(crate) rows: u32,
    pub(crate) source: &'static str,
    /// Probabilities of the stored quantiles; of a classifier that of its prediction sets.
    pub(crate) levels: Vec<f32>,
}

impl Calibrated {
    /// Of a model, if its bars were calibrated.
    pub(crate) fn of(model: &Model<'_>) -> Option<Self> {
        let calibration = model.blob().calibration()?;
        let levels = match model.is_classifier() {
            true => vec![diffgp_core::blob::CLASS_SET_LEVEL],
            false => calibration::CALIBRATED_LEVELS.to_vec(),
        };
        Some(Self { rows: calibration.rows, source: calibration.source.id(), levels })
    }

    /// In one line, with what that means.
    pub(crate) fn text(&self) -> String {
        let rows = self.rows;
        let means = match self.source {
            "fresh" => "rows that training never saw: bars hold their share on the average over such rows",
            "validation" => "rows that chose the model but were not fitted to: an estimate, not a guarantee",
            _ => "rows that models like this one left out: an estimate, not a guarantee",
        };
        format!("calibrated on {rows} {means}; nothing is known outside the ranges of the inputs")
    }
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let file = model_file::read(&args.known.model)?;
    output::check_writable("--out", &args.out, &[Some(&args.known.data), args.file.path()])?;
    args.force.check_model("--out", &args.out)?;
    let model = file.model();
    let known = args.known.read(&model)?;
    let rows: Vec<Known<'_>> = known.numbers().iter().map(|&number| known.row(number)).collect();
    let mode = if args.calibration == "table" { CalibrationMode::Table } else { CalibrationMode::Auto };
    let data = args.known.data.display().to_string();
    let sampling = (args.paths, args.seed);
    let calibration: Option<Calibration> =
        calibration::calibrate(&model, &rows, CalibrationSource::Fresh, mode, sampling, &threads)
            .with_context(|| data.clone())?;
    let Some(calibration) = calibration else {
        return Err(mistake(format!(
            "{data}: {} rows say too little about error bars, or their targets are beyond what f32 holds; expected at least \
             {LEAST_ROWS}",
            rows.len()
        )));
    };
    let bytes = calibration::with_calibration(file.bytes(), Some(&calibration))?;
    output::write(&args.out, &bytes)?;
    let written = model_file::read(&args.out)?;
    let calibrated = Calibrated::of(&written.model());
    let out = args.out.display().to_string();
    if args.json {
        return output::print_json(&Report { model: out, bytes: bytes.len(), calibration: calibrated });
    }
    let text = calibrated.map_or_else(String::new, |calibrated| calibrated.text());
    output::print(&format!("{out}: {}, {text}\n", console::bytes(bytes.len())))
}
