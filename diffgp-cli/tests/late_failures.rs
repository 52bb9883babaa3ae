//! Mistakes are found before the training, and what fails after it costs neither the model nor its figures.

use crate::runner::{Folder, QUICK, names};

#[test]
fn a_name_too_long_for_the_model_is_refused_unless_names_are_left_out() {
    let folder = Folder::with_data();
    let long = "n".repeat(256);
    folder.write("long.csv", folder.read_text("data.csv").replacen("b,y", &format!("{long},y"), 1));
    let train = format!("train long.csv --target y {QUICK}");
    folder.run(&train).refused_with(&["long.csv", "nnn", "256 bytes", "255", "--strip-names"]);
    assert_eq!(folder.files(), ["data.csv", "long.csv"]);
    folder.run(&format!("{train} --strip-names")).succeeds();
    folder.write("long.csv", folder.read_text("data.csv").replacen("b,y", &format!("b,{long}"), 1));
    folder.run(&format!("train long.csv --target {long} {QUICK}")).refused_with(&["256 bytes", "--strip-names"]);
}

#[test]
fn a_run_without_iterations_has_a_report_without_a_trace() {
    let folder = Folder::with_data();
    let outcome = folder.run("train data.csv --target y --inducing 8 --iterations 0 --flow-time 0 --json").succeeds();
    assert_eq!(outcome.json()["bytes"], folder.read("model.dgp").len());
    assert!(outcome.stderr.contains("no trace is drawn"), "{outcome:?}");
    let page = folder.read_text("model.run/report.html");
    assert!(page.contains("<svg") && !page.contains("Bound"), "{page}");
    let drawn = folder.run("plot model.dgp data.csv --paths 5").succeeds();
    assert!(!drawn.stdout.contains("trace"), "{drawn:?}");
}

#[test]
fn a_report_that_cannot_be_made_is_a_warning() {
    let folder = Folder::with_model();
    assert!(folder.path("model.run/report.html").exists());
    folder.write("data.csv", folder.read_text("data.csv") + "-3e38,3e38,0\n");
    folder.write("rows.txt", "60\n");
    let train = format!("train data.csv --target y {QUICK} --test-rows rows.txt");
    let outcome = folder.run(&format!("{train} --json")).succeeds();
    let warning = outcome.stderr.lines().find(|line| line.starts_with("warning: model.run/report.html"));
    assert!(warning.is_some_and(|warning| warning.contains("row 61")), "{outcome:?}");
    assert_eq!(outcome.json()["bytes"], folder.read("model.dgp").len());
    assert!(!names(&folder.path("model.run")).contains(&"report.html".to_owned()));
    let outcome = folder.run(&train).succeeds();
    assert!(!outcome.stdout.contains("report:"), "{outcome:?}");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_does_not_spoil_the_json() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::with_data();
    let out = std::ffi::OsStr::from_bytes(b"m\xff.dgp");
    let mut command = folder.command(&format!("train data.csv --target y {QUICK} --json --out"));
    let outcome: crate::runner::Outcome = command.arg(out).output().unwrap().into();
    assert_eq!(outcome.json()["model"], "m\u{fffd}.dgp");
    assert!(folder.path(".").join(out).exists());
}
