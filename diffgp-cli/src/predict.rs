//! `diffgp predict`: what the device will say, row by row.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Context;
use diffgp_infer::{Model, Output};
use diffgp_train::data::{DataError, Missing};
use diffgp_train::evaluate::{Answer, Row, Sampling, evaluate};
use diffgp_train::threads::Threads;
use serde::Serialize;

use super::console::tell;
use super::failure::mistake;
use super::file_options::FileOption;
use super::keep::ForceArg;
use super::layout::LayoutArgs;
use super::model_rows::{ModelRows, Target};
use super::sampling::SamplingArgs;
use super::threads::ThreadsArgs;
use super::{model_file, model_names, output, shown};

/// Rows in memory at once.
const CHUNK: usize = 4096;
/// Of the interval from low_90 to high_90.
const LEVEL: f32 = 0.9;

/// Predict the rows of a file with the device's own code.
///
/// Writes CSV, one line per row: the columns mean, variance and deviation (noise included), low_90 and high_90 (the ends of
/// the 90 % interval), of several targets mean_NAME and so on; probability (of the second) for two classes, probability_NAME
/// of every class for more, and class; in_range says whether all inputs are in the ranges seen in training. Columns that the
/// model does not know are ignored if both sides have names.
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
    /// File (CSV, .npy, .npz, Parquet) with the model's inputs.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Columns to skip because they hold targets, if either side lacks names.
    #[arg(long, value_name = "NAME|INDEX,...")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Begin every line with the inputs as the model was given them.
    #[arg(long, conflicts_with = "json")]
    with_inputs: bool,
    /// Where to write the CSV [default: standard output].
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print one JSON object: n; the columns as arrays (outputs or probabilities holds those of several targets or classes,
    /// each with its name); and out_of_range, the rows (from 0) outside the ranges seen in training.
    #[arg(long, conflicts_with = "out")]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    n: usize,
    #[serde(flatten)]
    columns: Columns,
    out_of_range: Vec<usize>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Columns {
    Number(NumberColumns),
    Numbers { outputs: Vec<NumberColumns> },
    TwoClasses { probability: Vec<f32>, class: Vec<String> },
    Classes { probabilities: Vec<ClassColumn>, class: Vec<String> },
}

#[derive(Debug, Serialize)]
struct NumberColumns {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    mean: Vec<f32>,
    variance: Vec<f32>,
    deviation: Vec<f32>,
    low_90: Vec<f32>,
    high_90: Vec<f32>,
}

#[derive(Debug, Serialize)]
struct ClassColumn {
    name: String,
    probability: Vec<f32>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let file = model_file::read(&args.model)?;
    let model = file.model();
    if let Some(out) = &args.out {
        output::check_writable("--out", out, &[Some(&args.model), Some(&args.data), args.file.path()])?;
        args.force.check("--out", out)?;
    }
    if args.layout.missing() == Missing::Drop {
        return Err(mistake("--missing drop: expected an answer for every row; --missing mean gives one".to_owned()));
    }
    let mut rows = ModelRows::open(&args.data, &args.layout, &model, args.target.as_deref(), Target::Skipped)?;
    let mut inputs = vec![Vec::new(); if args.with_inputs { model.inputs() } else { 0 }];
    let predictions = predict_all(&model, &mut rows, args.sampling.sampling(), &threads, &mut inputs)?;
    rows.tell_repaired();
    if predictions.is_empty() {
        return Err(DataError::NoRows { path: Some(args.data) }.into());
    }
    let outside = predictions.iter().filter(|prediction| !prediction.in_range()).count();
    if outside > 0 {
        tell!("note: {outside} of {} rows lie outside the ranges seen in training", predictions.len());
    }
    let (n, columns) = (predictions.len(), Columns::new(&model, &predictions));
    if args.json {
        let out_of_range = (0..n).filter(|&row| !predictions[row].in_range()).collect();
        return output::print_json(&Report { n, columns, out_of_range });
    }
    let in_range: Vec<String> = predictions.iter().map(|prediction| prediction.in_range().to_string()).collect();
    let given = model_names::inputs(&model).into_iter().zip(inputs.iter().map(|column| Cells::Numbers(column)));
    let all = given.chain(columns.listed()).chain([("in_range".to_owned(), Cells::Words(&in_range))]);
    let table = table(n, &all.collect::<Vec<_>>());
    match &args.out {
        Some(out) => output::write(out, table.as_bytes()),
        None => output::print(&table),
    }
}

/// All predictions; the inputs column by column, for as many columns as are wanted.
fn predict_all(
    model: &Model<'_>,
    rows: &mut ModelRows,
    sampling: Sampling,
    threads: &Threads,
    inputs: &mut [Vec<f32>],
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
        for (column, values) in inputs.iter_mut().enumerate() {
            values.extend(cells.chunks_exact(width).map(|x| x[column]));
        }
        let chunk: Vec<Row<'_>> =
            cells.chunks_exact(width).zip(number..).map(|(x, number)| Row { number, x }).collect();
        number += chunk.len() as u32;
        let evaluated =
            evaluate(model, &chunk, sampling, threads).with_context(|| rows.path().display().to_string())?;
        predictions.extend(evaluated.into_iter().map(|evaluated| evaluated.answer));
    }
}

impl Columns {
    fn new(model: &Model<'_>, answers: &[Answer]) -> Self {
        let classes = model_names::classes(model);
        let class = answers.iter().filter_map(Answer::class).map(|class| classes[class].clone()).collect();
        if classes.len() == 2 {
            return Self::TwoClasses { probability: answers.iter().filter_map(Answer::probability).collect(), class };
        }
        if !classes.is_empty() {
            let column = |(class, name): (usize, String)| ClassColumn {
                name,
                probability: answers.iter().map(|answer| answer.probabilities()[class]).collect(),
            };
            return Self::Classes { probabilities: classes.into_iter().enumerate().map(column).collect(), class };
        }
        if model.outputs() == 1 {
            return Self::Number(NumberColumns::new(None, 0, answers));
        }
        let named = model_names::targets(model).into_iter().enumerate();
        Self::Numbers { outputs: named.map(|(o, name)| NumberColumns::new(Some(name), o, answers)).collect() }
    }

    /// Names and values, column by column.
    fn listed(&self) -> Vec<(String, Cells<'_>)> {
        match self {
            Self::Number(column) => column.listed(),
            Self::Numbers { outputs } => outputs.iter().flat_map(NumberColumns::listed).collect(),
            Self::TwoClasses { probability, class } => {
                vec![("probability".to_owned(), Cells::Numbers(probability)), ("class".to_owned(), Cells::Words(class))]
            }
            Self::Classes { probabilities, class } => {
                let column = |of: &'_ ClassColumn| format!("probability_{}", of.name);
                let columns = probabilities.iter().map(|of| (column(of), Cells::Numbers(&of.probability)));
                columns.chain([("class".to_owned(), Cells::Words(class))]).collect()
            }
        }
    }
}

impl NumberColumns {
    fn new(name: Option<String>, output: usize, answers: &[Answer]) -> Self {
        let column = |of: fn(&Output) -> f32| answers.iter().map(|answer| of(&answer.outputs()[output])).collect();
        let end = |of: fn((f32, f32)) -> f32| {
            let ends = answers.iter().filter_map(|answer| answer.outputs()[output].interval(LEVEL));
            ends.map(of).collect()
        };
        Self {
            name,
            mean: column(Output::mean),
            variance: column(Output::variance),
            deviation: column(Output::std_dev),
            low_90: end(|(low, _)| low),
            high_90: end(|(_, high)| high),
        }
    }

    fn listed(&self) -> Vec<(String, Cells<'_>)> {
        let suffix = self.name.as_ref().map_or_else(String::new, |name| format!("_{name}"));
        let columns = [
            ("mean", &self.mean),
            ("variance", &self.variance),
            ("deviation", &self.deviation),
            ("low_90", &self.low_90),
            ("high_90", &self.high_90),
        ];
        columns.map(|(column, values)| (format!("{column}{suffix}"), Cells::Numbers(values))).into()
    }
}

/// The cells of one column.
enum Cells<'a> {
    Numbers(&'a [f32]),
    Words(&'a [String]),
}

/// `{:?}` of an f32 is the shortest text that reads back to the same bits.
fn table(rows: usize, columns: &[(String, Cells<'_>)]) -> String {
    let mut table = columns.iter().map(|(name, _)| cell(name)).collect::<Vec<_>>().join(",");
    table.push('\n');
    for row in 0..rows {
        for (index, (_, cells)) in columns.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = match cells {
                Cells::Numbers(numbers) => write!(table, "{comma}{:?}", numbers[row]),
                Cells::Words(words) => write!(table, "{comma}{}", cell(&words[row])),
            };
        }
        table.push('\n');
    }
    table
}

/// Quoted where it has to be. A name that would go on in the next line is written in one.
pub(crate) fn cell(text: &str) -> String {
    let text = shown::line(text);
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
