//! Every bad input: exit code 2, one sentence that names what is wrong, nothing overwritten.

use crate::runner::{Folder, QUICK, csv};

#[test]
fn missing_files() {
    let folder = Folder::with_model();
    let missing = folder.run("train none.csv --target y --force");
    assert_eq!(missing.stderr.matches("No such file").count(), 1, "{missing:?}");
    missing.refused_with(&["none.csv", "No such file"]);
    folder.run("eval none.dgp data.csv").refused_with(&["none.dgp", "No such file", "diffgp train"]);
    folder.run("eval model.dgp none.csv").refused_with(&["none.csv"]);
    folder.run("predict model.dgp none.csv").refused_with(&["none.csv"]);
    folder.run("inspect none.dgp").refused_with(&["none.dgp"]);
    folder.run("train data.csv --target y --test-rows none.txt --force").refused_with(&["none.txt"]);
}

#[test]
fn malformed_tables() {
    let folder = Folder::new();
    let refuse = |content: &str, words: &[&str]| {
        folder.write("bad.csv", content);
        folder.run("train bad.csv --target y").refused_with(&[&["bad.csv"], words].concat());
    };
    refuse("", &["empty"]);
    refuse("a,y\n", &["no data rows"]);
    refuse("y\n1\n2\n", &["no column is left"]);
    refuse("a,y\n1,2\n1,2,3\n", &["row 2 (line 3)", "3 cells", "expected 2"]);
    refuse("a,y\n1,2\n1,x\n", &["row 2 (line 3)", "\"y\"", "\"x\"", "not a number"]);
    refuse("a,y\n1,2\nNaN,3\n", &["row 2 (line 3)", "\"a\"", "finite"]);
    refuse("a,y\n1,2\n,3\n", &["row 2", "missing"]);
    refuse("a,y\n1,2\n1e39,3\n", &["row 2", "3.4e38"]);
    refuse("a,y\n1,2\n", &["1 training rows", "at least 2"]);
    refuse("a,a,y\n1,2,3\n", &["both named"]);
}

#[test]
fn an_unknown_or_missing_target() {
    let folder = Folder::with_data();
    folder.run("train data.csv --target z").refused_with(&["data.csv", "\"z\"", "a, b, y"]);
    folder.run("train data.csv --target 3").refused_with(&["\"3\"", "0 to 2"]);
    folder.run("train data.csv").refused_with(&["--target", "a, b, y"]);
}

#[test]
fn splits_that_are_not_there() {
    let folder = Folder::with_data();
    folder.write("splits.txt", "1 2\n1 99\n1 x\n");
    let run = |split| folder.run(&format!("train data.csv --target y --test-rows splits.txt --split {split}"));
    run(1).refused_with(&["splits.txt", "row 99", "0 to 59"]);
    run(2).refused_with(&["splits.txt", "\"x\""]);
    run(3).refused_with(&["splits.txt", "the file has 3"]);
    let all: Vec<String> = (0..60).map(|row| row.to_string()).collect();
    folder.write("all.txt", all.join(" "));
    folder.run("train data.csv --target y --test-rows all.txt").refused_with(&["data.csv", "0 training rows"]);
}

#[test]
fn targets_that_are_no_classes() {
    let folder = Folder::with_data();
    let refuse = |cells: &str, words: &[&str]| {
        let rows: String = cells.split(' ').enumerate().map(|(a, y)| format!("{a},{y}\n")).collect();
        folder.write("bad.csv", format!("a,y\n{rows}"));
        folder
            .run("train bad.csv --target y --task classification")
            .refused_with(&[&["bad.csv", "\"y\""], words].concat());
    };
    refuse("0 1 0.5", &["row 3 (line 4)", "\"0.5\" is not a class", "whole number"]);
    refuse("up down NA", &["row 3", "missing"]);
    refuse("up up", &["all rows are of the class \"up\"", "at least two"]);
    let many: Vec<String> = (0..33).map(|class| class.to_string()).collect();
    refuse(&many.join(" "), &["row 33", "one class too many", "at most 32"]);
    folder.run("train data.csv --target y,a --task classification").refused_with(&["2 target columns"]);
    folder.run("train data.csv --target y,a,y").refused_with(&["data.csv", "\"y\" is named twice"]);
    folder.run("train data.csv --target y,c").refused_with(&["data.csv", "no column \"c\"", "a, b, y"]);
    folder.write("bad.csv", "a,y\n1,x1\n2,3\n");
    folder.run("train bad.csv --target y").refused_with(&[
        "row 2 (line 3)",
        "\"3\" is a number",
        "words",
        "--task classification",
    ]);
    folder
        .run("train bad.csv --target y --task regression")
        .refused_with(&["row 1 (line 2)", "\"x1\" is not a number"]);
}

#[test]
fn flags_out_of_range() {
    let folder = Folder::with_data();
    let run = |flags: &str| folder.run(&format!("train data.csv --target y {flags}"));
    run("--flow-time -1").refused_with(&["--flow-time is -1", "expected 0"]);
    run("--steps 0").refused_with(&["--steps is 0", "1 to 4096"]);
    run("--inducing 0").refused_with(&["--inducing is 0", "1 to 1024"]);
    run("--inducing 2000").refused_with(&["--inducing is 2000", "1 to 1024"]);
    run("--validation 0.9").refused_with(&["--validation is 0.9", "0 to 0.5"]);
    // Nothing is said before, though there is something to say about this file.
    folder.write("notes.csv", "a;b;y\n1;2;3\n4;5;7\n");
    let first = folder.run("train notes.csv --target y --steps 0").stderr;
    assert!(first.starts_with("error: --steps is 0"), "{first}");
    let unknown = folder.run("train data.csv --target y --stepz 3");
    assert!(unknown.code == 2 && unknown.stderr.contains("--steps"), "{unknown:?}");
    // What it is called elsewhere looks like another flag, or like none.
    for (elsewhere, here) in
        [("--epochs 5", "--iterations"), ("--test-size 0.2", "--test-share"), ("--label y", "--target")]
    {
        let unknown = folder.run(&format!("train data.csv {elsewhere}"));
        assert!(unknown.code == 2 && unknown.stderr.contains(&format!("'{here}'")), "{unknown:?}");
    }
    let word = folder.run("train data.csv --target y --kernel cubic");
    assert!(word.code == 2 && word.stderr.contains("matern52"), "{word:?}");
    assert_eq!(folder.run("").code, 2);
    assert_eq!(folder.run("--help").code, 0);
}

#[test]
fn wrong_columns_at_prediction() {
    let folder = Folder::with_model();
    folder.write("other.csv", "a,c\n1,2\n");
    folder.run("predict model.dgp other.csv").refused_with(&["other.csv", "\"b\"", "a, b"]);
    folder.write("short.csv", "1\n2\n");
    folder.run("predict model.dgp short.csv").refused_with(&["short.csv: 1 columns", "2 inputs"]);
    folder.write("nan.csv", "a,b\n1,2\n1,nan\n");
    folder.run("predict model.dgp nan.csv").refused_with(&["nan.csv", "row 2", "\"b\"", "finite"]);
    folder.write("empty.csv", "a,b\n");
    folder.run("predict model.dgp empty.csv").refused_with(&["empty.csv", "no data rows"]);
}

#[test]
fn damaged_models() {
    let folder = Folder::with_model();
    let model = folder.read("model.dgp");
    folder.write("cut.dgp", &model[..model.len() / 2]);
    let mut flipped = model.clone();
    flipped[model.len() / 2] ^= 0x10;
    folder.write("flipped.dgp", flipped);
    folder.write("text.dgp", "a,b,y\n1,2,3\n4,5,6\n");
    for command in ["eval X data.csv", "predict X data.csv", "inspect X"] {
        let run = |name| folder.run(&command.replace('X', name));
        run("cut.dgp").refused_with(&["cut.dgp", "only", "whole file"]);
        run("flipped.dgp").refused_with(&["flipped.dgp", "damaged"]);
        run("text.dgp").refused_with(&["text.dgp", "not a diffgp model"]);
        run("data.csv").refused_with(&["data.csv", "not a diffgp model"]);
    }
}

#[test]
fn what_exists_is_kept_when_a_command_fails() {
    let folder = Folder::with_model();
    let model = folder.read("model.dgp");
    folder.write("bad.csv", "a,b,y\n1,2,x\n");
    folder.run("train bad.csv --target y --force").refused_with(&["bad.csv"]);
    folder.run("train data.csv --target y --steps 0 --force").refused_with(&["--steps"]);
    assert_eq!(folder.read("model.dgp"), model);
    folder.write("out.csv", "precious");
    folder.run("predict model.dgp bad.csv --out out.csv --force").succeeds();
    folder.write("out.csv", "precious");
    folder.write("worse.csv", "a,b\n1,2\n1,x\n");
    folder.run("predict model.dgp worse.csv --out out.csv --force").refused_with(&["worse.csv", "row 2"]);
    assert_eq!(folder.read_text("out.csv"), "precious");
    assert!(!folder.files().iter().any(|name| name.ends_with(".partial")), "{:?}", folder.files());
}

#[test]
fn places_that_cannot_be_written_are_refused_before_the_work() {
    let folder = Folder::with_model();
    folder.write("file", "");
    let train = format!("train data.csv --target y {QUICK}");
    folder.run(&format!("{train} --out file/model.dgp")).refused_with(&["--out file/model.dgp", "no directory"]);
    folder.run(&format!("{train} --out none/model.dgp")).refused_with(&["none", "create it first"]);
    folder.run(&format!("{train} --run-dir file/run")).refused_with(&["--run-dir file/run"]);
    folder.run(&format!("{train} --out model.run")).refused_with(&["--out model.run", "directory"]);
    folder.run("predict model.dgp data.csv --out none/p.csv").refused_with(&["--out none/p.csv"]);
}

#[test]
fn values_below_zero_are_refused_by_name() {
    let folder = Folder::with_model();
    let refused = folder.run("predict model.dgp data.csv --paths -1");
    assert!(refused.code == 2 && refused.stderr.contains("'--paths <S>': -1 is not in 1..=100000"), "{refused:?}");
    folder
        .run("train data.csv --target y --validation -0.1 --force")
        .refused_with(&["--validation is -0.1", "0 to 0.5"]);
    folder.run("train data.csv --target -1 --force").refused_with(&["no column \"-1\"", "expected one of a, b, y"]);
    folder.run("compress model.dgp --tolerance -1 --out s.dgp").refused_with(&["--tolerance", "0 or more"]);
}

#[test]
fn the_option_that_was_given_is_the_one_that_is_named() {
    let folder = Folder::with_data();
    folder.run("train data.csv --target y --training-steps 0").refused_with(&["--training-steps is 0", "1 to 4096"]);
    folder.run("train data.csv --target y --threads 2000").refused_with(&["--threads is 2000", "256"]);
    folder.write("x.toml", "header = true\n");
    folder.run("train data.csv --target y --config x.toml").refused_with(&["x.toml: header is true"]);
}

#[test]
fn a_target_that_is_an_input_is_refused() {
    let folder = Folder::with_model();
    folder.run("eval model.dgp data.csv --target a").refused_with(&["data.csv", "\"a\"", "an input of the model"]);
    folder.run("predict model.dgp data.csv --target 0").refused_with(&["data.csv", "\"a\"", "an input of the model"]);
}

#[test]
fn few_rows_are_warned_about() {
    let folder = Folder::new();
    for (rows, warned) in [(30, true), (40, false)] {
        folder.write("data.csv", csv(rows, |a, b| a + b));
        let stderr = folder.run(&format!("train data.csv --target y {QUICK}")).succeeds().stderr;
        assert_eq!(stderr.contains("too narrow"), warned, "{stderr}");
    }
}
