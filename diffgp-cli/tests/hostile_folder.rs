//! A folder in which somebody else made links and pipes with the names that a command writes to: what is behind a link
//! stays, and nothing waits for the other end of a pipe.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::runner::{Folder, Outcome, QUICK};

/// No command here takes longer, unless it waits for what never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The files of a run.
const FILES: [&str; 7] = ["config.toml", "run.json", "metrics.jsonl", "checkpoint", "lock", "model.dgp", "report.html"];

/// Runs a command; one that does not end is killed, and has no exit code.
fn run(folder: &Folder, arguments: &str) -> Outcome {
    let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap().into()
}

fn make_pipe(folder: &Folder, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
}

#[test]
fn a_run_directory_with_a_link_is_refused_and_the_file_behind_it_stays() {
    let folder = Folder::with_model();
    let data = folder.read("data.csv");
    for name in FILES {
        let place = format!("model.run/{name}");
        let _ = fs::remove_file(folder.path(&place));
        symlink("../data.csv", folder.path(&place)).unwrap();
        for resume in ["", "--resume"] {
            let outcome = run(&folder, &format!("train data.csv --target y {QUICK} {resume}"));
            assert_eq!(folder.read("data.csv"), data, "{name}: {outcome:?}");
            outcome.refused_with(&["--run-dir model.run", name, "link", "remove it"]);
        }
        fs::remove_file(folder.path(&place)).unwrap();
    }
}

#[test]
fn a_run_directory_with_a_pipe_is_refused_at_once() {
    let folder = Folder::with_model();
    for name in FILES {
        let place = format!("model.run/{name}");
        let _ = fs::remove_file(folder.path(&place));
        make_pipe(&folder, &place);
        let refused = run(&folder, &format!("train data.csv --target y {QUICK} --resume"));
        refused.refused_with(&["--run-dir model.run", name, "pipe"]);
        fs::remove_file(folder.path(&place)).unwrap();
    }
    make_pipe(&folder, "model.run/metrics.jsonl");
    run(&folder, "plot model.dgp data.csv --run-dir model.run").refused_with(&["metrics.jsonl", "pipe"]);
}

#[test]
fn a_lock_that_is_a_second_name_of_another_file_keeps_what_is_in_it() {
    let folder = Folder::with_model();
    let data = folder.read("data.csv");
    fs::remove_file(folder.path("model.run/lock")).unwrap();
    fs::hard_link(folder.path("data.csv"), folder.path("model.run/lock")).unwrap();
    run(&folder, &format!("train data.csv --target y {QUICK}")).refused_with(&["--run-dir model.run", "lock"]);
    assert_eq!(folder.read("data.csv"), data);
}

#[test]
fn names_that_a_command_chooses_itself_are_not_written_through() {
    let folder = Folder::with_model();
    let data = folder.read("data.csv");
    for name in ["predictions.svg", "predictions.png", "model.tradeoff.svg"] {
        symlink("data.csv", folder.path(name)).unwrap();
    }
    run(&folder, "plot model.dgp data.csv --out-dir .").succeeds();
    run(&folder, "compress model.dgp --tolerance 0.1 --out model.small").succeeds();
    assert_eq!(folder.read("data.csv"), data);
    assert!(folder.read_text("predictions.svg").contains("<svg"));
}
