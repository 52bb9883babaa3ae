//! Several targets and several classes, through every command.

use std::fmt::Write as _;

use crate::runner::{Folder, QUICK, SHORT, csv, names};

/// Columns a, b, load and "heat, W": two targets that depend on both inputs.
fn two_targets() -> Folder {
    let folder = Folder::new();
    let second = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        100.0 - 20.0 * cells[0] * cells[1]
    };
    let table = csv(60, |a, b| f64::from(a > 0.0) + 0.1 * b);
    let mut rows = String::from("a,b,load,\"heat, W\"\n");
    table.lines().skip(1).for_each(|line| writeln!(rows, "{line},{}", second(line)).unwrap());
    folder.write("data.csv", rows);
    folder.command("train data.csv --target").arg("load,heat, W").args(QUICK.split(' ')).output().unwrap();
    folder
}

/// Columns a, b and kind, of three words, one of them with a comma.
fn three_classes() -> Folder {
    let folder = Folder::new();
    let mut rows = String::from("a,b,kind\n");
    for line in csv(90, |a, b| a + 0.3 * b).lines().skip(1) {
        let (x, y) = line.rsplit_once(',').unwrap();
        let y: f64 = y.parse().unwrap();
        let kind = if y < -0.5 {
            "cold"
        } else if y < 0.6 {
            "\"mild, dry\""
        } else {
            "hot"
        };
        writeln!(rows, "{x},{kind}").unwrap();
    }
    folder.write("data.csv", rows);
    folder.run(&format!("train data.csv --target kind {QUICK}")).succeeds();
    folder
}

#[test]
fn targets_are_scored_and_predicted_each_under_its_name() {
    let folder = two_targets();
    let json = folder.run("eval model.dgp data.csv --json").json();
    assert!(json["n"] == 60 && json["rmse"].is_null() && json["log_likelihood"].is_f64(), "{json}");
    let outputs = json["outputs"].as_array().unwrap();
    assert_eq!(outputs.iter().map(|output| output["name"].as_str().unwrap()).collect::<Vec<_>>(), ["load", "heat, W"]);
    for output in outputs {
        for key in ["rmse", "log_likelihood", "coverage_50", "coverage_99", "winkler_95", "crps"] {
            assert!(output[key].is_f64(), "{key}: {output}");
        }
    }
    let predictions = folder.run("predict model.dgp data.csv").succeeds().stdout;
    let header = "mean_load,variance_load,deviation_load,low_90_load,high_90_load,\"mean_heat, W\",\"variance_heat, W\",\"deviation_heat, W\",\"low_90_heat, W\",\"high_90_heat, W\",in_range";
    assert_eq!(predictions.lines().next(), Some(header));
    // The errors of the second target, from what `predict` says of it.
    let data = folder.read_text("data.csv");
    let cell = |line: &str, column: usize| line.split(',').nth(column).unwrap().parse::<f64>().unwrap();
    let rows = predictions.lines().skip(1).zip(data.lines().skip(1));
    let squares: f64 = rows.map(|(predicted, row)| (cell(predicted, 5) - cell(row, 3)).powi(2)).sum();
    assert!((outputs[1]["rmse"].as_f64().unwrap() / (squares / 60.0).sqrt() - 1.0).abs() < 1e-6);
    let text = folder.run("eval model.dgp data.csv").succeeds().stdout;
    assert!(text.contains("heat, W") && text.contains("of all targets together"), "{text}");
    let json = folder.run("predict model.dgp data.csv --json").json();
    assert_eq!(
        (&json["outputs"][1]["name"], json["outputs"][1]["mean"].as_array().unwrap().len()),
        (&"heat, W".into(), 60)
    );
}

#[test]
fn targets_without_names_are_found_where_they_are_said_to_be() {
    let folder = two_targets();
    let expected = folder.run("eval model.dgp data.csv --json").succeeds().stdout;
    let table: String = folder.read_text("data.csv").lines().skip(1).map(|line| format!("{line}\n")).collect();
    folder.write("plain.csv", table);
    assert_eq!(folder.run("eval model.dgp plain.csv --target 2,3 --json").succeeds().stdout, expected);
    folder.run("eval model.dgp plain.csv --target 2").refused_with(&["names 1 columns", "expected 2"]);
    folder.run("eval model.dgp plain.csv").refused_with(&["no header", "2 columns", "--target INDEX,..."]);
    folder.run("predict model.dgp plain.csv").refused_with(&["4 columns", "2 inputs", "--target"]);
    folder.run("predict model.dgp plain.csv --target 2,3").succeeds();
}

#[test]
fn classes_are_scored_and_predicted_by_name() {
    let folder = three_classes();
    let json = folder.run("eval model.dgp data.csv --json").json();
    assert_eq!(json["classes"], serde_json::json!(["cold", "hot", "mild, dry"]));
    for key in ["accuracy", "log_likelihood", "calibration_error", "auc"] {
        assert!(json[key].is_f64(), "{key}: {json}");
    }
    let confusion = json["confusion"].as_array().unwrap();
    let sum: u64 = confusion.iter().flat_map(|row| row.as_array().unwrap()).map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((confusion.len(), sum), (3, 90));
    let predictions = folder.run("predict model.dgp data.csv").succeeds().stdout;
    assert_eq!(
        predictions.lines().next(),
        Some("probability_cold,probability_hot,\"probability_mild, dry\",class,in_range")
    );
    let data = folder.read_text("data.csv");
    let right = predictions.lines().zip(data.lines()).skip(1).filter(|(predicted, row)| {
        let class = predicted.rsplit_once(',').and_then(|(before, _)| before.splitn(4, ',').nth(3));
        let sum: f64 = predicted.split(',').take(3).map(|cell| cell.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{predicted}");
        class == row.splitn(3, ',').nth(2)
    });
    assert_eq!(json["accuracy"].as_f64().unwrap(), right.count() as f64 / 90.0);
    folder.write("other.csv", "a,b,kind\n0,0,cold\n0,0,wet\n");
    folder.run("eval model.dgp other.csv").refused_with(&["row 2 (line 3)", "\"wet\"", "cold, hot, mild, dry"]);
    let text = folder.run("eval model.dgp data.csv").succeeds().stdout;
    assert!(text.contains("most probable class") && text.contains("calibration error"), "{text}");
}

#[test]
fn classes_without_names_are_numbers() {
    let folder = three_classes();
    let expected = folder.run("eval model.dgp data.csv --json").json();
    folder.run(&format!("train data.csv --target kind --strip-names --out bare.dgp {QUICK}")).succeeds();
    let table = folder.read_text("data.csv").replace("\"mild, dry\"", "2").replace("cold", "0").replace("hot", "1");
    folder.write("numbers.csv", table);
    let json = folder.run("eval bare.dgp numbers.csv --target kind --json").json();
    assert_eq!((&json["confusion"], &json["classes"]), (&expected["confusion"], &serde_json::json!(["0", "1", "2"])));
}

#[test]
fn inspect_names_targets_and_classes() {
    let json = |folder: &Folder| folder.run("inspect model.dgp --json").json();
    let two = two_targets();
    let numbers = json(&two);
    assert_eq!(
        (&numbers["outputs"], &numbers["classes"]),
        (&serde_json::json!(["load", "heat, W"]), &serde_json::Value::Null)
    );
    assert_eq!((&numbers["scheme"], &numbers["arithmetic"]), (&"midpoint".into(), &"f32".into()));
    assert_eq!(numbers["calibration"]["source"], "cross-fitted", "{numbers}");
    assert!(numbers.get("discretisation_error").is_some(), "{numbers}");
    assert_eq!((&numbers["targets"][1]["name"], &numbers["target"]["name"]), (&"heat, W".into(), &"load".into()));
    assert_eq!(numbers["workspace_bytes"], diffgp_infer::Workspace::<2, 8, 2>::BYTES);
    let text = two.run("inspect model.dgp").succeeds().stdout;
    assert!(text.contains("regression of 2 targets") && text.contains("Workspace::<2, 8, 2>"), "{text}");
    let three = three_classes();
    let classes = json(&three);
    assert_eq!(
        (&classes["outputs"], &classes["classes"]),
        (&serde_json::json!(["kind"]), &serde_json::json!(["cold", "hot", "mild, dry"]))
    );
    let text = three.run("inspect model.dgp").succeeds().stdout;
    assert!(text.contains("3 classes") && text.contains("p.class()"), "{text}");
    for json in [numbers, classes] {
        let parts: u64 = json["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
        assert_eq!(json["bytes"].as_u64(), Some(parts), "{json}");
    }
}

#[test]
fn pictures_and_pages_of_both() {
    let two = two_targets();
    two.run("plot model.dgp data.csv --out-dir out --paths 3").succeeds();
    let stems = |folder: &Folder| {
        let files = names(&folder.path("out"));
        files.iter().filter_map(|name| name.strip_suffix(".svg").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(
        stems(&two),
        [
            "calibration-heat--w",
            "calibration-load",
            "flow",
            "predictions-heat--w",
            "predictions-load",
            "residuals-heat--w",
            "residuals-load",
            "trace"
        ]
    );
    let page = two.read_text("model.run/report.html");
    assert!(page.contains("heat, W") && page.contains("CRPS"));
    let three = three_classes();
    three.run("plot model.dgp data.csv --out-dir out --paths 3").succeeds();
    assert_eq!(stems(&three), ["calibration", "confusion", "flow", "residuals", "trace"]);
    let page = three.read_text("model.run/report.html");
    assert!(page.contains("calibration error") && page.contains("most probable class"));
}

#[test]
fn crossval_sums_up_targets_and_classes() {
    let two = two_targets();
    let command =
        format!("crossval data.csv --target 2,3 --folds 2 --flow-times 0 {}", &SHORT["--flow-time 5".len()..]);
    let json = two.run(&format!("{command} --json")).json();
    let outputs = &json["results"][0]["outputs"];
    assert_eq!(outputs[1]["name"], "heat, W");
    assert!(outputs[1]["rmse_mean"].is_f64() && outputs[0]["coverage_95"].is_f64(), "{outputs}");
    // From the journal.
    let text = two.run(&command).succeeds().stdout;
    assert!(text.contains("heat, W: RMSE"), "{text}");
    let three = three_classes();
    let json = three.run(&format!("{} --json", command.replace("2,3", "kind"))).json();
    for key in ["accuracy_mean", "accuracy_se", "calibration_error_mean", "auc_mean", "log_likelihood_mean"] {
        assert!(json["results"][0][key].is_f64(), "{key}: {json}");
    }
}

#[test]
fn compress_keeps_all_targets_and_all_classes() {
    for (folder, columns) in [(two_targets(), 10), (three_classes(), 3)] {
        let json = folder.run("compress model.dgp --data data.csv --tolerance 0.001 --out small.dgp --json").json();
        assert!(json["bytes"].as_u64().unwrap() * 10 < json["original_bytes"].as_u64().unwrap() * 8, "{json}");
        let measured = &json["measured"];
        let loss = |of: &str| measured[of]["log_likelihood"].as_f64().unwrap();
        assert!((loss("original") - loss("compressed")).abs() < 0.05, "{measured}");
        match columns {
            10 => assert_eq!(measured["compressed"]["outputs"][1]["name"], "heat, W"),
            _ => assert!(measured["compressed"]["accuracy"].is_f64(), "{measured}"),
        }
        // Every column of one is close to that of the other, compared with how much it varies.
        let numbers = |model: &str| -> Vec<Vec<f64>> {
            let text = folder.run(&format!("predict {model} data.csv")).succeeds().stdout;
            let row = |line: &str| line.split(',').take(columns).map(|cell| cell.parse().unwrap()).collect();
            text.lines().skip(1).map(row).collect()
        };
        let (before, after) = (numbers("model.dgp"), numbers("small.dgp"));
        for column in (0..columns).filter(|column| columns == 3 || column % 5 == 0) {
            let of = |rows: &[Vec<f64>]| rows.iter().map(|row| row[column]).collect::<Vec<f64>>();
            let (before, after) = (of(&before), of(&after));
            let mean = before.iter().sum::<f64>() / before.len() as f64;
            let spread: f64 = before.iter().map(|value| (value - mean).powi(2)).sum();
            let moved: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(moved < 0.02 * spread, "column {column}: {moved} of {spread}");
        }
        let text = folder.run("inspect small.dgp").succeeds().stdout;
        assert!(text.contains("compressed from"), "{text}");
    }
}
