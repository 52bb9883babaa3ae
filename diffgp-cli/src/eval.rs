//! `diffgp eval`: how good a model is on rows whose target is known, computed as the device computes it.

use std::fmt::Write;

use anyhow::Context;
use diffgp_infer::Model;
use diffgp_train::evaluate::{Figures, Known, score};
use serde::Serialize;

use super::file_options::FileOption;
use super::known_rows::KnownRowsArgs;
use super::sampling::SamplingArgs;
use super::threads::ThreadsArgs;
use super::{console, model_file, output};

/// Score a model on rows whose target is known.
///
/// Runs the device's own code on the model file, so the figures are the device's. The log-likelihood is the mean per
/// row, in the target's own units, of the mixture over sample paths.
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
    /// Print one JSON object: n, rmse, log_likelihood, coverage_50, coverage_90 and coverage_95, or n, auc, accuracy and
    /// log_likelihood; and out_of_range.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// The figures; those that do not apply are left out.
#[derive(Debug, Serialize)]
struct Report {
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    /// Of a classification; null if only one class occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    log_likelihood: f64,
    #[serde(flatten)]
    coverage: Option<Coverage>,
    out_of_range: usize,
}

/// Share of the rows whose target lies in its interval; regression only.
#[derive(Debug, Serialize)]
struct Coverage {
    coverage_50: f64,
    coverage_90: f64,
    coverage_95: f64,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let file = model_file::read(&args.known.model)?;
    let model = file.model();
    let known = args.known.read(&model)?;
    let rows: Vec<Known<'_>> = known.numbers().iter().map(|&number| known.row(number)).collect();
    let data = || args.known.data.display().to_string();
    let figures = score(&model, &rows, args.sampling.sampling(), &threads).with_context(data)?;
    let report = report(&model, &figures);
    if args.json { output::print_json(&report) } else { output::print(&text(&report)) }
}

fn report(model: &Model<'_>, figures: &Figures) -> Report {
    let score = figures.score;
    Report {
        n: score.rows,
        rmse: score.rmse,
        auc: model.is_classifier().then_some(score.auc),
        accuracy: score.accuracy,
        log_likelihood: score.log_likelihood,
        coverage: figures.coverage().map(|[coverage_50, coverage_90, coverage_95]| Coverage {
            coverage_50,
            coverage_90,
            coverage_95,
        }),
        out_of_range: figures.out_of_range,
    }
}

fn text(report: &Report) -> String {
    let mut text = format!("rows            {}\n", report.n);
    if let Some(rmse) = report.rmse {
        let _ = writeln!(text, "{:<15} {}", "RMSE", console::figure(rmse, 4));
    }
    let mut line = |label: &str, value: Option<f64>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{label:<15} {value:.4}");
        }
    };
    line("AUC", report.auc.flatten());
    line("accuracy", report.accuracy);
    line("log-likelihood", Some(report.log_likelihood));
    if let Some(coverage) = &report.coverage {
        line("in 50 % bars", Some(coverage.coverage_50));
        line("in 90 % bars", Some(coverage.coverage_90));
        line("in 95 % bars", Some(coverage.coverage_95));
    }
    if report.out_of_range > 0 {
        let _ = writeln!(text, "{} rows lie outside the ranges seen in training", report.out_of_range);
    }
    text
}
