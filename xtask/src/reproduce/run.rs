//! One `diffgp crossval`, and what it says at the end.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Common;
use crate::command;

/// What `diffgp crossval --json` prints.
#[derive(Deserialize)]
pub(super) struct Report {
    pub(super) results: Vec<Summary>,
}

/// One flow time.
#[derive(Deserialize)]
pub(super) struct Summary {
    pub(super) flow_time: f64,
    pub(super) splits: usize,
    pub(super) rows: usize,
    #[serde(flatten)]
    pub(super) figures: Means,
    pub(super) coverage: Option<[f64; 3]>,
    pub(super) ten_paths: Means,
    pub(super) drift: Means,
    pub(super) training: Means,
    pub(super) bound_mean: f64,
    pub(super) gain: Option<Means>,
    pub(super) mean_error: f64,
    pub(super) variance_error: f64,
    pub(super) bytes: usize,
    pub(super) seconds_mean: f64,
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

/// A comparison to run or to read.
pub(super) struct Comparison {
    /// Under the data directory.
    pub(super) data: PathBuf,
    pub(super) target: &'static str,
    /// A file of splits beside the data, and which of them.
    pub(super) splits: Option<String>,
    /// The file of finished runs is `docs/results/NAME.jsonl`.
    pub(super) name: String,
    pub(super) flow_times: String,
    /// Other options of `diffgp crossval`.
    pub(super) options: Vec<String>,
}

/// Builds `diffgp` in release mode.
pub(super) fn build() -> Result<()> {
    command::run(&mut command::cargo(
        ".",
        ["build", "--locked", "--release", "--quiet", "-p", "diffgp-train", "--bin", "diffgp"],
    ))
}

impl Comparison {
    /// Whether there are runs that a page shows and would lose.
    pub(super) fn has_runs(&self) -> bool {
        command::root().join(format!("docs/results/{}.jsonl", self.name)).exists()
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
        diffgp.args(["--target", self.target, "--flow-times", &self.flow_times, "--json"]);
        diffgp.arg("--out").arg(format!("docs/results/{}.jsonl", self.name)).args(&self.options);
        if let Some(splits) = &self.splits {
            diffgp.arg("--test-rows").arg(data.with_file_name("test_rows.txt")).args(["--splits", splits]);
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

/// Writes `docs/results/NAME`.
pub(super) fn write_page(name: &str, text: &str) -> Result<()> {
    let path = command::root().join("docs/results").join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote docs/results/{name}");
    Ok(())
}

/// `value ± error`, with so many decimals.
fn with_error(value: Option<f64>, error: Option<f64>, decimals: usize) -> String {
    match (value, error) {
        (Some(value), Some(error)) => format!("{value:.decimals$} ± {error:.decimals$}"),
        (Some(value), None) => format!("{value:.decimals$}"),
        _ => "–".to_owned(),
    }
}
