//! `diffgp compress`: a smaller model file, and what it costs.

mod picture;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use diffgp_infer::Model;
use diffgp_train::calibration::with_calibration;
use diffgp_train::compress::{self, CompressError, Compressed, Goal};
use diffgp_train::device_cost::Core;
use diffgp_train::evaluate::{Figures, Known, OutputFigures, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use serde::Serialize;

use super::console::tell;
use super::eval::NamedOutput;
use super::failure::mistake;
use super::file_options::FileOption;
use super::keep::ForceArg;
use super::known_rows::KnownRows;
use super::layout::LayoutArgs;
use super::test_rows::TestRowsArgs;
use super::threads::ThreadsArgs;
use super::{bytes, console, model_file, model_names, output};

/// Make a model smaller, and say what that costs.
///
/// Inducing points, weights and variance directions are cut and rounded to 16 or 8 bits, and steps are left out, as
/// long as predictions hardly change (--tolerance) or until the model fits (--max-bytes, --max-instructions). Integers
/// save bytes and cost instructions: where time matters, say so with --max-instructions. Losses are divergences from
/// the original's predictions, in nats per row, for the rows of --data (without those of --test-rows) or, without it,
/// for made-up inputs. With --data, error, log-likelihood and coverage of both models are reported, on the rows of
/// --test-rows if there are any.
///
/// The compressed model carries a certificate: how far one evaluation of drift, diffusion and predictor can be from
/// the original's, at any input. `inspect` shows it.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp compress model.dgp --data data.csv --max-bytes 32768 --out small.dgp
  diffgp compress model.dgp --data data.csv --tolerance 0.01 --out small.dgp
  diffgp compress model.dgp --data data.csv --test-rows splits.txt --split 0 --max-bytes 32768 \\
                  --max-instructions 500000 --core m4f --out small.dgp
  diffgp compress model.dgp --data data.csv --integers --out fixed.dgp
  diffgp compress model.dgp --data data.csv --mean-only --max-bytes 8192 --out mean.dgp"
)]
pub(crate) struct Args {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// File (CSV, .npy, .npz, Parquet) with the model's inputs and its target: the rows it was trained on.
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Target columns, if they are not those that the model names.
    #[arg(long, value_name = "NAME|INDEX,...", requires = "data")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    test_rows: TestRowsArgs,
    /// The largest file, as 32768 or 32K.
    #[arg(long, value_name = "N", visible_alias = "budget", value_parser = bytes::parse)]
    max_bytes: Option<usize>,
    /// The most to lose, in nats per row; without a budget, saves all it can within it.
    #[arg(long, value_name = "EPS")]
    tolerance: Option<f64>,
    /// The most instructions of a sampled path, estimated for --core.
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
    /// Core that instructions are estimated for.
    #[arg(long, value_name = "CORE", default_value = Core::M4f.id(), value_parser = core_parser())]
    core: Core,
    /// For devices without floating-point hardware: the model is evaluated in integers. Alone, nothing else is changed.
    #[arg(long)]
    integers: bool,
    /// Give up the variance: keep the mean, a constant error bar, and no noise in the flow.
    #[arg(long)]
    mean_only: bool,
    /// Sample paths for the report.
    #[arg(long, value_name = "S", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    paths: u32,
    /// Model file to write; its trade-off is drawn beside it, as NAME.tradeoff.svg and .png.
    #[arg(long, value_name = "SMALL.dgp")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// What is said of a compressed model whose original was calibrated.
pub(crate) const UNCALIBRATED: &str = "note: the error bars of the smaller model are not calibrated any more; `diffgp calibrate` does it with rows that took no part \
     in training";

/// Nats per row that a smaller model may lose without a warning: five times what a flow has to add.
const MUCH: f64 = 0.05;

/// What to say of a smaller model that has lost much.
pub(crate) fn much_lost(loss: f64) -> Option<String> {
    (loss > MUCH).then(|| {
        format!(
            "the smaller model loses {loss:.3} nats per row, more than {MUCH}: its predictions are noticeably worse; allow more \
             bytes or instructions, or train with fewer --inducing points"
        )
    })
}

/// Fewer rows than this say little about what compression loses.
const FEW_ROWS: usize = 50;

/// Rows to report on, at most.
const REPORTED_ROWS: usize = 2000;

/// What the model took that was read.
#[derive(Clone, Copy, Debug)]
struct Original {
    bytes: usize,
    instructions: u64,
}

/// Everything that is printed.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(serialize_with = "output::lossy_path")]
    model: PathBuf,
    original_bytes: usize,
    bytes: usize,
    original_instructions: u64,
    instructions: u64,
    core: &'static str,
    adapted: bool,
    /// On the rows that were searched with.
    loss: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
    curve: Vec<table::PointRow>,
    flow: Vec<table::ChangeRow>,
    predictor: table::ChangeRow,
    seconds: f64,
}

/// Original and compressed model on the same rows.
#[derive(Debug, Serialize)]
struct Measured {
    rows: &'static str,
    n: usize,
    original: ScoreRow,
    compressed: ScoreRow,
}

#[derive(Debug, Serialize)]
struct ScoreRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration_error: Option<f64>,
    log_likelihood: f64,
    /// Of 50, 90 and 95 % intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<[f64; 3]>,
    /// Of several targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<NamedOutput>,
}

/// A core by its id.
fn core_parser() -> impl TypedValueParser<Value = Core> {
    let find = |id: String| Core::ALL.into_iter().find(|core| core.id() == id).ok_or("not a core");
    PossibleValuesParser::new(Core::ALL.map(Core::id)).try_map(find)
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let start = Instant::now();
    check(&args)?;
    let threads = args.threads.start()?;
    let file = model_file::read(&args.model)?;
    let model = file.model();
    let (data, test_rows) = (args.data.as_deref(), args.test_rows.test_rows.as_deref());
    output::check_writable("--out", &args.out, &[Some(&args.model), data, test_rows, args.file.path()])?;
    args.force.check_model("--out", &args.out)?;
    let data = Data::read(&args, &model)?;
    let core = args.core;
    let goal = Goal {
        max_bytes: args.max_bytes,
        max_instructions: args.max_instructions,
        tolerance: args.tolerance,
        integers: args.integers,
        mean_only: args.mean_only,
    };
    let instructions = |model: &Model<'_>| core.work(model).instructions_per_sampled_path;
    tell!("compressing {}", console::bytes(file.bytes().len()));
    let mut heard = |point: &compress::Point| {
        tell!("{:>9} bytes {:>11} instructions  {:+.4} nats", point.bytes, point.instructions, point.loss);
    };
    let compressed = compress::compress(file.bytes(), &data.inputs, &goal, &instructions, &mut heard, &threads)
        .map_err(|error| refused(&args, error))?;
    output::write(&args.out, &compressed.bytes)?;
    let original = Original { bytes: file.bytes().len(), instructions: instructions(&model) };
    // Beside a device there is no place for pictures.
    let pictures = match output::is_special(&args.out) {
        true => Vec::new(),
        false => picture::write(&compressed.curve, original, &args.out)?.to_vec(),
    };
    if model.blob().calibration().is_some() {
        tell!("{UNCALIBRATED}");
    }
    // Like with like: the smaller model has the bars of before they were calibrated.
    let plain = ModelFile::new(&with_calibration(file.bytes(), None)?)?;
    let small = ModelFile::new(&compressed.bytes)?;
    let measured = data.measure(&plain.model(), &small.model(), args.paths, &threads)?;
    let report = report(&args, original, &compressed, measured, start);
    let held_out = report.measured.as_ref();
    let held_out = held_out.map_or(0.0, |of| of.original.log_likelihood - of.compressed.log_likelihood);
    if let Some(warning) = much_lost(report.loss.max(held_out)) {
        tell!("warning: {warning}");
    }
    if args.json { output::print_json(&report) } else { output::print(&table::text(&report, &pictures)) }
}

fn check(args: &Args) -> anyhow::Result<()> {
    let limited = args.max_bytes.is_some() || args.max_instructions.is_some() || args.tolerance.is_some();
    if !limited && !args.integers {
        return Err(mistake(
            "no goal; expected some of --max-bytes N, --max-instructions N, --tolerance EPS and --integers".to_owned(),
        ));
    }
    if args.tolerance.is_some_and(|tolerance| !(tolerance >= 0.0 && tolerance.is_finite())) {
        return Err(mistake("--tolerance: expected a number of nats per row, 0 or more, for example 0.01".to_owned()));
    }
    if args.test_rows.holds_out() && args.data.is_none() {
        return Err(mistake("--test-rows: say which file its rows are of with --data".to_owned()));
    }
    Ok(())
}

/// A goal that cannot be reached is a mistake in the arguments.
fn refused(args: &Args, error: CompressError) -> anyhow::Error {
    match error {
        CompressError::OutOfReach { .. } => mistake(format!("{error}; allow more, or try --mean-only")),
        CompressError::NotFixed(_) => mistake(error.to_string()),
        CompressError::Row(_) | CompressError::Flow(_) => {
            let data = args.data.as_ref().map_or_else(String::new, |data| format!("{}: ", data.display()));
            mistake(format!("{data}{error}"))
        }
        // What is wrong with it, not with how it was asked for.
        error => mistake(format!("{}: {error}", args.model.display())),
    }
}

fn report(
    args: &Args,
    original: Original,
    compressed: &Compressed,
    measured: Option<Measured>,
    start: Instant,
) -> Report {
    let last = &compressed.curve[compressed.curve.len() - 1];
    Report {
        model: args.out.clone(),
        original_bytes: original.bytes,
        bytes: compressed.bytes.len(),
        original_instructions: original.instructions,
        instructions: last.instructions,
        core: args.core.name(),
        adapted: compressed.adapted,
        loss: last.loss,
        measured,
        curve: compressed.curve.iter().map(table::PointRow::new).collect(),
        flow: compressed.flow.iter().map(table::ChangeRow::new).collect(),
        predictor: table::ChangeRow::new(&compressed.predictor),
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// Rows to search with, and rows to report on.
struct Data {
    /// Raw inputs of the rows to search with.
    inputs: Vec<f32>,
    known: Option<KnownRows>,
}

impl Data {
    fn read(args: &Args, model: &Model<'_>) -> anyhow::Result<Self> {
        let Some(path) = &args.data else {
            tell!("note: without --data, predictions are compared for made-up inputs within the model's ranges");
            return Ok(Self { inputs: compress::made_up_inputs(model), known: None });
        };
        let known = KnownRows::read(path, &args.layout, args.target.as_deref(), &args.test_rows, model)?;
        let held_out = known.held_out.as_deref().unwrap_or_default();
        let searched = (0..known.total()).filter(|number| held_out.binary_search(number).is_err());
        let inputs: Vec<f32> = searched.flat_map(|number| known.row(number).row.x).copied().collect();
        if inputs.is_empty() {
            return Err(mistake(format!("{}: all rows are held out; none is left to search with", path.display())));
        }
        note_unsuitable(path, &inputs, model);
        Ok(Self { inputs, known: Some(known) })
    }

    /// Both models on the held-out rows, or else on the rows searched with; nothing without targets.
    fn measure(
        &self,
        original: &Model<'_>,
        compressed: &Model<'_>,
        paths: u32,
        threads: &Threads,
    ) -> anyhow::Result<Option<Measured>> {
        let Some(known) = &self.known else { return Ok(None) };
        let numbers = known.numbers();
        let stride = numbers.len().div_ceil(REPORTED_ROWS);
        let rows: Vec<Known<'_>> = numbers.iter().step_by(stride).map(|&number| known.row(number)).collect();
        let sampling = Sampling::Paths { count: paths, seed: 0 };
        let scored = |model: &Model<'_>| -> anyhow::Result<ScoreRow> {
            Ok(ScoreRow::new(&score(model, &rows, sampling, threads)?, &model_names::targets(original)))
        };
        Ok(Some(Measured {
            rows: if known.held_out.is_some() { "held-out rows" } else { "the rows searched with" },
            n: rows.len(),
            original: scored(original)?,
            compressed: scored(compressed)?,
        }))
    }
}

/// What compression loses is measured on these rows: says so where they can show little of it.
fn note_unsuitable(path: &Path, inputs: &[f32], model: &Model<'_>) {
    let within = |(index, &x): (usize, &f32)| {
        model.blob().input(index).is_some_and(|input| (input.low..=input.high).contains(&x))
    };
    let rows = inputs.chunks_exact(model.inputs());
    let outside = rows.clone().filter(|row| !row.iter().enumerate().all(within)).count();
    let (path, rows) = (path.display(), rows.len());
    if 10 * outside > rows {
        tell!(
            "warning: {path}: {outside} of {rows} rows lie outside the ranges seen in training; the loss on them says \
             little about rows that the model was made for"
        );
    }
    if rows < FEW_ROWS {
        tell!("warning: {path}: the loss is measured on {rows} rows; {FEW_ROWS} and more tell what others lose");
    }
}

impl ScoreRow {
    fn new(figures: &Figures, names: &[String]) -> Self {
        Self {
            rmse: figures.only_output().map(|output| output.rmse),
            auc: figures.auc(),
            accuracy: figures.classes.as_ref().map(|classes| classes.accuracy),
            calibration_error: figures.classes.as_ref().map(|classes| classes.calibration_error),
            log_likelihood: figures.log_likelihood,
            coverage: figures.only_output().map(OutputFigures::coverage_50_90_95),
            outputs: NamedOutput::several(names, figures),
        }
    }
}
