//! Text columns as inputs: against columns of zeros and ones that were made by hand.

use std::fmt::Write as _;

use serde_json::json;

use crate::runner::Folder;

const QUICK: &str = "--force --flow-time 0 --inducing 8 --iterations 12 --calibration none";
const COLOURS: [&str; 3] = ["red", "blue", "green"];

/// A table with the words of each row, written by `row`.
fn table(header: &str, row: impl Fn(&str, &str, f64, f64) -> String) -> String {
    let mut text = format!("{header}\n");
    for i in 0..60_usize {
        let colour = i * 7 % 3;
        let (on, x) = ((i * 5 % 7) < 3, (i * 37 % 101) as f64 / 50.0 - 1.0);
        let y = x * x + colour as f64 - f64::from(on) * x;
        let _ = writeln!(text, "{}", row(COLOURS[colour], if on { "on" } else { "off" }, x, y));
    }
    text
}

fn words() -> String {
    table("colour,x,pump state,y", |colour, state, x, y| format!("{colour},{x},{state},{y}"))
}

fn by_hand() -> String {
    table("colour=blue,colour=green,colour=red,x,pump state=off|on,y", |colour, state, x, y| {
        let is = |word: &str| u8::from(colour == word);
        format!("{},{},{},{x},{},{y}", is("blue"), is("green"), is("red"), u8::from(state == "on"))
    })
}

fn trained() -> Folder {
    let folder = Folder::new();
    folder.write("words.csv", words());
    folder.run(&format!("train words.csv --target y {QUICK}")).succeeds();
    folder
}

#[test]
fn words_make_the_model_of_columns_made_by_hand() {
    let folder = Folder::new();
    folder.write("words.csv", words());
    folder.write("hand.csv", by_hand());
    let outcome = folder.run(&format!("train words.csv --target y {QUICK} --out words.dgp")).succeeds();
    for note in [
        "\"colour\" holds words (blue, green, red); it becomes 3 inputs",
        "\"pump state\" holds words (off, on); it becomes one input",
    ] {
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    }
    let by_hand = folder.run(&format!("train hand.csv --target y {QUICK} --out hand.dgp")).succeeds();
    assert!(!by_hand.stderr.contains("holds words"), "{}", by_hand.stderr);
    assert_eq!(folder.read("words.dgp"), folder.read("hand.dgp"));
    // Every command reads either table; columns in another order, with others between them.
    folder.write(
        "other.csv",
        table("pump state,note,y,x,colour", |colour, state, x, y| format!("{state},7 b,{y},{x},{colour}")),
    );
    let scores = ["words", "hand", "other"].map(|file| folder.run(&format!("eval words.dgp {file}.csv --json")).json());
    assert!(scores[0] == scores[1] && scores[0] == scores[2], "{scores:?}");
    let predicted = ["words", "hand"]
        .map(|file| folder.run(&format!("predict words.dgp {file}.csv --with-inputs")).succeeds().stdout);
    assert_eq!(predicted[0], predicted[1]);
    assert!(
        predicted[0].starts_with("colour=blue,colour=green,colour=red,x,pump state=off|on,mean"),
        "{}",
        predicted[0]
    );
    folder.run("plot words.dgp words.csv --out-dir pictures").succeeds();
    folder.run("explore words.dgp words.csv --out page.html").succeeds();
    folder.run("compress words.dgp --data words.csv --max-bytes 1500 --out small.dgp").succeeds();
    folder
        .run(
            &format!("crossval words.csv --target y {QUICK} --flow-times 0 --folds 2")
                .replace("--force --flow-time 0 ", ""),
        )
        .succeeds();
}

#[test]
fn inspect_names_the_words_and_the_snippet_takes_them() {
    let folder = trained();
    let categories = &folder.run("inspect model.dgp --json").json()["categories"];
    let expected = json!([
        {"name": "colour", "words": ["blue", "green", "red"], "first_input": 0, "inputs": 3},
        {"name": "pump state", "words": ["off", "on"], "first_input": 4, "inputs": 1},
    ]);
    assert_eq!(*categories, expected);
    let text = folder.run("inspect model.dgp").succeeds().stdout;
    for part in [
        "enum Colour {",
        "Self::Green => [0.0, 1.0, 0.0],",
        "enum PumpState {",
        "Self::On => [1.0],",
        "fn predict(colour: Colour, x: f32, pump_state: PumpState)",
        "let [colour_blue, colour_green, colour_red] = colour.inputs();",
        "let [pump_state_off_on] = pump_state.inputs();",
        "let x = [colour_blue, colour_green, colour_red, x, pump_state_off_on];",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn what_the_model_does_not_know_is_refused_by_row_and_cell() {
    let folder = trained();
    for (cell, instead) in [("violet", "red,"), ("Red", "red,"), ("2", "red,"), ("open", "on,")] {
        let column = if instead == "on," { "\"pump state\"" } else { "\"colour\"" };
        folder.write("new.csv", words().replacen(instead, &format!("{cell},"), 1));
        let outcome = folder.run("predict model.dgp new.csv");
        let known = if instead == "on," { "which are off, on" } else { "which are blue, green, red" };
        outcome.refused_with(&["new.csv: row ", column, &format!("{cell:?} is none of the words"), known]);
    }
    folder.write("new.csv", words().replacen("colour", "color", 1));
    folder.run("eval model.dgp new.csv").refused_with(&["no column \"colour\""]);
}

#[test]
fn text_that_makes_no_inputs_is_refused() {
    let folder = Folder::new();
    let refused = |text: String, options: &str, words: &[&str]| {
        folder.write("data.csv", text);
        folder.run(&format!("train data.csv --target y {QUICK} {options}")).refused_with(words);
    };
    let column = |name: &str, cell: &dyn Fn(usize) -> String| {
        let rows = (0..60).map(|i| format!("{},{},{}\n", cell(i), i * 37 % 101, i % 13));
        format!("{name},x,y\n{}", rows.collect::<String>())
    };
    refused(
        column("site", &|i| format!("site {i}")),
        "",
        &[
            "row 17 (line 18)",
            "\"site 16\" is one word too many; expected at most 16",
            "\"site\" (44 words too many)",
            "--ignore site",
        ],
    );
    refused(column("site", &|_| "here".to_owned()), "", &["column \"site\" is \"here\" in every row", "--ignore"]);
    refused(
        column("site", &|i| if i == 55 { "7" } else { ["a", "b"][i % 2] }.to_owned()),
        "",
        &["row 56", "first rows hold words"],
    );
    refused(column("site", &|i| if i == 55 { "a".to_owned() } else { i.to_string() }), "", &["row 56", "not a number"]);
    refused(column("p=q", &|i| ["a", "b"][i % 2].to_owned()), "", &["\"p=q\" holds words", "without the sign ="]);
    refused(
        words().lines().skip(1).map(|line| format!("{line}\n")).collect::<String>(),
        "--header no --target 3",
        &["column 0", "expected a header"],
    );
    refused(words(), "--strip-names", &["--strip-names", "\"colour\" holds words", "--ignore colour"]);
    // As many words as there may be, and words that look like numbers, truth or nothing.
    folder.write("data.csv", column("site", &|i| format!("site {}", i % 16)));
    let summary = folder.run(&format!("train data.csv --target y {QUICK} --json")).json();
    assert_eq!(summary["inputs"], 17);
    folder.write("data.csv", column("site", &|i| ["yes", "no", "none", "3 m", "<=5", "a|b"][i % 6].to_owned()));
    folder.run(&format!("train data.csv --target y {QUICK} --out odd.dgp")).succeeds();
    folder.run("eval odd.dgp data.csv").succeeds();
}

#[test]
fn missing_words_are_dropped_or_filled() {
    let folder = Folder::new();
    let gaps = words().replace("blue", "NA");
    folder.write("gaps.csv", &gaps);
    let train = |options: &str| folder.run(&format!("train gaps.csv --target y {QUICK} {options}"));
    train("").refused_with(&["\"colour\"", "missing value", "--missing drop"]);
    folder.write(
        "without.csv",
        gaps.lines().filter(|line| !line.contains("NA")).map(|line| format!("{line}\n")).collect::<String>(),
    );
    train("--missing drop --out dropped.dgp").succeeds();
    folder.run(&format!("train without.csv --target y {QUICK} --out without.dgp")).succeeds();
    assert_eq!(folder.read("dropped.dgp"), folder.read("without.dgp"));
    // The mean of an input that stands for a word is the share of the rows that hold it.
    folder.write("words.csv", words());
    folder.run(&format!("train words.csv --target y {QUICK}")).succeeds();
    let filled = folder.run("predict model.dgp gaps.csv --missing mean --with-inputs").succeeds();
    let inputs = folder.run("inspect model.dgp --json").json()["input"].clone();
    let means: Vec<f32> = (0..3).map(|input| inputs[input]["mean"].as_f64().unwrap() as f32).collect();
    let of_gaps =
        filled.stdout.lines().find(|line| line.starts_with(&format!("{:?},{:?},{:?}", means[0], means[1], means[2])));
    assert!(of_gaps.is_some(), "{means:?} {}", filled.stdout);
    assert!(filled.stderr.contains("20 missing cells are filled"), "{}", filled.stderr);
    train("--missing mean").succeeds();
}
