//! What is trained, and the figures to compare it with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::line::{Figures, Key, Line, Work};
use crate::command;
use crate::reproduce::Common;
use crate::reproduce::published::Figure;
use crate::reproduce::run::Provenance;

/// Sample paths per held-out row.
pub(super) const PATHS: &str = "100";

/// The core whose instructions are shown.
const CORE: &str = "Cortex-M4F";

/// A set with classes, and what boosted trees reach on it.
///
/// LightGBM 4.7, one of four configurations and the number of trees chosen on 10 % of the training rows, then fitted to
/// all of them, on splits 0 to 4.
pub(super) struct ClassSet {
    pub(super) name: &'static str,
    target: &'static str,
    /// Rows, inputs and classes.
    pub(super) shape: &'static str,
    pub(super) trees_accuracy: Figure,
    pub(super) trees_log_likelihood: Figure,
}

/// Smallest first.
pub(super) const CLASSES: [ClassSet; 4] = [
    ClassSet {
        name: "iris",
        target: "species",
        shape: "150 rows, 4 inputs, 3 classes",
        // Its error was not kept.
        trees_accuracy: Figure { mean: 0.960, error: f64::NAN },
        trees_log_likelihood: Figure { mean: -0.151, error: 0.052 },
    },
    ClassSet {
        name: "vehicle",
        target: "vehicle",
        shape: "846 rows, 18 inputs, 4 classes",
        trees_accuracy: Figure { mean: 0.783, error: 0.029 },
        trees_log_likelihood: Figure { mean: -0.437, error: 0.033 },
    },
    ClassSet {
        name: "digits",
        target: "digit",
        shape: "1797 rows, 64 inputs, 10 classes",
        trees_accuracy: Figure { mean: 0.959, error: 0.007 },
        trees_log_likelihood: Figure { mean: -0.134, error: 0.022 },
    },
    ClassSet {
        name: "satellite",
        target: "soil",
        shape: "6435 rows, 36 inputs, 6 classes",
        trees_accuracy: Figure { mean: 0.922, error: 0.003 },
        trees_log_likelihood: Figure { mean: -0.208, error: 0.012 },
    },
];

/// A set with two targets.
pub(super) struct TargetSet {
    pub(super) name: &'static str,
    pub(super) targets: [&'static str; 2],
}

pub(super) const TARGETS: TargetSet = TargetSet { name: "energy2", targets: ["heating_load", "cooling_load"] };

/// One way to train on a set.
pub(super) struct Run {
    set: &'static str,
    /// Under the data directory.
    data: PathBuf,
    target: String,
    options: Vec<String>,
}

impl ClassSet {
    pub(super) fn run(&self) -> Run {
        Run {
            set: self.name,
            data: format!("classes/{}/data.csv", self.name).into(),
            target: self.target.to_owned(),
            options: ["--task", "classification"].map(str::to_owned).to_vec(),
        }
    }
}

impl TargetSet {
    /// Both targets together, and each alone.
    pub(super) fn runs(&self) -> Vec<Run> {
        let run = |target: String, options: &[&str]| Run {
            set: self.name,
            data: format!("outputs/{}/data.csv", self.name).into(),
            target,
            options: options.iter().map(|&option| option.to_owned()).collect(),
        };
        let [first, second] = self.targets;
        vec![
            run(self.targets.join(","), &[]),
            run(first.to_owned(), &["--ignore", second]),
            run(second.to_owned(), &["--ignore", first]),
        ]
    }
}

/// What `diffgp train --json` prints, as far as it is kept.
#[derive(Deserialize)]
struct Trained {
    iteration: u64,
    validation_log_likelihood: Option<f64>,
    seconds: f64,
}

/// What `diffgp inspect --json` prints.
#[derive(Deserialize)]
struct Inspected {
    bytes: u64,
    steps: usize,
    kernel: String,
    work: Vec<Work>,
}

/// `run.json` of a run directory.
#[derive(Deserialize)]
struct Described {
    provenance: Vec<Provenance>,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    fingerprint: String,
}

impl Run {
    pub(super) fn key(&self, split: usize, flow_time: u32) -> Key {
        Key { set: self.set.to_owned(), target: self.target.clone(), options: self.options.clone(), flow_time, split }
    }

    /// Trains, scores and inspects; `None` if the data is not there.
    pub(super) fn train(&self, split: usize, flow_time: u32, common: &Common) -> Result<Option<Line>> {
        let data = command::root().join(&common.data).join(&self.data);
        if !data.exists() {
            eprintln!("SKIPPED: {} is not there", data.display());
            return Ok(None);
        }
        let key = self.key(split, flow_time);
        let [model, run_dir] = files(&key);
        std::fs::create_dir_all(scratch())?;
        let held_out = |diffgp: &mut Command| {
            diffgp.arg("--test-rows").arg(data.with_file_name("test_rows.txt")).args(["--split", &split.to_string()]);
        };

        let mut train = diffgp("train");
        train.arg(&data).args(["--target", &self.target]).args(&self.options);
        train.args(["--flow-time", &flow_time.to_string(), "--force", "--json"]);
        train.arg("--out").arg(&model).arg("--run-dir").arg(&run_dir);
        held_out(&mut train);
        let trained: Trained = answer(train.stderr(Stdio::inherit()))?;
        let score = |sampling: &[&str]| {
            let mut eval = diffgp("eval");
            eval.arg(&model).arg(&data).args(sampling).arg("--json");
            held_out(&mut eval);
            answer::<Figures>(&mut eval)
        };
        let inspected = inspect(&model)?;
        let work = inspected.work()?;
        let described = described(&run_dir)?;
        Ok(Some(Line {
            key,
            steps: inspected.steps,
            kernel: inspected.kernel,
            sampled: score(&["--paths", PATHS])?,
            drift: score(&["--deterministic"])?,
            iteration: trained.iteration,
            validation_log_likelihood: trained.validation_log_likelihood,
            bytes: inspected.bytes,
            work,
            seconds: trained.seconds,
            fingerprint: described.data.fingerprint,
            provenance: described.provenance.into_iter().next_back().context("run.json names no program")?,
            machine: machine(),
            date: command::capture(Command::new("date").args(["-u", "+%Y-%m-%d"]))?.trim().to_owned(),
        }))
    }
}

/// What the model of a finished run costs; `None` if it is no longer there, or is another's.
pub(super) fn inspect_again(line: &Line) -> Result<Option<Work>> {
    let [model, run_dir] = files(&line.key);
    if !model.exists() || !run_dir.exists() {
        return Ok(None);
    }
    let (inspected, described) = (inspect(&model)?, described(&run_dir)?);
    let is_same = described.data.fingerprint == line.fingerprint
        && described.provenance.last() == Some(&line.provenance)
        && (inspected.bytes, inspected.steps) == (line.bytes, line.steps);
    if is_same { Ok(Some(inspected.work()?)) } else { Ok(None) }
}

impl Inspected {
    fn work(&self) -> Result<Work> {
        let work = self.work.iter().find(|work| work.core.contains(CORE)).cloned();
        work.with_context(|| format!("`diffgp inspect` says nothing about {CORE}"))
    }
}

fn inspect(model: &Path) -> Result<Inspected> {
    answer(diffgp("inspect").arg(model).arg("--json"))
}

fn scratch() -> PathBuf {
    command::root().join("target/reproduce-classes")
}

/// Model and run directory of a run.
fn files(key: &Key) -> [PathBuf; 2] {
    let Key { set, target, split, flow_time, .. } = key;
    let name = format!("{set}-{}-{split}-{flow_time}", target.replace(',', "-"));
    ["dgp", "run"].map(|extension| scratch().join(&name).with_extension(extension))
}

fn described(run_dir: &Path) -> Result<Described> {
    let path = run_dir.join("run.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

fn diffgp(subcommand: &str) -> Command {
    let mut diffgp = Command::new(command::root().join("target/release/diffgp"));
    diffgp.current_dir(command::root()).arg(subcommand);
    diffgp
}

/// What a command prints.
fn answer<T: for<'a> Deserialize<'a>>(command: &mut Command) -> Result<T> {
    let text = command::capture(command)?;
    serde_json::from_str(&text).with_context(|| format!("not what was expected: {text}"))
}

/// As `diffgp crossval` says it.
fn machine() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} {}, {threads} threads", std::env::consts::OS, std::env::consts::ARCH)
}
