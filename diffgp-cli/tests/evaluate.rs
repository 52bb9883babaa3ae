//! `diffgp eval` and `diffgp predict`: the device's numbers.

use crate::runner::{Folder, QUICK, csv};

#[test]
fn eval_has_its_keys() {
    let folder = Folder::with_model();
    let json = folder.run("eval model.dgp data.csv --json").json();
    assert_eq!(json["n"], 60);
    assert!(json["rmse"].as_f64().unwrap() < 0.5, "{json}");
    assert!(json["log_likelihood"].is_f64() && json["auc"].is_null(), "{json}");
    for key in ["coverage_50", "coverage_80", "coverage_90", "coverage_95", "coverage_99", "winkler_95", "crps"] {
        assert!(json[key].is_f64(), "{key}: {json}");
    }
    assert!(json["outputs"].is_null() && json["crps"].as_f64() < json["winkler_95"].as_f64(), "{json}");
    let text = folder.run("eval model.dgp data.csv").succeeds().stdout;
    assert!(text.contains("RMSE") && text.contains("log-likelihood"), "{text}");
}

#[test]
fn eval_of_a_classifier_has_its_keys() {
    let folder = Folder::new();
    folder.write("data.csv", csv(60, |a, _| f64::from(a > 0.0)));
    folder.run(&format!("train data.csv --target y --task classification {QUICK}")).succeeds();
    let json = folder.run("eval model.dgp data.csv --json").json();
    assert!(json["auc"].as_f64().unwrap() > 0.9, "{json}");
    assert!(json["accuracy"].is_f64() && json["log_likelihood"].is_f64() && json["rmse"].is_null(), "{json}");
    let table = folder.run("predict model.dgp data.csv").succeeds().stdout;
    assert!(table.starts_with("probability,class,in_range\n"), "{table}");
    let json = folder.run("predict model.dgp data.csv --json").json();
    assert_eq!((&json["n"], json["probability"].as_array().unwrap().len()), (&60.into(), 60));
    folder.write("three.csv", csv(60, |a, _| f64::from(a > 0.0) + 2.0));
    folder.run("eval model.dgp three.csv").refused_with(&[
        "three.csv: row 1",
        "\"y\"",
        "none of the model's classes, which are 0, 1",
    ]);
}

#[test]
fn eval_on_a_split_is_eval_on_those_rows_with_their_own_noise() {
    let folder = Folder::with_model();
    folder.write("all.txt", (0..60).map(|row| row.to_string()).collect::<Vec<_>>().join(" "));
    folder.write("split.txt", "3 5\n1 2 59\n");
    let whole = folder.run("eval model.dgp data.csv --json").succeeds().stdout;
    assert_eq!(folder.run("eval model.dgp data.csv --test-rows all.txt --json").succeeds().stdout, whole);
    let part = folder.run("eval model.dgp data.csv --test-rows split.txt --split 1 --json").json();
    assert_eq!(part["n"], 3);
    // The rows' own noise: that of their numbers in the file, as `predict` has it.
    let means = folder.run("predict model.dgp data.csv --json").json();
    let targets: Vec<f64> = folder
        .read_text("data.csv")
        .lines()
        .skip(1)
        .map(|row| row.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let square = |row: usize| (means["mean"][row].as_f64().unwrap() - targets[row]).powi(2);
    let rmse = ([1, 2, 59].map(square).iter().sum::<f64>() / 3.0).sqrt();
    assert!((part["rmse"].as_f64().unwrap() / rmse - 1.0).abs() < 1e-5, "{part}: {rmse}");
}

#[test]
fn predictions_read_back_to_the_same_bits_however_they_are_asked_for() {
    let folder = Folder::with_model();
    let table = folder.run("predict model.dgp data.csv --paths 7 --seed 5").succeeds().stdout;
    assert!(
        table.starts_with("mean,variance,deviation,low_90,high_90,in_range\n") && table.lines().count() == 61,
        "{table}"
    );
    let json = folder.run("predict model.dgp data.csv --paths 7 --seed 5 --json").json();
    folder.run("predict model.dgp data.csv --paths 7 --seed 5 --out p.csv").succeeds();
    assert_eq!(folder.read_text("p.csv"), table);
    for (row, line) in table.lines().skip(1).enumerate() {
        for (cell, column) in line.split(',').zip(["mean", "variance", "deviation", "low_90", "high_90"]) {
            assert_eq!(cell.parse::<f32>().unwrap(), json[column][row].as_f64().unwrap() as f32, "{column}");
        }
    }
    assert_ne!(folder.run("predict model.dgp data.csv --paths 7").succeeds().stdout, table);
    let drift = folder.run("predict model.dgp data.csv --deterministic").succeeds().stdout;
    assert_eq!(folder.run("predict model.dgp data.csv --deterministic --seed 9").succeeds().stdout, drift);
    // The inputs along with it, as f32 reads them; a row outside is marked.
    folder.write("two.csv", "a,b\n0.1,0.25\n7,0\n");
    let alone = folder.run("predict model.dgp two.csv").succeeds().stdout;
    let along = folder.run("predict model.dgp two.csv --with-inputs").succeeds().stdout;
    let joined: Vec<String> =
        alone.lines().zip(["a,b", "0.1,0.25", "7.0,0.0"]).map(|(line, inputs)| format!("{inputs},{line}")).collect();
    assert_eq!(along.lines().collect::<Vec<_>>(), joined);
    assert!(joined[1].ends_with(",true") && joined[2].ends_with(",false"), "{along}");
}

#[test]
fn columns_are_matched_by_name_else_by_position() {
    let folder = Folder::with_model();
    let expected = folder.run("predict model.dgp data.csv").succeeds().stdout;
    let text = folder.read_text("data.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let table = |columns: &dyn Fn(&[&str]) -> String, skip: usize| {
        rows.iter().skip(skip).map(|row| columns(row) + "\n").collect::<String>()
    };
    folder.write("shuffled.csv", table(&|row| format!("{},{}", row[1], row[0]), 0));
    assert_eq!(folder.run("predict model.dgp shuffled.csv").succeeds().stdout, expected);
    folder.write("surplus.csv", table(&|row| format!("note {},{},{}", row[0], row[0], row[1]), 0));
    assert_eq!(folder.run("predict model.dgp surplus.csv").succeeds().stdout, expected);
    folder.write("plain.csv", table(&|row| format!("{},{}", row[0], row[1]), 1));
    assert_eq!(folder.run("predict model.dgp plain.csv").succeeds().stdout, expected);
    folder.write("target.csv", table(&|row| format!("{},{},{}", row[2], row[0], row[1]), 1));
    assert_eq!(folder.run("predict model.dgp target.csv --target 0").succeeds().stdout, expected);
    folder.run("eval model.dgp target.csv --target 0").succeeds();
    folder.run("eval model.dgp target.csv").refused_with(&["target.csv", "no header", "--target"]);
    folder.run("predict model.dgp target.csv").refused_with(&["target.csv: 3 columns", "2 inputs", "--target"]);
}

#[test]
fn rows_outside_the_training_ranges_are_mentioned() {
    let folder = Folder::with_model();
    folder.write("far.csv", "a,b\n0,0\n99,0\n");
    let outcome = folder.run("predict model.dgp far.csv").succeeds();
    assert!(outcome.stderr.contains("1 of 2 rows"), "{outcome:?}");
}
