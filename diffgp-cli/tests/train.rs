//! `diffgp train`.

use std::fs;
use std::process::Stdio;

use crate::runner::{Folder, QUICK, csv, names};

#[test]
fn leaves_a_model_and_a_run_directory_and_says_what_is_next() {
    let folder = Folder::with_data();
    let outcome = folder.run(&format!("train data.csv --target y {QUICK}")).succeeds();
    assert!(outcome.stdout.contains("diffgp eval model.dgp data.csv"), "{outcome:?}");
    assert!(outcome.stderr.contains("validation RMSE"), "{outcome:?}");
    assert_eq!(folder.files(), ["data.csv", "model.dgp", "model.run"]);
    let run = names(&folder.path("model.run"));
    assert_eq!(run, ["config.toml", "explore.html", "lock", "metrics.jsonl", "model.dgp", "report.html", "run.json"]);
    let page = folder.read_text("model.run/report.html");
    assert!(page.matches("<svg").count() >= 4 && page.contains("Training rows"), "{page}");
    // Self-contained: nothing is fetched. The namespace of SVG is a name, not an address.
    let addresses = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http") && !addresses.contains("<script"), "{page}");
    assert_eq!(folder.read("model.dgp"), folder.read("model.run/model.dgp"));
    let metrics = folder.read_text("model.run/metrics.jsonl");
    assert!(metrics.contains(r#""validation":{"#) && !metrics.contains("held_out"), "{metrics}");
    for line in metrics.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["iteration"].is_u64() && value["stage"].is_u64() && value["name"].is_string(), "{line}");
    }
}

#[test]
fn json_is_one_object_with_its_keys() {
    let folder = Folder::with_data();
    let json = folder.run(&format!("train data.csv --target y {QUICK} --json")).json();
    let keys = ["model", "run_dir", "bytes", "rows", "inputs", "iteration", "validation_log_likelihood", "seconds"];
    for key in keys.iter().chain(&["mean_error", "variance_error"]) {
        assert!(!json[key].is_null(), "{key} in {json}");
    }
    assert_eq!(json["bytes"], folder.read("model.dgp").len());
    assert_eq!((&json["rows"], &json["inputs"]), (&60.into(), &2.into()));
}

#[test]
fn beyond_2000_rows_the_kernel_is_chosen_and_the_choice_can_be_repeated() {
    let folder = Folder::new();
    // Kinks everywhere along the first input.
    let kinks =
        |a: f64, b: f64| (0..5).map(|octave| (f64::from(1 << octave) * a).fract() - 0.5).map(f64::abs).sum::<f64>() + b;
    folder.write("data.csv", csv(2100, kinks));
    let train = "train data.csv --target y --flow-time 0 --inducing 40 --iterations 20";
    let chosen = folder.run(&format!("{train} --json")).json();
    assert!(["matern32", "matern52"].contains(&chosen["kernel"].as_str().unwrap()), "{chosen}");
    let settings = folder.read_text("model.run/config.toml");
    assert!(settings.lines().all(|line| !line.starts_with("kernel =")), "{settings}");
    let again = folder.run("train data.csv --config model.run/config.toml --out again.dgp --json").json();
    assert_eq!(again["kernel"], chosen["kernel"]);
    assert_eq!(folder.read("model.dgp"), folder.read("again.dgp"));
    let named = folder.run(&format!("{train} --kernel rbf --out named.dgp --json")).json();
    assert_eq!(named["kernel"], "rbf");
    // Gaussian processes before all stages decide, not stages of their own.
    let metrics = folder.read_text("model.run/metrics.jsonl");
    assert!(metrics.contains(r#""no_flow""#) && !metrics.contains("candidate_kernel"), "{metrics}");
}

#[test]
fn same_seed_same_bytes_whatever_the_threads() {
    let folder = Folder::with_data();
    folder.run(&format!("train data.csv --target y {QUICK} --out one.dgp --threads 1")).succeeds();
    folder.run(&format!("train data.csv --target y {QUICK} --out two.dgp --threads 2")).succeeds();
    folder.run(&format!("train data.csv --target y {QUICK} --out other.dgp --seed 1")).succeeds();
    assert_eq!(folder.read("one.dgp"), folder.read("two.dgp"));
    assert_ne!(folder.read("one.dgp"), folder.read("other.dgp"));
}

#[test]
fn held_out_rows_take_no_part() {
    let folder = Folder::with_data();
    folder.write("splits.txt", "0 1 2\n57 58 59\n");
    let text = folder.read_text("data.csv");
    let kept: Vec<&str> = text.lines().take(58).collect();
    folder.write("kept.csv", kept.join("\n"));
    let rows = "--test-rows splits.txt --split 1";
    folder.run(&format!("train data.csv --target y {QUICK} {rows} --out held.dgp")).succeeds();
    folder.run(&format!("train kept.csv --target y {QUICK} --out kept.dgp")).succeeds();
    assert_eq!(folder.read("held.dgp"), folder.read("kept.dgp"));
}

#[test]
fn options_from_a_file_count_less_than_the_command_line() {
    let folder = Folder::with_data();
    folder.run(&format!("train data.csv --target y {QUICK} --seed 3 --out typed.dgp")).succeeds();
    // The run directory holds the options that make the same model again.
    fs::copy(folder.path("typed.run/config.toml"), folder.path("again.toml")).unwrap();
    folder.run("train data.csv --config again.toml --out again.dgp").succeeds();
    assert_eq!(folder.read("typed.dgp"), folder.read("again.dgp"));
    folder.run("train data.csv --config again.toml --seed 4 --out other.dgp").succeeds();
    assert_ne!(folder.read("typed.dgp"), folder.read("other.dgp"));

    folder.write("bad.toml", "flowtime = 3\n");
    folder.run("train data.csv --config bad.toml").refused_with(&["bad.toml", "\"flowtime\"", "flow-time"]);
    folder.write("bad.toml", "flow-time = \n");
    folder.run("train data.csv --config bad.toml").refused_with(&["bad.toml"]);
    folder.run("train data.csv --config none.toml").refused_with(&["none.toml"]);
    for two in ["--config again.toml --config bad.toml", "--config=again.toml --config bad.toml"] {
        folder.run(&format!("train data.csv {two}")).refused_with(&["--config", "again.toml and bad.toml", "one file"]);
    }
}

#[test]
fn a_sparse_gaussian_process_and_a_classifier() {
    let folder = Folder::with_data();
    folder.run(&format!("train data.csv --target y {QUICK} --flow-time 0")).succeeds();
    assert_eq!(folder.run("inspect model.dgp --json").json()["steps"], 0);

    folder.write("classes.csv", crate::runner::csv(60, |a, _| f64::from(a > 0.0)));
    let outcome = folder.run(&format!("train classes.csv --target y {QUICK}")).succeeds();
    assert!(outcome.stderr.contains("--task classification"), "{outcome:?}");
    folder.run(&format!("train classes.csv --target y {QUICK} --task classification")).succeeds();
    assert_eq!(folder.run("inspect model.dgp --json").json()["task"], "classification");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let folder = Folder::with_data();
    let train =
        "train data.csv --target y --inducing 8 --warm-iterations 40 --iterations 4000 --steps 3 --training-steps 3";
    folder.run(&format!("{train} --out whole.dgp")).succeeds();
    let mut child = folder.command(train).stderr(Stdio::piped()).spawn().unwrap();
    let metrics = folder.path("model.run/metrics.jsonl");
    while fs::read_to_string(&metrics).map_or(0, |text| text.lines().count()) < 80 {
        assert!(child.try_wait().unwrap().is_none(), "ended before it was interrupted");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(" --resume") && stderr.contains("stopped at iteration"), "{stderr}");
    // What was reached is a model, in the run directory; the name that was asked for is for the finished one.
    assert!(stderr.contains("model.run/stopped.dgp is the best model so far"), "{stderr}");
    assert!(!folder.path("model.dgp").exists());
    folder.run("eval model.run/stopped.dgp data.csv").succeeds();
    let cut = serde_json::from_str::<serde_json::Value>(&folder.read_text("model.run/run.json")).unwrap()["cut"].take();
    assert!(cut["iteration"].as_u64() < cut["iterations"].as_u64(), "{cut}");
    let provenance = || -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&folder.read_text("model.run/run.json")).unwrap()["provenance"].take()
    };
    let here = provenance()[0].clone();
    let elsewhere = folder.read_text("model.run/run.json").replace(here["processor"].as_str().unwrap(), "another");
    folder.write("model.run/run.json", elsewhere);

    folder.run(&format!("{train} --resume")).succeeds();
    assert_eq!(folder.read("whole.dgp"), folder.read("model.dgp"));
    assert!(!folder.path("model.run/stopped.dgp").exists());
    // Both machines are remembered.
    assert_eq!((&provenance()[0]["processor"], &provenance()[1]), (&"another".into(), &here));
    assert_eq!(folder.read_text("whole.run/metrics.jsonl"), folder.read_text("model.run/metrics.jsonl"));
    let other = folder.run(&format!("{train} --resume --seed 1"));
    other.refused_with(&["--resume", "checkpoint", "other settings"]);
}

#[test]
fn resuming_before_the_first_checkpoint_starts_anew() {
    let folder = Folder::with_data();
    let outcome = folder.run(&format!("train data.csv --target y {QUICK} --resume")).succeeds();
    assert!(outcome.stderr.contains("no checkpoint in model.run"), "{outcome:?}");
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_training() {
    let folder = Folder::with_data();
    let command = format!("train data.csv --target y {QUICK}");
    folder.run(&format!("{command} --out expected.dgp")).succeeds();
    let mut child = folder.command(&command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.read("model.dgp"), folder.read("expected.dgp"));
}

#[test]
fn the_error_of_the_steps_is_measured_stored_and_said() {
    let folder = Folder::with_data();
    let train =
        "train data.csv --target y --flow-time 5 --inducing 8 --warm-iterations 30 --iterations 200 --force --json";
    let flow = folder.run(train).succeeds();
    let measured = serde_json::from_str::<serde_json::Value>(&flow.stdout).unwrap()["discretisation_error"].as_f64();
    let stored = folder.run("inspect model.dgp --json").json()["discretisation_error"].as_f64();
    assert!((measured.unwrap() - stored.unwrap()).abs() < 1e-6, "{measured:?} {stored:?}");
    let text = folder.run("inspect model.dgp").succeeds().stdout;
    assert!(text.contains("(midpoint)") && text.contains("from the solution of the equation"), "{text}");
    // Two long steps are far from the equation, which is worth a warning unless a chain was asked for.
    let long = folder.run(&format!("{train} --scheme euler-maruyama --steps 2")).succeeds();
    assert!(long.stderr.contains("chain of steps"), "{}", long.stderr);
    assert!(folder.run("inspect model.dgp").succeeds().stdout.contains("a chain of steps, not a flow"));
    let chain = folder.run(&format!("{train} --chain")).succeeds();
    assert!(!chain.stderr.contains("chain of steps"), "{}", chain.stderr);
    let json = folder.run("inspect model.dgp --json").json();
    assert_eq!((&json["scheme"], &json["steps"]), (&"euler-maruyama".into(), &2.into()));
    folder.run("train data.csv --target y --flow-time 0 --iterations 20 --inducing 8 --force").succeeds();
    assert!(folder.run("inspect model.dgp --json").json()["discretisation_error"].is_null());
}

#[test]
fn a_time_limit_ends_with_a_model_and_the_run_can_go_on() {
    let folder = Folder::with_data();
    let train =
        "train data.csv --target y --inducing 8 --warm-iterations 40 --iterations 4000 --steps 3 --training-steps 3";
    folder.run(&format!("{train} --out whole.dgp")).succeeds();
    let limited = folder.run(&format!("{train} --time-limit 0.3s --json"));
    let json = limited.json();
    assert!(json["cut"]["iteration"].as_u64() <= json["cut"]["iterations"].as_u64(), "{json}");
    assert_eq!(json["bytes"], folder.read("model.dgp").len());
    let run: serde_json::Value = serde_json::from_str(&folder.read_text("model.run/run.json")).unwrap();
    assert_eq!(run["cut"], json["cut"]);
    assert!(folder.read_text("model.run/config.toml").contains("time-limit = \"0.3s\""));
    assert!(folder.read_text("model.run/report.html").contains("Training ended early"));
    // For people too.
    let again = folder.run(&format!("{train} --time-limit 0.2s --resume")).succeeds();
    assert!(again.stdout.contains("training ended early") && again.stdout.contains("--resume"), "{again:?}");
    let finished = folder.run(&format!("{train} --resume --json")).json();
    assert!(finished["cut"].is_null(), "{finished}");
    assert_eq!(folder.read("model.dgp"), folder.read("whole.dgp"));
    assert_eq!(folder.read_text("whole.run/metrics.jsonl"), folder.read_text("model.run/metrics.jsonl"));
    for wrong in ["10", "0s", "soon"] {
        let refused = folder.run(&format!("{train} --time-limit {wrong}"));
        assert!(refused.code == 2 && refused.stderr.contains("90s, 10m or 1h30m"), "{refused:?}");
    }
}
