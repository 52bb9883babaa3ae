//! `diffgp crossval`.

use crate::runner::{Folder, csv};

const QUICK: &str = "--inducing 8 --warm-iterations 6 --iterations 6 --steps 3 --training-steps 3";

#[test]
fn folds_and_flow_times_have_their_keys() {
    let folder = Folder::with_data();
    let command = format!("crossval data.csv --target y --folds 3 --flow-times 0,1 {QUICK} --json");
    let outcome = folder.run(&command).succeeds();
    assert_eq!(outcome.stderr.lines().count(), 6, "{outcome:?}");
    let results = outcome.json()["results"].clone();
    for (result, flow_time) in results.as_array().unwrap().iter().zip([0.0, 1.0]) {
        assert_eq!((&result["flow_time"], &result["splits"]), (&flow_time.into(), &3.into()));
        for key in ["rmse_mean", "rmse_se", "log_likelihood_mean", "log_likelihood_se"] {
            assert!(result[key].is_f64(), "{key} in {result}");
        }
        assert_eq!(result["coverage"].as_array().unwrap().len(), 3);
        let gain = result["gain"]["log_likelihood_mean"].as_f64();
        let difference = |result: &serde_json::Value| result["log_likelihood_mean"].as_f64().unwrap();
        let expected = (flow_time > 0.0).then(|| difference(result) - difference(&results[0]));
        assert!(gain.zip(expected).is_none_or(|(gain, expected)| (gain - expected).abs() < 1e-12), "{result}");
        assert_eq!(gain.is_some(), flow_time > 0.0);
    }
    // Finished splits are not trained again, and give the same figures to the last digit.
    let again = folder.run(&command).succeeds();
    assert_eq!((again.stdout, again.stderr.as_str()), (outcome.stdout, ""));
}

#[test]
fn an_interrupted_comparison_goes_on_where_it_stopped() {
    let folder = Folder::with_data();
    let command = format!("crossval data.csv --target y --folds 3 --flow-times 1 {QUICK} --json --out lines.jsonl");
    let whole = without_times(&folder.run(&command).succeeds().json());
    let lines = folder.read_text("lines.jsonl");
    // One finished split, and one that was cut while it was being written.
    let end = lines.find('\n').unwrap() + 30;
    folder.write("lines.jsonl", &lines[..end]);
    let resumed = folder.run(&command).succeeds();
    assert_eq!((resumed.stderr.lines().count(), without_times(&resumed.json())), (2, whole));
    // Finished splits alone, and none of other settings.
    let end = lines.find('\n').unwrap() + 1;
    folder.write("lines.jsonl", &lines[..end]);
    let finished = folder.run(&format!("{command} --finished")).succeeds();
    assert_eq!((finished.stderr.as_str(), &finished.json()["results"][0]["splits"]), ("", &1.into()));
    folder.run(&format!("{command} --finished --seed 5")).refused_with(&["lines.jsonl", "no finished split"]);
}

#[test]
fn splits_of_an_older_recipe_are_shown_and_trained_anew() {
    let folder = Folder::with_data();
    let command =
        format!("crossval data.csv --target y --folds 3 --splits 0..2 --flow-times 1 {QUICK} --json --out lines.jsonl");
    let whole = folder.run(&command).succeeds().json();
    let recipe = whole["recipe"].as_u64().unwrap();
    assert_eq!((&whole["results"][0]["recipes"], &whole["results"][0]["steps"]), (&[recipe].into(), &"3".into()));
    let lines = folder.read_text("lines.jsonl");
    let line: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["steps"], &line["training_steps"], &line["provenance"]["recipe"]),
        (&3.into(), &3.into(), &recipe.into())
    );
    for key in ["version", "processor", "instruction_set"] {
        assert!(line["provenance"][key].is_string(), "{key} in {line}");
    }
    // The first of the two becomes older, and another version alone does not.
    let number = format!("\"recipe\":{recipe}");
    folder
        .write("lines.jsonl", lines.replacen(&number, "\"recipe\":0", 1).replace("\"version\":\"", "\"version\":\"0."));
    let finished = folder.run(&format!("{command} --finished")).succeeds();
    assert_eq!(
        (&finished.json()["results"][0]["recipes"], &finished.json()["results"][0]["splits"]),
        (&[0, recipe].into(), &2.into())
    );
    assert!(finished.stderr.contains("recipe 0"), "{finished:?}");
    let anew = folder.run(&command).succeeds();
    assert_eq!((anew.stderr.lines().count(), without_times(&anew.json())), (1, without_times(&whole)));
    assert_eq!(folder.read_text("lines.jsonl").lines().count(), 3);
    let again = folder.run(&format!("{command} --finished")).succeeds();
    assert_eq!((again.stderr.as_str(), again.json()), ("", anew.json()));
}

/// What does not depend on how fast the machine is.
pub(crate) fn without_times(report: &serde_json::Value) -> serde_json::Value {
    let mut report = report.clone();
    for result in report["results"].as_array_mut().unwrap() {
        for key in ["seconds_mean", "processor_seconds_mean"] {
            result.as_object_mut().unwrap().remove(key).unwrap();
        }
    }
    report
}

#[test]
fn a_split_scores_as_train_and_eval_do() {
    let folder = Folder::with_data();
    folder.write("splits.txt", "0 1 2\n5 6 7 8\n");
    let rows = "--test-rows splits.txt";
    let crossval =
        folder.run(&format!("crossval data.csv --target y {rows} --splits 1..2 --flow-times 2 {QUICK} --json"));
    folder.run(&format!("train data.csv --target y {rows} --split 1 --flow-time 2 {QUICK}")).succeeds();
    let eval = folder.run(&format!("eval model.dgp data.csv {rows} --split 1 --json")).json();
    let result = crossval.json()["results"][0].clone();
    assert_eq!((&result["rmse_mean"], &result["log_likelihood_mean"]), (&eval["rmse"], &eval["log_likelihood"]));
    assert!(result["rmse_se"].is_null(), "{result}");
}

#[test]
fn wrong_splits_are_refused() {
    let folder = Folder::with_data();
    folder.write("splits.txt", "0 1 2\n");
    let run = |flags: &str| folder.run(&format!("crossval data.csv --target y {flags}"));
    run("").refused_with(&["--folds", "--test-rows"]);
    run("--folds 1").refused_with(&["--folds is 1", "2 to 60"]);
    run("--test-rows splits.txt --splits 3").refused_with(&["--splits is 3", "0..20"]);
    run("--test-rows splits.txt --splits 0..9").refused_with(&["splits.txt", "the file has 1"]);
    folder.write("empty.txt", "\u{feff}\n\n");
    run("--test-rows empty.txt").refused_with(&["empty.txt: no splits", "expected lines with the numbers"]);
    run("--folds 2 --flow-time 3").refused_with(&["--flow-times"]);
    run("--folds 2 --flow-times 1,-3").refused_with(&["--flow-times: a time is -3"]);
    run("--folds 2 --flow-times 0,nan").refused_with(&["--flow-times: a time is NaN"]);
}

#[test]
fn a_split_of_one_class_has_no_auc_and_the_others_keep_theirs() {
    let folder = Folder::new();
    folder.write("data.csv", csv(60, |a, _| f64::from(a > 0.0)));
    let rows = |class: &str| {
        let text = folder.read_text("data.csv");
        let rows = text.lines().skip(1).enumerate().filter(|(_, line)| line.ends_with(class));
        rows.map(|(row, _)| row.to_string()).take(4).collect::<Vec<_>>().join(" ")
    };
    let (zeros, ones) = (rows(",0"), rows(",1"));
    folder.write("splits.txt", format!("{zeros} {ones}\n{zeros}\n"));
    let command = |splits: &str| {
        let task = "--task classification --flow-times 0";
        format!("crossval data.csv --target y --test-rows splits.txt --splits {splits} {task} {QUICK}")
    };
    let whole = folder.run(&format!("{} --json", command("0..1"))).json()["results"][0]["auc_mean"].clone();
    assert!(whole.is_f64(), "{whole}");
    let both = folder.run(&format!("{} --json", command("0..2"))).succeeds();
    assert_eq!(both.json()["results"][0]["auc_mean"], whole);
    assert!(both.stderr.contains("1 of 2 splits"), "{both:?}");
    let table = folder.run(&command("1..2")).succeeds();
    assert!(table.stdout.contains("accuracy") && !table.stdout.contains("RMSE"), "{table:?}");
    assert!(table.stderr.contains("1 of 1 splits"), "{table:?}");
}

#[test]
fn figures_in_small_units_are_not_rounded_to_zero() {
    let folder = Folder::new();
    folder.write("data.csv", csv(60, |a, b| 1e-6 * (f64::from(a > 0.0) + 0.1 * b)));
    let crossval = folder.run(&format!("crossval data.csv --target y --folds 2 --flow-times 0,1 {QUICK}")).succeeds();
    let trained = folder.run(&format!("train data.csv --target y {QUICK}")).succeeds();
    let shown = [
        crossval.stderr,
        crossval.stdout,
        trained.stderr,
        folder.read_text("model.run/report.html"),
        folder.run("eval model.dgp data.csv").succeeds().stdout,
        folder.run("inspect model.dgp").succeeds().stdout,
        folder.run("compress model.dgp --data data.csv --tolerance 0.1 --out small.dgp").succeeds().stdout,
    ];
    for text in shown {
        let figures = text.lines().filter(|line| line.contains("RMSE") || line.contains("target y"));
        assert!(text.contains("e-7") && !figures.into_iter().any(|line| line.contains(" 0.0000")), "{text}");
    }
}

#[test]
fn warnings_name_their_split() {
    let folder = Folder::new();
    folder.write(
        "data.csv",
        csv(100, |a, _| a).replace('\n', "\n7,").replacen("a,b,y", "c,a,b,y", 1).trim_end_matches("7,"),
    );
    let outcome = folder.run(&format!("crossval data.csv --target y --folds 2 --flow-times 1 {QUICK}")).succeeds();
    for split in ["warning: split 0: ", "warning: split 1: "] {
        assert_eq!(outcome.stderr.matches(split).count(), 1, "{outcome:?}");
    }
    assert_eq!(outcome.stderr.matches("\"c\" does not vary").count(), 2, "{outcome:?}");
}

#[test]
fn some_of_the_folds_are_those_of_all() {
    let folder = Folder::with_data();
    let command = format!("crossval data.csv --target y --folds 3 --flow-times 0 {QUICK} --out lines.jsonl");
    folder.run(&format!("{command} --splits 1..2")).succeeds();
    let one = folder.read_text("lines.jsonl");
    assert_eq!(one.lines().count(), 1);
    assert_eq!(folder.run(&command).succeeds().stderr.lines().count(), 2);
    assert!(folder.read_text("lines.jsonl").starts_with(&one));
    folder.run(&format!("{command} --splits 1..4")).refused_with(&["--splits is 1..4", "0..3"]);
}

#[test]
fn a_file_of_other_things_is_left_alone() {
    let folder = Folder::with_data();
    let command = format!("crossval data.csv --target y --folds 2 --flow-times 0 {QUICK}");
    folder.write("notes.txt", "\nmy notes\n");
    folder.run(&format!("{command} --out notes.txt")).refused_with(&["notes.txt", "line 2"]);
    assert_eq!(folder.read_text("notes.txt"), "\nmy notes\n");
}

#[test]
fn classes_trained_on_as_numbers_are_noted() {
    let folder = Folder::new();
    folder.write("data.csv", csv(60, |a, _| f64::from(a > 0.0)));
    let command = format!("crossval data.csv --target y --folds 2 --flow-times 0 {QUICK}");
    assert!(folder.run(&command).succeeds().stderr.contains("--task classification"));
}
