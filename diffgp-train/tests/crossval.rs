//! `diffgp crossval`.

use crate::runner::Folder;

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

/// What does not depend on how fast the machine is.
pub(crate) fn without_times(report: &serde_json::Value) -> serde_json::Value {
    let mut report = report.clone();
    for result in report["results"].as_array_mut().unwrap() {
        result.as_object_mut().unwrap().remove("seconds_mean").unwrap();
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
