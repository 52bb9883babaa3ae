//! Files that are made to harm: refused in bounded time and memory, and nothing in them acts on the terminal.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::runner::{Folder, Outcome, QUICK};

const HOSTILE: &str = "a\u{1b}[31m\u{7}\u{202e}";

/// Nothing that acts: no control characters but line ends, no turned direction.
#[track_caller]
fn is_harmless(text: &str) {
    let acts = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
    assert!(!text.contains(acts), "{text:?}");
}

#[test]
fn lines_without_end_are_refused_in_little_memory() {
    let folder = Folder::new();
    let kilobytes = 300_000;
    for (what, unit) in [("cells", ","), ("bytes", "1"), ("bytes", "\"\""), ("goes on in the next line", "\"\n")] {
        folder.write("bad.csv", unit.repeat((30 << 20) / unit.len()));
        let script = format!("ulimit -v {kilobytes}; exec \"$DIFFGP\" train bad.csv --target 0");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.path(".")).env("DIFFGP", env!("CARGO_BIN_EXE_diffgp"));
        let outcome: Outcome = command.output().unwrap().into();
        outcome.refused_with(&["bad.csv", "line 1", what]);
    }
}

#[test]
fn a_hundred_thousand_columns_are_refused_at_once() {
    let folder = Folder::new();
    let names = |count: usize| (0..count).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    let start = Instant::now();
    folder.write("wide.csv", format!("{}\n", names(100_000)));
    folder.run("train wide.csv --target c1").refused_with(&["wide.csv", "line 1", "cells"]);
    folder.write("wide.csv", format!("{}\n", names(16_000)));
    folder.run("train wide.csv --target c1").refused_with(&["wide.csv", "15999 inputs", "at most 64", "--ignore"]);
    let unknown = folder.run("train wide.csv --target z");
    assert!(unknown.stderr.len() < 1000, "{}", unknown.stderr.len());
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_target_without_a_deviation_that_f32_can_hold_is_refused() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{i},{}e-39\n", i % 7)).collect();
    folder.write("small.csv", format!("a,y\n{rows}"));
    folder.run(&format!("train small.csv --target y {QUICK}")).refused_with(&["small.csv", "\"y\"", "1e-15 to 1e18"]);
}

#[test]
fn names_do_not_act_on_the_terminal_nor_on_pictures_and_pages() {
    let folder = Folder::with_data();
    let data = folder.read_text("data.csv").replacen("a,b,y", &format!("{HOSTILE},b<&>,y\u{1}"), 1);
    folder.write("data.csv", data);
    for outcome in [
        folder.run(&format!("train data.csv --target 2 {QUICK}")).succeeds(),
        folder.run("inspect model.dgp").succeeds(),
        folder.run("eval model.dgp data.csv").succeeds(),
        folder.run("plot model.dgp data.csv").succeeds(),
        folder.run("train data.csv --target z"),
        folder.run("predict model.dgp data.csv --target 0"),
    ] {
        is_harmless(&outcome.stdout);
        is_harmless(&outcome.stderr);
    }
    is_harmless(&folder.read_text("plots/predictions.svg"));
    is_harmless(&folder.read_text("plots/flow.svg"));
    is_harmless(&folder.read_text("model.run/report.html"));
}

#[cfg(unix)]
#[test]
fn names_of_files_do_not_act_on_the_terminal_nor_on_source_code() {
    let folder = Folder::with_model();
    let name = "m\nerror: fake\u{1b}[2J\".dgp";
    folder.write(name, folder.read("model.dgp"));
    let run = |arguments: &str| -> Outcome {
        let mut command = folder.command(arguments);
        command.arg(name).output().unwrap().into()
    };
    let inspected = run("inspect").succeeds();
    is_harmless(&inspected.stdout);
    assert!(inspected.stdout.contains(r#"include_model!("m\nerror: fake\u{1b}[2J\".dgp")"#), "{}", inspected.stdout);
    for form in ["--rust-static", "--c-array"] {
        let source = run(&format!("inspect {form}")).succeeds().stdout;
        is_harmless(&source);
        assert!(!source.lines().any(|line| line.starts_with("error: fake")), "{source}");
    }
    // Refused twice: by what is done with it, and by the arguments.
    for arguments in ["eval model.dgp", "inspect model.dgp"] {
        let refused = run(arguments);
        assert_eq!(refused.code, 2);
        is_harmless(&refused.stderr);
    }
    assert_eq!(run("eval model.dgp").stderr.lines().count(), 1);
}
