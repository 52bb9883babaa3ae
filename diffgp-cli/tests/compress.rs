//! `diffgp compress`, and `train --max-bytes`.

use crate::runner::{Folder, QUICK};

#[test]
fn a_model_becomes_smaller_and_still_predicts() {
    let folder = Folder::with_model();
    let original = folder.read("model.dgp").len();
    let most = original * 6 / 10;
    let report =
        folder.run(&format!("compress model.dgp --data data.csv --max-bytes {most} --out small.dgp --json")).json();
    let small = folder.read("small.dgp");
    assert!(small.len() <= most, "{} of {most}", small.len());
    assert_eq!((&report["bytes"], &report["original_bytes"]), (&small.len().into(), &original.into()));
    let curve = report["curve"].as_array().unwrap();
    assert!(curve.len() > 1 && curve[0]["loss"] == 0.0, "{report}");
    assert_eq!(report["flow"].as_array().unwrap().len(), 2);
    let measured = &report["measured"];
    let loss = measured["original"]["log_likelihood"].as_f64().unwrap()
        - measured["compressed"]["log_likelihood"].as_f64().unwrap();
    assert!(loss < 0.1, "{report}");
    // The figures are those of `eval`.
    let eval = folder.run("eval small.dgp data.csv --paths 32 --json").json();
    assert_eq!(eval["log_likelihood"], measured["compressed"]["log_likelihood"]);
    for picture in ["small.tradeoff.svg", "small.tradeoff.png"] {
        assert!(folder.read(picture).len() > 1000, "{picture}");
    }
}

#[test]
fn the_rest_of_a_region_of_flash_is_no_part_of_the_model() {
    let folder = Folder::with_model();
    let mut padded = folder.read("model.dgp");
    let original = padded.len();
    padded.resize(original.next_multiple_of(4096), 0xff);
    folder.write("padded.dgp", padded);
    let report = folder.run("compress padded.dgp --tolerance 0.01 --out small.dgp --json").json();
    assert_eq!(report["original_bytes"], original);
    assert_eq!(folder.run("inspect small.dgp --json").json()["compression"]["original_bytes"], original);
    folder.run("compress model.dgp --tolerance 0.01 --out same.dgp").succeeds();
    assert_eq!(folder.read("small.dgp"), folder.read("same.dgp"));
}

#[test]
fn inspect_shows_what_was_compressed() {
    let folder = Folder::with_model();
    assert!(folder.run("inspect model.dgp --json").json()["compression"].is_null());
    folder.run("compress model.dgp --tolerance 0.01 --out small.dgp").succeeds();
    let json = folder.run("inspect small.dgp --json").json();
    let compression = &json["compression"];
    assert_eq!(compression["original_bytes"], folder.read("model.dgp").len());
    assert_eq!(compression["flow_bounds"].as_array().unwrap().len(), 2);
    assert!(compression["predictor_bound"]["mean"].as_f64().unwrap() > 0.0, "{compression}");
    let parts: u64 = json["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(json["bytes"].as_u64(), Some(parts), "{json}");
    let text = folder.run("inspect small.dgp").succeeds().stdout;
    assert!(text.contains("compressed from") && text.contains("against the original"), "{text}");
}

#[test]
fn training_ends_with_a_model_that_fits() {
    let folder = Folder::with_data();
    folder.run(&format!("train data.csv --target y {QUICK} --out whole.dgp")).succeeds();
    let whole = folder.read("whole.dgp");
    let most = whole.len() / 2;
    let report = folder.run(&format!("train data.csv --target y {QUICK} --max-bytes {most} --json")).json();
    assert!(folder.read("model.dgp").len() <= most);
    assert!(report["compression_loss"].as_f64().is_some(), "{report}");
    assert_eq!(folder.read("model.run/model.dgp"), whole, "the whole model is kept");
    folder.run(&format!("train data.csv --target y {QUICK} --max-bytes 100")).refused_with(&[
        "--max-bytes 100",
        "no choice fits",
        "run directory",
    ]);
    let roomy = folder.run(&format!("train data.csv --target y {QUICK} --budget 1M --json")).json();
    assert!(roomy["compression_loss"].is_null(), "{roomy}");
    assert_eq!(folder.read("model.dgp"), whole);
}

#[test]
fn without_the_variance_there_is_a_constant_bar() {
    let folder = Folder::with_model();
    let report =
        folder.run("compress model.dgp --data data.csv --mean-only --tolerance 1 --out mean.dgp --json").json();
    // The whole model loses nothing; giving up its variance does.
    let loss = report["curve"][0]["loss"].as_f64().unwrap();
    assert!(loss > 1e-6, "{report}");
    folder
        .run(&format!("compress model.dgp --data data.csv --mean-only --tolerance {} --out none.dgp", loss / 2.0))
        .refused_with(&["no choice fits"]);
    folder.run("predict mean.dgp data.csv --deterministic --out mean.csv").succeeds();
    let text = folder.read_text("mean.csv");
    let bars: Vec<&str> = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!(bars.len() > 10 && bars.iter().all(|bar| *bar == bars[0]), "{bars:?}");
}

#[test]
fn goals_that_make_no_sense_are_refused() {
    let folder = Folder::with_model();
    let refused = |arguments: &str, words: &[&str]| folder.run(&format!("compress {arguments}")).refused_with(words);
    refused("model.dgp --out small.dgp", &["--max-bytes"]);
    refused("model.dgp --max-bytes 50 --out small.dgp", &["no choice fits", "the smallest found has", "--mean-only"]);
    refused("model.dgp --tolerance=-1 --out small.dgp", &["--tolerance"]);
    refused("model.dgp --tolerance 0.1 --out model.dgp", &["--out", "overwritten"]);
    refused("model.dgp --tolerance 0.1 --test-rows t.txt --out small.dgp", &["--test-rows", "--data"]);
    refused("missing.dgp --tolerance 0.1 --out small.dgp", &["missing.dgp", "expected a model file"]);
    refused("model.dgp --tolerance 0.1 --data missing.csv --out small.dgp", &["missing.csv"]);
    assert!(!folder.files().iter().any(|name| name.starts_with("small")), "{:?}", folder.files());
}

#[test]
fn a_model_that_lost_much_is_warned_about() {
    let folder = Folder::with_model();
    let warning = |out: &str, goal: &str| {
        let stderr = folder.run(&format!("compress model.dgp --data data.csv --out {out} {goal}")).succeeds().stderr;
        stderr.lines().find(|line| line.starts_with("warning")).map(str::to_owned)
    };
    assert_eq!(warning("near.dgp", "--tolerance 0.01"), None);
    let far = warning("far.dgp", "--mean-only --tolerance 9").unwrap();
    assert!(far.contains("nats per row, more than 0.05"), "{far}");
}

#[test]
fn rows_that_say_little_about_the_loss_are_warned_about() {
    let folder = Folder::with_model();
    let command = "compress model.dgp --max-bytes 4000 --out small.dgp --force --data";
    assert!(!folder.run(&format!("{command} data.csv")).succeeds().stderr.contains("warning"));
    folder.write("far.csv", "a,b,y\n50,50,0\n60,-50,0\n");
    let warned = folder.run(&format!("{command} far.csv")).succeeds().stderr;
    assert!(warned.contains("far.csv: 2 of 2 rows lie outside") && warned.contains("on 2 rows"), "{warned}");
}
