//! Columns far from zero: 32-bit floats hold them in coarse steps, or in one.

use crate::runner::{Folder, Outcome};

const HIDDEN: &str = "differ by less than 32-bit floats can tell apart; subtract a constant";

/// Columns t and y, and a word about training on them.
fn train(folder: &Folder, t: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> Outcome {
    let rows: String = (0..200).map(f64::from).map(|i| format!("{},{}\n", t(i), y(i))).collect();
    folder.write("table.csv", format!("t,y\n{rows}"));
    folder.run("train table.csv --target y --flow-time 0 --inducing 8 --iterations 12")
}

fn wave(i: f64) -> f64 {
    100.0 * (i / 10.0).sin()
}

#[test]
fn values_that_become_one_number_are_refused() {
    let folder = Folder::new();
    train(&folder, |i| i, |i| 2.4e9 + wave(i)).refused_with(&["table.csv: column \"y\"", HIDDEN]);
    train(&folder, |i| 1.7e9 + i / 10.0, wave).refused_with(&["table.csv: column \"t\"", HIDDEN]);
    folder.run("crossval table.csv --target y --folds 2").refused_with(&["table.csv: column \"t\"", HIDDEN]);
}

#[test]
fn a_model_is_not_scored_on_values_that_it_cannot_tell_apart() {
    let folder = Folder::new();
    train(&folder, |i| i, wave).succeeds();
    folder.write("target.csv", "t,y\n1,2400000000\n2,2400000040\n");
    folder.run("eval model.dgp target.csv").refused_with(&["target.csv: column \"y\"", HIDDEN]);
    folder.write("input.csv", "t,y\n1700000000,1\n1700000030,2\n");
    folder.run("eval model.dgp input.csv").refused_with(&["input.csv: column \"t\"", HIDDEN]);
    // A difference that the model does not see is none.
    folder.write("near.csv", "t,y\n50,1\n50.0000001,2\n");
    folder.run("eval model.dgp near.csv").succeeds();
}

#[test]
fn coarse_steps_are_warned_about() {
    let folder = Folder::new();
    let warning = |outcome: Outcome| {
        let stderr = outcome.succeeds().stderr;
        stderr
            .lines()
            .find(|line| line.starts_with("warning") && line.contains("rounded"))
            .unwrap_or_default()
            .to_owned()
    };
    // A step of 128 over the deviation of 200 times 20.
    let input = warning(train(&folder, |i| 1.7e9 + 20.0 * i, wave));
    assert!(input.starts_with("warning: \"t\" is rounded to steps of 0.11"), "{input}");
    assert!(input.contains("subtract a constant"), "{input}");
    let target = warning(train(&folder, |i| i, |i| 2.4e7 + wave(i)));
    assert!(target.starts_with("warning: the target \"y\" is rounded to steps of 0.0"), "{target}");
    assert_eq!(warning(train(&folder, |i| 1e5 + 20.0 * i, |i| 1e3 + wave(i))), "");
}
