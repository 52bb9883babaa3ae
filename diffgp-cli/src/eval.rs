//! `diffgp eval`: how good a model is on rows whose target is known, computed as the device computes it.

use std::fmt::Write;

use anyhow::Context;
use diffgp_infer::Model;
use diffgp_train::calibration::with_calibration;
use diffgp_train::evaluate::{ClassFigures, Figures, Known, LEVELS, OutputFigures, score};
use diffgp_train::model_file::ModelFile;
use serde::{Deserialize, Serialize};

use super::file_options::FileOption;
use super::known_rows::KnownRowsArgs;
use super::sampling::SamplingArgs;
use super::threads::ThreadsArgs;
use super::{console, model_file, model_names, output, shown};

/// Score a model on rows whose targets are known.
///
/// Runs the device's own code on the model file, so the figures are the device's. The log-likelihood is the mean per
/// row, in the targets' own units, of the calibrated distribution or, if the model has none, of the mixture over sample
/// paths.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp eval model.dgp data.csv --test-rows splits.txt --split 0
  diffgp eval model.dgp data.csv --deterministic --json"
)]
pub(crate) struct Args {
    #[command(flatten)]
    known: KnownRowsArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// With the error bars that the model had before they were calibrated.
    #[arg(long)]
    uncalibrated: bool,
    /// Print one JSON object: n, rmse, log_likelihood, coverage_50, _80, _90, _95 and _99, winkler_95 and crps (of several
    /// targets in outputs, each with its name); or n, accuracy, auc, log_likelihood, calibration_error, confusion and
    /// classes; and out_of_range. docs/figures.md tells what they are.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Report {
    /// One real target.
    Number {
        #[serde(flatten)]
        figures: OutputFigures,
        out_of_range: usize,
    },
    /// Several: the log-likelihood is that of all together.
    Numbers { n: usize, log_likelihood: f64, outputs: Vec<NamedOutput>, out_of_range: usize },
    /// A class; names are in the order of the confusion matrix.
    Class {
        #[serde(flatten)]
        figures: ClassFigures,
        classes: Vec<String>,
        out_of_range: usize,
    },
}

/// One of several targets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NamedOutput {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) figures: OutputFigures,
}

impl NamedOutput {
    /// The targets of a model that has several; nothing for others.
    pub(crate) fn several(names: &[String], figures: &Figures) -> Vec<Self> {
        let named = names.iter().zip(&figures.outputs);
        let all = named.map(|(name, figures)| Self { name: name.clone(), figures: *figures });
        all.filter(|_| figures.outputs.len() > 1).collect()
    }
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let mut file = model_file::read(&args.known.model)?;
    if args.uncalibrated {
        file = ModelFile::new(&with_calibration(file.bytes(), None)?)?;
    }
    let model = file.model();
    let known = args.known.read(&model)?;
    let rows: Vec<Known<'_>> = known.numbers().iter().map(|&number| known.row(number)).collect();
    let data = || args.known.data.display().to_string();
    let figures = score(&model, &rows, args.sampling.sampling(), &threads).with_context(data)?;
    if args.json { output::print_json(&report(&model, figures)) } else { output::print(&text(&model, &figures)) }
}

fn report(model: &Model<'_>, figures: Figures) -> Report {
    let out_of_range = figures.out_of_range;
    if let Some(&figures) = figures.only_output() {
        return Report::Number { figures, out_of_range };
    }
    if let Some(figures) = figures.classes {
        return Report::Class { figures, classes: model_names::classes(model), out_of_range };
    }
    Report::Numbers {
        n: figures.rows,
        log_likelihood: figures.log_likelihood,
        outputs: NamedOutput::several(&model_names::targets(model), &figures),
        out_of_range,
    }
}

/// The figures for people, line by line.
pub(crate) fn text(model: &Model<'_>, figures: &Figures) -> String {
    let mut text = format!("{:<18} {}\n", "rows", figures.rows);
    for (label, value) in lines(model, figures) {
        let _ = writeln!(text, "{}", format!("{label:<18} {value}").trim_end());
    }
    if let Some(classes) = &figures.classes {
        text.push_str(&confusion(&model_names::classes(model), &classes.confusion));
    }
    if figures.out_of_range > 0 {
        let _ = writeln!(text, "{} rows lie outside the ranges seen in training", figures.out_of_range);
    }
    text
}

/// What there is to say, and its figure.
pub(crate) fn lines(model: &Model<'_>, figures: &Figures) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut line = |label: &str, value: String| lines.push((label.to_owned(), value));
    if let Some(classes) = &figures.classes {
        if let Some(auc) = classes.auc {
            line("AUC", format!("{auc:.4}"));
        }
        line("accuracy", format!("{:.4}", classes.accuracy));
        line("log-likelihood", format!("{:.4}", classes.log_likelihood));
        line("calibration error", format!("{:.4}", classes.calibration_error));
    }
    if figures.outputs.len() > 1 {
        line("log-likelihood", format!("{:.4}, of all targets together", figures.log_likelihood));
    }
    let names = model_names::targets(model);
    for (name, output) in names.iter().zip(&figures.outputs) {
        if figures.outputs.len() > 1 {
            line("", String::new());
            line("target", shown::line(name));
        }
        line("RMSE", console::figure(output.rmse, 4));
        line("log-likelihood", format!("{:.4}", output.log_likelihood));
        line("CRPS", console::figure(output.crps, 4));
        for (level, share) in LEVELS.into_iter().zip(output.coverage()) {
            line(&format!("in {:.0} % bars", 100.0 * level), format!("{share:.4}"));
        }
        if let Some([low, middle, high]) = output.coverage_90_by_mean {
            let thirds = format!("{low:.4}, {middle:.4}, {high:.4}, by thirds of the predicted mean");
            line("in 90 % bars", thirds);
        }
        if let Some(share) = output.coverage_90_out_of_range {
            line("in 90 % bars", format!("{share:.4}, of the rows outside the ranges seen in training"));
        }
        if let Some(width) = output.width_95 {
            line("95 % bar width", console::figure(width, 4));
        }
        line("95 % Winkler score", console::figure(output.winkler_95, 4));
    }
    lines
}

/// Rows by true class and most probable class, where that is not too wide to read.
fn confusion(names: &[String], rows: &[Vec<usize>]) -> String {
    const WIDEST: usize = 10;
    if names.len() > WIDEST {
        return String::new();
    }
    let names: Vec<String> = names.iter().map(|name| shown::line(name)).collect();
    let letters = |name: &String| name.chars().count();
    let first = names.iter().map(letters).max().unwrap_or(0);
    let widths: Vec<usize> = names.iter().map(|name| letters(name).max(5)).collect();
    let mut text = format!("\n{:<first$}  most probable class\n{:<first$}", "true", "class");
    for (name, width) in names.iter().zip(&widths) {
        let _ = write!(text, "  {name:>width$}");
    }
    text.push('\n');
    for (name, row) in names.iter().zip(rows) {
        let _ = write!(text, "{name:<first$}");
        for (count, width) in row.iter().zip(&widths) {
            let _ = write!(text, "  {count:>width$}");
        }
        text.push('\n');
    }
    text
}
