//! The projects of `diffgp new-firmware` as a user builds and runs them: what they print has the bits of `diffgp predict`.

use super::board::Board;
use super::host;
use crate::command;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Boards that it knows and QEMU has, each with models of the repository: one or two targets, classes, integers.
const MODELS: [(&str, &[&str]); 4] = [
    ("m4f", &["tests/blobs/v2-power.dgp", "diffgp-infer/models/v2-energy2.dgp", "diffgp-infer/models/v2-iris.dgp"]),
    ("m0", &["tests/blobs/v2-power-integers.dgp"]),
    ("m3", &["diffgp-infer/models/v2-ring.dgp"]),
    ("rv32", &["diffgp-infer/models/v2-steps.dgp"]),
];
/// For a build and a run on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn run(board: &Board) -> Result<()> {
    let Some((name, models)) = MODELS.iter().find(|(name, _)| *name == board.name) else { return Ok(()) };
    for model in *models {
        let dir = create(name, model)?;
        compare(&dir).with_context(|| format!("diffgp new-firmware --board {name} --model {model}"))?;
    }
    Ok(())
}

/// A project for the board with the model.
fn create(board: &str, model: &str) -> Result<PathBuf> {
    let stem = Path::new(model).file_stem().context("a model has a name")?.to_string_lossy();
    let dir = command::root().join(format!("target/new-firmware/{board}-{stem}"));
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let mut diffgp = host::diffgp();
    diffgp.arg("new-firmware").arg(&dir).args(["--board", board]).arg("--model").arg(command::root().join(model));
    command::capture(&mut diffgp)?;
    Ok(dir)
}

/// What the project prints, against its README and the workstation.
fn compare(dir: &Path) -> Result<()> {
    let printed = cargo_run(dir)?;
    let readme = fs::read_to_string(dir.join("README.md"))?;
    let promised: String = printed.lines().map(|line| format!("    {line}\n")).collect();
    ensure!(!printed.is_empty() && readme.contains(&promised), "it printed {printed:?}, and the README says {readme}");
    let mut found = printed.lines();
    for words in readme.lines().filter_map(|line| line.strip_prefix("    diffgp predict ")) {
        let mut predict = host::diffgp();
        predict.arg("predict").args(words.split(' ')).arg("--json").current_dir(dir);
        let how = if words.contains("--paths") { "paths" } else { "drift" };
        for line in lines(how, &serde_json::from_str(&command::capture(&mut predict)?)?) {
            let next = found.next().unwrap_or_default();
            ensure!(next.starts_with(&format!("{how}: ")) && next.ends_with(&line), "{line:?} expected, not {next:?}");
        }
    }
    ensure!(found.next().is_none(), "more lines than answers: {printed}");
    Ok(())
}

/// How the lines of an answer of `predict --json` end.
fn lines(how: &str, answer: &Value) -> Vec<String> {
    // Back to f32: the shortest text that reads back to its bits.
    let number = |value: &Value| format!("{:?}", value.as_f64().unwrap_or(f64::NAN) as f32);
    let of_target = |target: &Value| {
        let [mean, deviation, low, high] =
            ["mean", "deviation", "low_90", "high_90"].map(|key| number(&target[key][0]));
        [format!("mean {mean}, deviation {deviation}"), format!("90 % interval {low} to {high}")]
    };
    let mut lines: Vec<String> = match (answer["outputs"].as_array(), answer["probabilities"].as_array()) {
        (Some(targets), _) => targets.iter().flat_map(of_target).collect(),
        (None, Some(classes)) => {
            classes.iter().map(|class| format!("probability {}", number(&class["probability"][0]))).collect()
        }
        (None, None) if answer["probability"].is_array() => {
            let second = answer["probability"][0].as_f64().unwrap_or(f64::NAN) as f32;
            [1.0 - second, second].map(|probability| format!("probability {probability:?}")).into()
        }
        (None, None) => of_target(answer).into(),
    };
    if answer["out_of_range"].as_array().is_some_and(|rows| !rows.is_empty()) {
        lines.push(format!("{how}: outside of what was seen in training"));
    }
    lines
}

/// `cargo` in a project, with the versions that the other images have: nothing is fetched, and what they share is built once.
fn cargo_run(dir: &Path) -> Result<String> {
    fs::copy(command::root().join("firmware-example/Cargo.lock"), dir.join("Cargo.lock"))?;
    let mut cargo = command::cargo(".", ["run", "--release", "--quiet"]);
    cargo.current_dir(dir).env("CARGO_TARGET_DIR", command::root().join("target/new-firmware/target"));
    cargo.env_remove("RUSTFLAGS");
    let finished = command::run_limited(&mut cargo, TIME_LIMIT)?;
    ensure!(finished.status.success(), "cargo run: {} {}{}", finished.status, finished.stdout, finished.stderr);
    ensure!(!finished.stderr.contains("warning"), "{}", finished.stderr);
    Ok(finished.stdout)
}
