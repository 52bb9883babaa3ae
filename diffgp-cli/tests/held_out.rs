//! Rows held out without a file of rows: train never sees them, eval is about them.

use std::fmt::Write as _;

use crate::runner::Folder;

/// 100 rows of ten pumps, one after the other.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut table = String::from("pump,x,y\n");
    for row in 0..100 {
        let x = f64::from((row * 37) % 100) / 10.0;
        let _ = writeln!(table, "p{},{x},{}", row / 10, x.sin());
    }
    folder.write("data.csv", table.as_bytes());
    folder
}

const TRAIN: &str =
    "train data.csv --target y --flow-time 0 --inducing 5 --iterations 5 --calibration none --threads 1 --force --json";

/// What `eval` says of how many rows.
fn evaluated(folder: &Folder, options: &str) -> u64 {
    let outcome = folder.run(&format!("eval model.dgp data.csv --target y {options} --json"));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    serde_json::from_str::<serde_json::Value>(&outcome.stdout).unwrap()["n"].as_u64().unwrap()
}

#[test]
fn shares_groups_and_the_last_rows_are_held_out_alike_by_every_command() {
    let folder = folder();
    for (options, trained_on, held_out) in [
        ("--ignore pump --test-share 0.2", 80, 20),
        ("--ignore pump --test-share 0.25 --split 3", 75, 25),
        ("--ignore pump --test-last 0.3", 70, 30),
        ("--test-groups pump", 80, 20),
        ("--test-groups pump --test-share 0.5 --split 2", 50, 50),
        ("--groups pump --test-last 0.1", 90, 10),
    ] {
        let outcome = folder.run(&format!("{TRAIN} {options}"));
        assert_eq!(outcome.code, 0, "{options}: {}", outcome.stderr);
        let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&summary["rows"], &summary["inputs"]), (&trained_on.into(), &1.into()), "{options}");
        let of_eval = options.replace("--groups pump ", "");
        assert_eq!(evaluated(&folder, &of_eval), held_out, "{options}");
    }
}

#[test]
fn what_holds_out_nothing_is_refused() {
    let folder = folder();
    for (options, words) in [
        ("--test-share 1", "between 0 and 1"),
        ("--test-share 0.2 --test-last 0.2", "cannot be used with"),
        ("--split 1", "nothing is held out"),
        ("--test-groups valve", "valve"),
        ("--blocks 1", "--blocks"),
        ("--blocks 5 --groups pump", "cannot be used with"),
    ] {
        let outcome = folder.run(&format!("{TRAIN} --ignore pump {options}"));
        assert_eq!(outcome.code, 2, "{options}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{options}: {}", outcome.stderr);
    }
    folder.write("one.csv", "x,group,y\n1,2,3\n");
    for way in ["--test-share 0.2", "--test-last 0.2", "--test-groups group"] {
        folder.run(&format!("train one.csv --target y {way}")).refused_with(&["at least two rows"]);
    }
}
