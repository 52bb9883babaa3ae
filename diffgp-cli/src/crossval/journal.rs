//! Finished splits, one JSON object per line: what makes a long comparison resumable.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use diffgp_train::data::Dataset;
use diffgp_train::options::Options;
use diffgp_train::provenance::{Provenance, RECIPE};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bars::Bars;
use crate::console;
use crate::eval::NamedOutput;
use crate::failure::mistake;

/// One finished split.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    /// What was asked; by whom it was answered is in `provenance`.
    pub(super) key: Experiment,
    pub(super) split: usize,
    pub(super) flow_time: f64,
    /// K while training and in the model file; 0 without a flow.
    pub(super) training_steps: usize,
    pub(super) steps: usize,
    /// How far these steps are from the flow's equation, as a share of the displacement; null without a flow.
    #[serde(default)]
    pub(super) discretisation_error: Option<f64>,
    pub(super) n: usize,
    /// With the number of sample paths that was asked for.
    #[serde(flatten)]
    pub(super) figures: SplitFigures,
    /// Share of the held-out targets in their intervals of 50, 90 and 95 %; regression only.
    pub(super) coverage: Option<[f64; 3]>,
    /// Of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<NamedOutput>,
    /// Of one target.
    #[serde(default)]
    pub(super) bars: Option<Bars>,
    /// The same model with ten paths.
    pub(super) ten_paths: SplitFigures,
    /// The same model along the drift alone.
    pub(super) drift: SplitFigures,
    /// The same model with ten paths on rows it was trained on, at most 2000 of them.
    pub(super) training: SplitFigures,
    /// The last bound, per row that was trained on.
    pub(super) bound: Option<f64>,
    /// The iteration that was kept, and its score on the rows that it was chosen by.
    pub(super) iteration: u64,
    pub(super) validation_log_likelihood: Option<f64>,
    /// What the rival kernel added in its trial, if kernels were tried.
    #[serde(default)]
    pub(super) kernel_gain: Option<f64>,
    /// Of the predictor: the kernel that was chosen, and the inducing points.
    #[serde(default)]
    pub(super) kernel: Option<String>,
    #[serde(default)]
    pub(super) inducing: Option<usize>,
    /// Estimated for a Cortex-M4F, along the drift and per sampled path.
    #[serde(default)]
    pub(super) m4f_instructions: Option<[u64; 2]>,
    /// The model file, and how far it is from float64: means in standard deviations, variances relative.
    pub(super) bytes: usize,
    pub(super) mean_error: f64,
    pub(super) variance_error: f64,
    /// Training, export and scoring.
    pub(super) seconds: f64,
    /// The same of all processors together, where the system tells.
    #[serde(default)]
    pub(super) processor_seconds: Option<f64>,
    pub(super) provenance: Provenance,
    pub(super) machine: String,
    /// The day on which it was finished, as in 2026-11-17, in universal time.
    #[serde(default)]
    pub(super) date: String,
}

/// What identifies an experiment, whichever program does it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Experiment {
    /// Fingerprints of the rows that are trained on and of those held out.
    training: String,
    test: String,
    /// Sample paths per held-out row.
    test_paths: u32,
    /// The options that were given, those without effect on the figures left out. As they are written, so that lines stay
    /// readable when options are added.
    settings: Value,
}

impl Experiment {
    pub(super) fn new(options: &Options, training: &Dataset, test: &Dataset, test_paths: u32) -> anyhow::Result<Self> {
        let settings = serde_json::to_value(Options { threads: None, ..options.clone() })?;
        let fingerprint = |data: &Dataset| format!("{:016x}", data.fingerprint());
        Ok(Self { training: fingerprint(training), test: fingerprint(test), test_paths, settings })
    }
}

/// How well rows were predicted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SplitFigures {
    pub(super) rmse: Option<f64>,
    pub(super) auc: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) accuracy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) calibration_error: Option<f64>,
    pub(super) log_likelihood: f64,
}

impl Line {
    /// Whether this program would train the same model.
    pub(super) fn is_current(&self) -> bool {
        self.provenance.recipe == RECIPE
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "split {:>3}  T {}", self.split, self.flow_time)?;
        if let Some(rmse) = self.figures.rmse {
            write!(f, "  RMSE {}", console::figure(rmse, 4))?;
        }
        if let Some(auc) = self.figures.auc {
            write!(f, "  AUC {auc:.4}")?;
        }
        if let Some(accuracy) = self.figures.accuracy {
            write!(f, "  accuracy {accuracy:.4}")?;
        }
        for NamedOutput { name, figures } in &self.outputs {
            write!(f, "  {name} RMSE {}", console::figure(figures.rmse, 4))?;
        }
        write!(f, "  log-likelihood {:.4}", self.figures.log_likelihood)
    }
}

/// What this process has computed so far. Linux alone says it in a file.
pub(super) fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything: user and system time, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// What the figures of time were measured on.
pub(super) fn machine() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} {}, {threads} threads", std::env::consts::OS, std::env::consts::ARCH)
}

/// The day of a time, in universal time.
pub(super) fn date(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Years that begin in March end with the leap day, so months and days follow from divisions alone; 400 of them
    // have 146,097 days, and the first of March of the year 0 was 719,468 days before 1970.
    let days = since.as_secs() / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, five months have 153 days.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = 400 * era + year_of_era + u64::from(month >= 10);
    format!("{year:04}-{:02}-{day:02}", if month < 10 { month + 3 } else { month - 9 })
}

/// How every line begins.
const START: &str = r#"{"key":"#;

/// The file and what it held at the beginning.
pub(super) struct Journal {
    path: PathBuf,
    lines: Vec<Line>,
    /// A crash cut the last line short; the next one must not be glued to it.
    cut: bool,
}

impl Journal {
    /// Reads what is there; lines of other settings and lines cut short are left alone, other files are refused.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let text = if path.exists() {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        } else {
            String::new()
        };
        let is_foreign = |line: &str| !line.trim().is_empty() && !START.starts_with(line) && !line.starts_with(START);
        if let Some(number) = text.lines().position(is_foreign) {
            return Err(mistake(format!(
                "--out {}: line {} is not a finished split; expected a file of crossval, or a new one",
                path.display(),
                number + 1
            )));
        }
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let cut = !text.is_empty() && !text.ends_with('\n');
        Ok(Self { path: path.to_owned(), lines, cut })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A result of this recipe that was computed before, or else the one of the latest other recipe.
    pub(super) fn find(&self, key: &Experiment, split: usize) -> Option<Line> {
        let lines = self.lines.iter().filter(|line| line.key == *key && line.split == split);
        lines.max_by_key(|line| (line.is_current(), line.provenance.recipe)).cloned()
    }

    /// Keeps a result, on the disk before it returns.
    pub(super) fn append(&mut self, line: &Line) -> anyhow::Result<()> {
        let separator = if std::mem::take(&mut self.cut) { "\n" } else { "" };
        let text = format!("{separator}{}\n", serde_json::to_string(line)?);
        let write = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.lines.push(line.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_of_before_are_found_by_what_was_asked() {
        let training = Dataset::new(vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 0.5], 1).unwrap();
        let test = Dataset::new(vec![4.0], vec![0.25], 1).unwrap();
        let options = Options { flow_time: Some(5.0), steps: Some(20), threads: Some(3), ..Options::default() };
        let key = Experiment::new(&options, &training, &test, 100).unwrap();
        // As it is in files: whoever changes this loses every result that was ever kept.
        let kept = r#"{"training":"7cf2c78041f397cc","test":"50a4518edb27310c","test_paths":100,"settings":{"flow-time":5.0,"steps":20}}"#;
        assert_eq!(serde_json::to_string(&key).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Experiment>(kept).unwrap(), key);
        let other = Options { seed: Some(1), ..options };
        assert_ne!(Experiment::new(&other, &training, &test, 100).unwrap(), key);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let after = |seconds| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        // From another program.
        assert_eq!(after(0), "1970-01-01");
        assert_eq!(after(951_868_799), "2000-02-29");
        assert_eq!(after(1_794_873_600), "2026-11-17");
        assert_eq!(after(4_107_542_400), "2100-03-01");
        assert_eq!(after(1_861_833_600), "2028-12-31");
    }
}
