//! `diffgp predict`: what the device will say, row by row.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use diffgp_infer::Model;
use diffgp_train::data::DataError;
use diffgp_train::evaluate::{Answer, Row, Sampling, evaluate};
use diffgp_train::threads::Threads;
use serde::Serialize;

use super::console::tell;
use super::file_options::FileOption;
use super::layout::LayoutArgs;
use super::model_rows::{ModelRows, Target};
use super::sampling::SamplingArgs;
use super::threads::ThreadsArgs;
use super::{model_file, output};

/// Rows in memory at once.
const CHUNK: usize = 4096;

/// Predict the rows of a CSV file with the device's own code.
///
/// Writes CSV with the columns mean and variance (noise included), or probability for a classifier, one line per row.
/// Columns that the model does not know are ignored if both sides have names.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp predict model.dgp new.csv --out predictions.csv
  diffgp predict model.dgp new.csv --deterministic | head"
)]
pub(crate) struct Args {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// CSV file with the model's inputs.
    #[arg(value_name = "DATA.csv")]
    data: PathBuf,
    /// Column to skip because it holds the target, if either side lacks names.
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Where to write the CSV [default: standard output].
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Print one JSON object: n; mean and variance, or probability, as arrays; and out_of_range, the rows (from 0)
    /// outside the ranges seen in training.
    #[arg(long, conflicts_with = "out")]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Report {
    Regression { n: usize, mean: Vec<f32>, variance: Vec<f32>, out_of_range: Vec<usize> },
    Classification { n: usize, probability: Vec<f32>, out_of_range: Vec<usize> },
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let file = model_file::read(&args.model)?;
    let model = file.model();
    if let Some(out) = &args.out {
        output::check_writable("--out", out, &[Some(&args.model), Some(&args.data), args.file.path()])?;
    }
    let mut rows = ModelRows::open(&args.data, &args.layout, &model, args.target.as_deref(), Target::Skipped)?;
    let predictions = predict_all(&model, &mut rows, args.sampling.sampling(), &threads)?;
    if predictions.is_empty() {
        return Err(DataError::NoRows { path: Some(args.data) }.into());
    }
    let outside = predictions.iter().filter(|prediction| !prediction.in_range()).count();
    if outside > 0 {
        tell!("note: {outside} of {} rows lie outside the ranges seen in training", predictions.len());
    }
    if args.json {
        return output::print_json(&report(&model, &predictions));
    }
    let table = table(&model, &predictions);
    match &args.out {
        Some(out) => output::write(out, table.as_bytes()),
        None => output::print(&table),
    }
}

fn predict_all(
    model: &Model<'_>,
    rows: &mut ModelRows,
    sampling: Sampling,
    threads: &Threads,
) -> anyhow::Result<Vec<Answer>> {
    let (width, mut number) = (rows.width(), 0);
    let (mut cells, mut predictions) = (Vec::new(), Vec::new());
    loop {
        cells.clear();
        while cells.len() < CHUNK * width
            && let Some(row) = rows.next()?
        {
            cells.extend_from_slice(row);
        }
        if cells.is_empty() {
            return Ok(predictions);
        }
        let chunk: Vec<Row<'_>> =
            cells.chunks_exact(width).zip(number..).map(|(x, number)| Row { number, x }).collect();
        number += chunk.len() as u32;
        let evaluated =
            evaluate(model, &chunk, sampling, threads).with_context(|| rows.path().display().to_string())?;
        predictions.extend(evaluated.into_iter().map(|evaluated| evaluated.answer));
    }
}

fn report(model: &Model<'_>, predictions: &[Answer]) -> Report {
    let n = predictions.len();
    let out_of_range = (0..n).filter(|&row| !predictions[row].in_range()).collect();
    if model.is_classifier() {
        let probability = predictions.iter().filter_map(Answer::probability).collect();
        Report::Classification { n, probability, out_of_range }
    } else {
        let mean = predictions.iter().map(Answer::mean).collect();
        let variance = predictions.iter().map(Answer::variance).collect();
        Report::Regression { n, mean, variance, out_of_range }
    }
}

/// `{:?}` of an f32 is the shortest text that reads back to the same bits.
fn table(model: &Model<'_>, predictions: &[Answer]) -> String {
    let mut table = String::from(if model.is_classifier() { "probability\n" } else { "mean,variance\n" });
    for prediction in predictions {
        let _ = match prediction.probability() {
            Some(probability) => writeln!(table, "{probability:?}"),
            None => writeln!(table, "{:?},{:?}", prediction.mean(), prediction.variance()),
        };
    }
    table
}
