//! One `diffgp crossval`, and what it says at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::Common;
use crate::command;

/// What `diffgp crossval --json` prints.
#[derive(Deserialize)]
pub(super) struct Report {
    /// That of the program; results may be of older ones.
    recipe: u64,
    pub(super) results: Vec<Summary>,
}

/// One flow time.
#[derive(Deserialize)]
pub(super) struct Summary {
    pub(super) flow_time: f64,
    steps: Option<String>,
    pub(super) discretisation_error: Option<f64>,
    recipes: BTreeSet<u64>,
    pub(super) splits: usize,
    #[serde(flatten)]
    pub(super) figures: Means,
    /// Of one target: all splits together.
    pub(super) bars: Option<Bars>,
    pub(super) ten_paths: Means,
    pub(super) drift: Means,
    pub(super) training: Means,
    /// Null where a line has no bound: an exact Gaussian process has none.
    pub(super) bound_mean: Option<f64>,
    pub(super) gain: Option<Means>,
    pub(super) mean_error: f64,
    pub(super) variance_error: f64,
    pub(super) bytes: usize,
    /// Along the drift, per sampled path.
    pub(super) m4f_instructions: Option<[u64; 2]>,
    pub(super) iteration_mean: f64,
    pub(super) processor_seconds_mean: Option<f64>,
}

/// Error bars along the drift and sampled, with their calibration and without it.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Bars {
    /// The fewest of any split; 0 if there is no calibration.
    pub(super) calibration_rows: usize,
    pub(super) drift: BarFigures,
    pub(super) sampled: BarFigures,
    pub(super) uncalibrated_drift: Option<BarFigures>,
    pub(super) uncalibrated_sampled: Option<BarFigures>,
}

/// What `eval` says of the bars of one target.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct BarFigures {
    pub(super) n: usize,
    pub(super) log_likelihood: f64,
    coverage_50: f64,
    coverage_80: f64,
    coverage_90: f64,
    coverage_95: f64,
    coverage_99: f64,
    pub(super) winkler_95: f64,
    pub(super) crps: f64,
    pub(super) width_95: Option<f64>,
    pub(super) coverage_90_by_mean: Option<[f64; 3]>,
}

impl BarFigures {
    /// Levels, and the shares of held-out targets in their intervals.
    pub(super) fn coverage(&self) -> [(f64, f64); 5] {
        [
            (0.5, self.coverage_50),
            (0.8, self.coverage_80),
            (0.9, self.coverage_90),
            (0.95, self.coverage_95),
            (0.99, self.coverage_99),
        ]
    }
}

/// Means over splits with their standard errors.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Means {
    #[serde(default)]
    pub(super) rmse_mean: Option<f64>,
    #[serde(default)]
    pub(super) rmse_se: Option<f64>,
    #[serde(default)]
    pub(super) auc_mean: Option<f64>,
    #[serde(default)]
    pub(super) auc_se: Option<f64>,
    pub(super) log_likelihood_mean: f64,
    pub(super) log_likelihood_se: Option<f64>,
}

impl Means {
    pub(super) fn rmse(&self, decimals: usize) -> String {
        with_error(self.rmse_mean, self.rmse_se, decimals)
    }

    pub(super) fn auc(&self, decimals: usize) -> String {
        with_error(self.auc_mean, self.auc_se, decimals)
    }

    pub(super) fn log_likelihood(&self, decimals: usize) -> String {
        with_error(Some(self.log_likelihood_mean), self.log_likelihood_se, decimals)
    }
}

impl Summary {
    /// K, for a table.
    pub(super) fn steps(&self) -> &str {
        self.steps.as_deref().unwrap_or("–")
    }
}

impl Report {
    /// The recipes of some runs, for a table; older ones are marked.
    fn recipes(&self, recipes: &BTreeSet<u64>) -> String {
        let mark = |&recipe: &u64| format!("{recipe}{}", if recipe < self.recipe { "†" } else { "" });
        recipes.iter().map(mark).collect::<Vec<_>>().join(", ")
    }

    /// Those of a flow time.
    pub(super) fn recipes_of(&self, summary: &Summary) -> String {
        self.recipes(&summary.recipes)
    }
}

/// What the columns K and recipe hold, and what a mark means if there is one.
pub(super) fn columns<'a>(reports: impl IntoIterator<Item = &'a Report>) -> String {
    let mut text =
        "K is the number of steps, as in 5/20 where the model file has others than training had. Recipe is the \
                    number of the way of training, `RECIPE`."
            .to_owned();
    let is_older =
        |report: &&Report| report.results.iter().flat_map(|summary| &summary.recipes).any(|&r| r < report.recipe);
    if let Some(report) = reports.into_iter().find(is_older) {
        let _ = write!(
            text,
            " †: of an older recipe than the program's, {}, which trains otherwise: these figures may come out \
             differently now. Without `--finished` the command trains them anew.",
            report.recipe
        );
    }
    text
}

/// What a page needs of a finished run beside its figures.
#[derive(Deserialize)]
pub(super) struct Line {
    /// What was asked.
    key: serde_json::Value,
    pub(super) split: usize,
    pub(super) flow_time: f64,
    pub(super) rmse: Option<f64>,
    pub(super) log_likelihood: f64,
    #[serde(default)]
    pub(super) kernel: Option<String>,
    #[serde(default)]
    bars: Option<Bars>,
    pub(super) mean_error: f64,
    pub(super) variance_error: f64,
    provenance: Provenance,
    machine: String,
    date: String,
}

impl Line {
    /// Of sampled predictions, before calibration: what models trained with and without one can be compared by.
    pub(super) fn uncalibrated_log_likelihood(&self) -> f64 {
        let uncalibrated = self.bars.and_then(|bars| bars.uncalibrated_sampled);
        uncalibrated.map_or(self.log_likelihood, |figures| figures.log_likelihood)
    }
}

/// As `diffgp` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Provenance {
    version: String,
    pub(super) recipe: u64,
    processor: String,
    instruction_set: String,
}

/// A comparison to run or to read.
pub(super) struct Comparison {
    /// Under the data directory.
    pub(super) data: PathBuf,
    pub(super) target: &'static str,
    /// Which splits of the file beside the data, if there is one.
    pub(super) splits: Option<Range<usize>>,
    /// The file of finished runs is `docs/results/NAME.jsonl`.
    pub(super) name: String,
    pub(super) flow_times: Vec<u32>,
    /// Other options of `diffgp crossval`.
    pub(super) options: Vec<String>,
}

/// Builds `diffgp` in release mode.
pub(super) fn build() -> Result<()> {
    command::run(&mut command::cargo(
        ".",
        ["build", "--locked", "--release", "--quiet", "-p", "diffgp-cli", "--bin", "diffgp"],
    ))
}

impl Comparison {
    /// The finished runs in its file; of those that were made again, the last recipe's.
    pub(super) fn lines(&self) -> Result<Vec<Line>> {
        let name = format!("docs/results/{}.jsonl", self.name);
        let path = command::root().join(&name);
        let text = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
        let asked_for = |line: &Line| {
            let split = self.splits.as_ref().is_none_or(|splits| splits.contains(&line.split));
            split && self.flow_times.iter().any(|&time| f64::from(time) == line.flow_time)
        };
        let mut lines = Vec::new();
        for line in text.lines() {
            let line: Line = serde_json::from_str(line).with_context(|| format!("{name}: {line}"))?;
            lines.extend(Some(line).filter(asked_for));
        }
        lines.sort_by_key(|line| line.provenance.recipe);
        let latest: BTreeMap<(String, usize), Line> =
            lines.into_iter().map(|line| ((line.key.to_string(), line.split), line)).collect();
        Ok(latest.into_values().collect())
    }

    /// Refuses a page that would leave finished runs out.
    pub(super) fn check_nothing_is_lost(&self, report: Option<&Report>) -> Result<()> {
        let shown: usize = report.iter().flat_map(|report| &report.results).map(|summary| summary.splits).sum();
        let there = self.lines()?.len();
        ensure!(
            shown == there,
            "the pages are left as they were: {shown} of the {there} runs in docs/results/{}.jsonl are of these data and \
             settings; train the others again and remove what they replace",
            self.name
        );
        Ok(())
    }

    /// Trains what is missing and returns the summary; `None` if nothing is finished or the data is not there.
    pub(super) fn run(&self, common: &Common) -> Result<Option<Report>> {
        let data = command::root().join(&common.data).join(&self.data);
        if !data.exists() {
            eprintln!("SKIPPED: {} is not there", data.display());
            return Ok(None);
        }
        let mut diffgp = Command::new(command::root().join("target/release/diffgp"));
        diffgp.current_dir(command::root()).arg("crossval").arg(&data);
        let flow_times: Vec<String> = self.flow_times.iter().map(u32::to_string).collect();
        diffgp.args(["--target", self.target, "--flow-times", &flow_times.join(","), "--json"]);
        diffgp.arg("--out").arg(format!("docs/results/{}.jsonl", self.name)).args(&self.options);
        if let Some(splits) = &self.splits {
            diffgp.arg("--test-rows").arg(data.with_file_name("test_rows.txt"));
            diffgp.arg("--splits").arg(format!("{}..{}", splits.start, splits.end));
        }
        if !common.finished {
            // Progress and finished splits are shown as they come.
            command::run(diffgp.stdout(std::process::Stdio::null()))?;
        }
        let output = diffgp.arg("--finished").output().context("cannot start target/release/diffgp")?;
        if output.status.code() == Some(2) {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return Ok(None);
        }
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(Some(serde_json::from_slice(&output.stdout)?))
    }
}

/// Reads FIRST..END.
pub(super) fn range(text: &str) -> Result<Range<usize>, String> {
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.ok_or_else(|| format!("{text:?} is not a range; expected FIRST..END, as in 0..5"))
}

/// By what, where and when the runs of a page were made.
pub(super) fn provenance<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Result<String> {
    let mut lines = Vec::new();
    for comparison in comparisons {
        lines.extend(comparison.lines()?);
    }
    Ok(origin(lines.iter().map(|line| (&line.provenance, line.machine.as_str(), line.date.as_str()))))
}

/// The same of program, machine and day of every run.
pub(super) fn origin<'a>(runs: impl IntoIterator<Item = (&'a Provenance, &'a str, &'a str)>) -> String {
    let (mut versions, mut machines, mut dates) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (provenance, machine, date) in runs {
        let Provenance { version, processor, instruction_set, .. } = provenance;
        let processor = match processor.as_str() {
            "unknown" => "processor not recorded".to_owned(),
            name => format!("{name}, {instruction_set}"),
        };
        versions.insert(version.clone());
        machines.insert(format!("{machine} ({processor})"));
        dates.insert(date);
    }
    let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join("; ");
    let days = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.map_or_else(String::new, |&day| day.to_owned()),
    };
    format!("Runs of {days}, diffgp {}, on {}.", list(versions), list(machines))
}

/// Writes `docs/results/NAME`.
pub(super) fn write_page(name: &str, text: &str) -> Result<()> {
    let path = command::root().join("docs/results").join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote docs/results/{name}");
    Ok(())
}

/// `value ± error`, with so many decimals.
pub(super) fn with_error(value: Option<f64>, error: Option<f64>, decimals: usize) -> String {
    match (value, error) {
        (Some(value), Some(error)) => format!("{value:.decimals$} ± {error:.decimals$}"),
        (Some(value), None) => format!("{value:.decimals$}"),
        _ => "–".to_owned(),
    }
}
