//! Finished runs, one JSON object per line.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::command;
use crate::reproduce::run::Provenance;

const FILE: &str = "docs/results/classes.jsonl";

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) set: String,
    /// The target, or several with commas between them.
    pub(super) target: String,
    /// Options of `diffgp train` beside the flow time.
    pub(super) options: Vec<String>,
    pub(super) flow_time: u32,
    pub(super) split: usize,
}

/// One finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) key: Key,
    /// K; 0 without a flow.
    pub(super) steps: usize,
    /// Of the predictor.
    pub(super) kernel: String,
    /// Held-out rows, with [`PATHS`](super::runs::PATHS) sample paths and along the drift.
    pub(super) sampled: Figures,
    pub(super) drift: Figures,
    /// The iteration that was kept, and its score on the rows that it was chosen by.
    pub(super) iteration: u64,
    pub(super) validation_log_likelihood: Option<f64>,
    /// The model file, names included.
    pub(super) bytes: u64,
    /// What `inspect` estimates for a Cortex-M4F, as it says it.
    pub(super) work: Work,
    /// Training and export.
    pub(super) seconds: f64,
    /// Of the rows that were trained on.
    pub(super) fingerprint: String,
    pub(super) provenance: Provenance,
    pub(super) machine: String,
    /// In universal time.
    pub(super) date: String,
}

/// How well held-out rows were predicted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) n: usize,
    pub(super) log_likelihood: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rmse: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) accuracy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) auc: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) calibration_error: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) coverage_95: Option<f64>,
    /// Of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<Output>,
}

/// One of several targets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) rmse: f64,
    pub(super) log_likelihood: f64,
    pub(super) coverage_95: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) core: String,
    pub(super) instructions_per_prediction: u64,
    pub(super) instructions_per_sampled_path: u64,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { set, target, flow_time, split, .. } = &self.key;
        write!(f, "{set} {target}  split {split}  T {flow_time}")?;
        if let Some(accuracy) = self.sampled.accuracy {
            write!(f, "  accuracy {accuracy:.4}")?;
        }
        if let Some(rmse) = self.sampled.rmse {
            write!(f, "  RMSE {rmse:.4}")?;
        }
        for output in &self.sampled.outputs {
            write!(f, "  {} {:.4} / {:.4}", output.name, output.rmse, output.log_likelihood)?;
        }
        write!(f, "  log-likelihood {:.4}  {:.0} s", self.sampled.log_likelihood, self.seconds)
    }
}

/// The file and what it holds.
pub(super) struct Journal {
    path: PathBuf,
    /// The program's recipe.
    pub(super) recipe: u64,
    lines: Vec<Line>,
}

impl Journal {
    pub(super) fn open() -> Result<Self> {
        #[derive(Deserialize)]
        struct Recipe {
            recipe: u64,
        }
        let known = fs::read_to_string(command::root().join("tests/recipe.json")).context("tests/recipe.json")?;
        let Recipe { recipe } = serde_json::from_str(&known).context("tests/recipe.json")?;
        let path = command::root().join(FILE);
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        Ok(Self { lines: read(&text)?, path, recipe })
    }

    /// Whether this program has done it.
    pub(super) fn is_finished(&self, key: &Key) -> bool {
        self.lines.iter().any(|line| line.key == *key && line.provenance.recipe == self.recipe)
    }

    /// Keeps a result, on the disk before it returns.
    pub(super) fn append(&mut self, line: Line) -> Result<()> {
        let write = |text: String| {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write(serde_json::to_string(&line)? + "\n").with_context(|| format!("cannot write {FILE}"))?;
        self.lines.push(line);
        Ok(())
    }

    /// Replaces what a run's model costs where that is known anew, and says how many there were.
    pub(super) fn update(&mut self, work: impl Fn(&Line) -> Result<Option<Work>>) -> Result<()> {
        let (mut updated, mut text) = (0, String::new());
        for line in &mut self.lines {
            if let Some(work) = work(line)? {
                line.work = work;
                updated += 1;
            }
            text += &(serde_json::to_string(line)? + "\n");
        }
        // Beside it and renamed, so that there is always a whole file.
        let beside = self.path.with_extension("jsonl.new");
        fs::write(&beside, text)
            .and_then(|()| fs::rename(&beside, &self.path))
            .with_context(|| format!("cannot write {FILE}"))?;
        eprintln!("inspected {updated} of {} models anew", self.lines.len());
        Ok(())
    }

    /// The runs to show: of those that were made again, the last recipe's, and of these the last.
    pub(super) fn shown(&self) -> Vec<&Line> {
        let is_replaced = |index: usize, line: &Line| {
            let mut others = self.lines.iter().enumerate().filter(|(_, other)| other.key == line.key);
            others.any(|(other, by)| (by.provenance.recipe, other) > (line.provenance.recipe, index))
        };
        self.lines.iter().enumerate().filter(|&(index, line)| !is_replaced(index, line)).map(|(_, line)| line).collect()
    }
}

fn read(text: &str) -> Result<Vec<Line>> {
    let line = |(number, line)| serde_json::from_str(line).with_context(|| format!("{FILE}, line {}", number + 1));
    text.lines().enumerate().map(line).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A run of the third recipe.
    pub(in crate::reproduce::classes) fn line(set: &str, flow_time: u32, split: usize, log_likelihood: f64) -> Line {
        let figures =
            format!(r#"{{"n":15,"log_likelihood":{log_likelihood},"accuracy":0.9,"calibration_error":0.05}}"#);
        let text = format!(
            r#"{{"key":{{"set":"{set}","target":"y","options":[],"flow_time":{flow_time},"split":{split}}},"steps":2,
            "kernel":"rbf","sampled":{figures},"drift":{figures},"iteration":7,"validation_log_likelihood":-0.5,
            "bytes":1000,"work":{{"core":"Cortex-M4F","instructions_per_prediction":10,"instructions_per_sampled_path":20}},
            "seconds":1.5,"fingerprint":"00","provenance":{{"version":"0.1.0","recipe":3,"processor":"p",
            "instruction_set":"i"}},"machine":"m","date":"2026-11-18"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    pub(in crate::reproduce::classes) fn journal(lines: Vec<Line>) -> Journal {
        Journal { path: PathBuf::new(), recipe: 3, lines }
    }

    #[test]
    fn the_last_recipe_replaces_what_it_made_again_and_nothing_else() {
        let mut old = line("iris", 0, 0, -1.0);
        old.provenance.recipe = 2;
        let mut left = line("iris", 0, 1, -2.0);
        left.provenance.recipe = 2;
        let journal = journal(vec![line("iris", 0, 0, -0.5), old.clone(), left.clone()]);
        let shown: Vec<f64> = journal.shown().iter().map(|line| line.sampled.log_likelihood).collect();
        assert_eq!(shown, [-0.5, -2.0]);
        assert!(journal.is_finished(&old.key));
        assert!(!journal.is_finished(&left.key));
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let line = line("iris", 5, 3, -0.25);
        let text = serde_json::to_string(&line).unwrap() + "\n";
        assert_eq!(serde_json::to_string(&read(&text).unwrap()[0]).unwrap() + "\n", text);
        let error = format!("{:#}", read(&(text + "{\"key\":")).unwrap_err());
        assert!(error.contains("classes.jsonl, line 2"), "{error}");
    }
}
