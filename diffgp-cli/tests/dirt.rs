//! Data that can be trained on and looks wrong: what `train` says of it, with rows and flags. What is found in which data is
//! tested with the trainer.

use std::fmt::Write as _;

use crate::runner::Folder;

const QUICK: &str = "--force --flow-time 0 --inducing 8 --iterations 5 --calibration none";

/// A hundred rows of a, b and y, through `change`.
fn table(header: &str, change: impl Fn(usize, &mut [f64; 3])) -> String {
    let scattered = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 10_007) as f64 / 10_007.0;
    let mut text = format!("{header}\n");
    for row in 0..100 {
        let (a, b) = (scattered(row, 1), scattered(row * 31, 2));
        let mut cells = [a, b, (6.0 * a).sin() + b + 0.4 * scattered(row * 17, 5)];
        change(row, &mut cells);
        let cells = cells.map(|cell| cell.to_string());
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

#[test]
fn every_kind_is_told_with_rows_values_and_what_helps() {
    let folder = Folder::new();
    let files: [(&str, String, &str, &[&str]); 9] = [
        (
            "sentinel",
            table("a,b,y", |row, cells| cells[1] = if row % 30 == 4 { -999.0 } else { cells[1] }),
            "",
            &["\"b\" is -999 in 4 rows (rows 5, 35, 65, 95)", "write NA", "--missing drop"],
        ),
        (
            "far-off",
            table("a,b,y", |row, cells| cells[2] = if row == 7 { 1e6 } else { cells[2] }),
            "",
            &["1 value of the target \"y\" is far from all others", "(row 8: 1000000)"],
        ),
        (
            "skewed",
            table("a,b,y", |row, cells| cells[2] = (if row % 9 == 0 { 3.0 } else { 2.0 } * cells[2]).exp()),
            "",
            &["the target \"y\" is positive and lopsided", "logarithm"],
        ),
        (
            "duplicates",
            table("a,b,y", |_, _| ()) + &table("", |_, _| ()).lines().skip(1).take(3).collect::<Vec<_>>().join("\n"),
            "",
            &["3 of 103 rows repeat an earlier row", "row 101 is row 1", "leave the copies out"],
        ),
        (
            "held-out-twins",
            table("a,b,y", |_, _| ()) + &table("", |_, _| ()).lines().skip(1).take(3).collect::<Vec<_>>().join("\n"),
            "--test-last 0.05 --blocks 5",
            &["3 of 5 held-out rows have a twin among the training rows", "row 102 is row 2", "--test-groups"],
        ),
        (
            "copy",
            table("a,b,y", |_, cells| cells[1] = 3.0 - 2.0 * cells[0]),
            "",
            &["\"b\" is nearly a linear function of \"a\"", "--ignore b leaves it out"],
        ),
        (
            "leak",
            table("a,price now,y", |_, cells| cells[1] = cells[2]),
            "",
            &["\"price now\" alone determines the target \"y\"", "If not, --ignore 'price now' leaves it out"],
        ),
        (
            "like-target",
            table("a,y2,y1", |row, cells| cells[1] = cells[2] + 0.3 * (row as f64 * 5.1).sin()),
            "",
            &["\"y2\" looks like a second target", "--ignore y2", "--target y1,y2 predicts both"],
        ),
        (
            "in-order",
            table("minutes,b,y", |row, cells| {
                (cells[0], cells[2]) = (5.0 * row as f64, (row as f64 / 9.0).sin() + 0.1 * cells[1])
            }),
            "--test-share 0.2",
            &["\"minutes\" counts on from row to row", "--test-last 0.2", "--blocks 20"],
        ),
    ];
    for (kind, text, options, words) in files {
        folder.write("data.csv", &text);
        let target = text.lines().next().unwrap().rsplit(',').next().unwrap();
        let outcome = folder.run(&format!("train data.csv --target {target} {QUICK} {options} --json"));
        let summary = outcome.json();
        let warnings = summary["warnings"].as_array().unwrap();
        let of_kind: Vec<_> = warnings.iter().filter(|warning| warning["kind"] == kind).collect();
        assert_eq!(of_kind.len(), 1, "{kind}: {warnings:?}");
        // Copies across the split are copies within the data.
        assert_eq!(warnings.len(), if kind == "held-out-twins" { 2 } else { 1 }, "{warnings:?}");
        let said = of_kind[0]["text"].as_str().unwrap();
        assert!(outcome.stderr.contains(&format!("warning: {said}")), "{}", outcome.stderr);
        words.iter().for_each(|word| assert!(said.contains(word), "{kind}: no {word:?} in {said:?}"));
    }
}

#[test]
fn clean_data_and_many_columns_make_few_lines() {
    let folder = Folder::new();
    folder.write("clean.csv", table("a,b,y", |_, _| ()));
    let outcome = folder.run(&format!("train clean.csv --target y {QUICK} --test-share 0.2 --json"));
    assert_eq!(outcome.json()["warnings"], serde_json::json!([]));
    assert!(!outcome.stderr.contains("warning: \""), "{}", outcome.stderr);

    // Thirty columns with the same fault: five lines, and how many more.
    let header: Vec<String> = (0..30).map(|column| format!("s{column}")).collect();
    let rows = (0..60_i64).map(|row| {
        let cell = |column: i64| {
            if row % 20 == 3 { -999 } else { (row * (7919 + 13 * column) + row * row * (column + 3)) % 101 }
        };
        (0..30).map(|column| cell(column).to_string()).collect::<Vec<_>>().join(",")
            + &format!(",{}\n", (row * row * 7 + row * 3) % 13)
    });
    folder.write("wide.csv", header.join(",") + ",y\n" + &rows.collect::<String>());
    let outcome = folder.run(&format!("train wide.csv --target y {QUICK} --json"));
    let of_sentinels = outcome.stderr.lines().filter(|line| line.contains("is -999 in 3 rows")).count();
    assert_eq!(of_sentinels, 5, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the same of 25 more columns"), "{}", outcome.stderr);
    assert_eq!(outcome.json()["warnings"].as_array().unwrap().len(), 30);
}
