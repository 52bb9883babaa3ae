//! `diffgp crossval`: the same training on many splits and flow times, with means and standard errors.

mod journal;
mod splits;

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use diffgp_train::data::{Columns, Dataset, Header};
use diffgp_train::evaluate::{Known, Row, Sampling, score};
use diffgp_train::train::{self, Config, TrainError};
use serde::Serialize;

use self::journal::{Journal, Line};
use super::failure::{mistake, training_failed};
use super::model_file::{self, ModelFile};
use super::progress::Reporter;
use super::settings::Settings;
use super::{console, interrupt, output};

/// Train and score on many splits, for several flow times.
///
/// Every split is trained on its training rows alone, exported, and scored on its held-out rows with the device's own
/// code. One line per finished split goes to --out; the same command started again goes on where it stopped.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp crossval data.csv --target y --folds 10 --flow-times 0,5
  diffgp crossval data.csv --target y --test-rows splits.txt --splits 0..20"
)]
pub(crate) struct Args {
    /// CSV file: numbers, with or without a header.
    #[arg(value_name = "DATA.csv")]
    data: PathBuf,
    /// Column to predict: its name, or its index counted from 0.
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<String>,
    /// Columns to leave out: names, or indices counted from 0, separated by commas.
    #[arg(long, value_name = "NAME|INDEX,...", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Text file; line K lists the held-out rows of split K (from 0, header not counted).
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    test_rows: Option<PathBuf>,
    /// Which lines of --test-rows, as FIRST..END (END not included) [default: all].
    #[arg(long, value_name = "FIRST..END", requires = "test_rows")]
    splits: Option<String>,
    /// Parts of the rows, each held out once; chosen by --seed.
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    /// Flow times to compare.
    #[arg(long, value_name = "T,T,...", value_delimiter = ',', default_value = "0,1,2,3,4,5")]
    flow_times: Vec<f64>,
    /// Sample paths per held-out row.
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    test_paths: u32,
    /// Where finished splits are kept, one JSON object per line [default: the data's name with .crossval.jsonl].
    #[arg(long, value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Print one JSON object: results, an array with one object per flow time.
    #[arg(long)]
    json: bool,
    /// TOML file with options, written flag = value; the command line counts more.
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, Serialize)]
struct Report {
    results: Vec<Summary>,
}

/// One flow time; figures that do not apply are left out, and the error of a single split is null.
#[derive(Debug, Serialize)]
struct Summary {
    flow_time: f64,
    splits: usize,
    #[serde(flatten)]
    rmse: Option<Rmse>,
    #[serde(flatten)]
    auc: Option<Auc>,
    log_likelihood_mean: f64,
    log_likelihood_se: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Rmse {
    rmse_mean: f64,
    rmse_se: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Auc {
    auc_mean: f64,
    auc_se: Option<f64>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if args.settings.flow_time.is_some() {
        return Err(mistake("--flow-time is for train; expected --flow-times with a list, as in --flow-times 0,5"));
    }
    let Some(target) = &args.target else {
        return Err(mistake(format!("say which column of {} to predict with --target", args.data.display())));
    };
    let data = Dataset::read_csv(
        &args.data,
        Columns { target, ignored: &args.ignore },
        Header::Detect,
        args.settings.target_kind(),
    )?;
    let splits = splits::held_out_rows(&args, &data)?;
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| args.data.with_extension("crossval.jsonl").file_name().unwrap_or_default().into());
    output::check_writable("--out", &path)?;
    // All settings are checked before the first split is trained.
    let configs = args.flow_times.iter().map(|&time| args.settings.with_flow_time(time).config(data.rows()));
    configs.collect::<anyhow::Result<Vec<_>>>()?;
    let mut journal = Journal::open(&path)?;
    interrupt::listen()?;
    let mut lines = Vec::new();
    for (split, held_out) in &splits {
        for &flow_time in &args.flow_times {
            lines.push(split_line(&args, &data, *split, held_out, flow_time, &mut journal)?);
        }
    }
    let results = args.flow_times.iter().map(|&flow_time| summary(flow_time, &lines)).collect();
    let report = Report { results };
    if args.json { output::print_json(&report) } else { output::print(&text(&report)) }
}

/// The figures of one split, from the journal or computed now.
fn split_line(
    args: &Args,
    data: &Dataset,
    split: usize,
    held_out: &[usize],
    flow_time: f64,
    journal: &mut Journal,
) -> anyhow::Result<Line> {
    let start = Instant::now();
    let (training, test) = data.clone().hold_out(held_out)?;
    let config = args.settings.with_flow_time(flow_time).config(training.rows())?;
    let key = journal::key(&config, &training, &test, args.test_paths);
    if let Some(line) = journal.find(&key, split) {
        return Ok(line);
    }
    let blob = train_and_export(args, &training, &config, journal)?;
    let file = ModelFile::new(&blob)?;
    let rows: Vec<Known<'_>> = (0..test.rows())
        .map(|row| Known { row: Row { number: held_out[row] as u32, x: test.input_row(row) }, y: test.targets()[row] })
        .collect();
    let sampling = Sampling::Paths { count: args.test_paths, seed: 0 };
    let score = score(&file.model(), &rows, sampling)?.score;
    let line = Line {
        key,
        split,
        flow_time,
        n: score.rows,
        rmse: score.rmse,
        auc: score.auc,
        log_likelihood: score.log_likelihood,
        seconds: start.elapsed().as_secs_f64(),
    };
    journal.append(&line)?;
    eprintln!("{line}  {}", console::duration(start.elapsed()));
    Ok(line)
}

fn train_and_export(args: &Args, training: &Dataset, config: &Config, journal: &Journal) -> anyhow::Result<Vec<u8>> {
    let mut reporter = Reporter::bar_only(config);
    let outcome = train::train(training, config, &mut reporter);
    reporter.finish();
    match outcome {
        Ok(trained) => Ok(model_file::export_trained(&trained, training, false)?.bytes),
        Err(TrainError::Stopped { .. }) => Err(anyhow::anyhow!(
            "stopped; finished splits are in {}, and the same command goes on from there",
            journal.path().display()
        )),
        Err(error) => Err(training_failed(&args.data, error)),
    }
}

fn summary(flow_time: f64, lines: &[Line]) -> Summary {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.flow_time == flow_time).collect();
    let of = |figure: fn(&Line) -> Option<f64>| {
        let values: Option<Vec<f64>> = lines.iter().map(|line| figure(line)).collect();
        values.filter(|values| !values.is_empty()).map(|values| mean_and_error(&values))
    };
    let (log_likelihood_mean, log_likelihood_se) = of(|line| Some(line.log_likelihood)).unwrap_or((f64::NAN, None));
    Summary {
        flow_time,
        splits: lines.len(),
        rmse: of(|line| line.rmse).map(|(rmse_mean, rmse_se)| Rmse { rmse_mean, rmse_se }),
        auc: of(|line| line.auc).map(|(auc_mean, auc_se)| Auc { auc_mean, auc_se }),
        log_likelihood_mean,
        log_likelihood_se,
    }
}

/// Mean, and standard error of the mean if there is more than one value.
fn mean_and_error(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()))
}

fn text(report: &Report) -> String {
    let figure = |mean: f64, error: Option<f64>| {
        error.map_or_else(|| format!("{mean:.4}"), |error| format!("{mean:.4} ± {error:.4}"))
    };
    let classification = report.results.iter().any(|summary| summary.auc.is_some());
    let second = if classification { "AUC" } else { "RMSE" };
    let mut text = format!("{:>9}  {:>6}  {second:<20}  log-likelihood\n", "flow time", "splits");
    for summary in &report.results {
        let shown = match (&summary.rmse, &summary.auc) {
            (Some(rmse), _) => figure(rmse.rmse_mean, rmse.rmse_se),
            (_, Some(auc)) => figure(auc.auc_mean, auc.auc_se),
            _ => "-".to_owned(),
        };
        let likelihood = figure(summary.log_likelihood_mean, summary.log_likelihood_se);
        let _ = writeln!(text, "{:>9}  {:>6}  {shown:<20}  {likelihood}", summary.flow_time, summary.splits);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::mean_and_error;

    #[test]
    fn means_and_standard_errors_by_hand() {
        assert_eq!(mean_and_error(&[3.0]), (3.0, None));
        // Deviation √2 with divisor n − 1, over √2.
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, Some(1.0)));
    }
}
