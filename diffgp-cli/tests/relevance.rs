//! What inputs are to a model: against `eval` on files that were shuffled by hand; and inputs that are left out by it.

use std::fmt::Write as _;

use crate::runner::Folder;

const QUICK: &str = "--force --flow-time 0 --inducing 12 --iterations 40";
const EXACT: &str = "--force --flow-time 0 --calibration none";

/// 160 rows: y depends much on a, less on b, and not on c.
fn rows() -> Vec<[f64; 4]> {
    let scattered = |row: u64, column: u64| {
        let mut word = (4 * row + column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for shift in [30, 27, 31] {
            word = (word ^ (word >> shift)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
        (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let row = |row: u64| {
        let [a, b, c, noise] = [1, 2, 3, 4].map(|column| scattered(row, column));
        [a, b, c, (3.0 * a).sin() + 0.4 * b + 0.1 * noise]
    };
    (0..160).map(row).collect()
}

fn table(rows: &[[f64; 4]]) -> String {
    rows.iter().fold("a,b,c,y\n".to_owned(), |mut text, [a, b, c, y]| {
        let _ = writeln!(text, "{a},{b},{c},{y}");
        text
    })
}

#[test]
fn losses_are_those_of_files_shuffled_by_hand() {
    let folder = Folder::new();
    folder.write("data.csv", table(&rows()));
    let outcome = folder.run(&format!("train data.csv --target y {QUICK} --test-last 0.25 --json"));
    let summary = outcome.json();
    let relevance = summary["relevance"].as_array().unwrap();
    let of_eval = |file: &str| {
        let figures = folder.run(&format!("eval model.dgp {file} --deterministic --json")).json();
        figures["log_likelihood"].as_f64().unwrap()
    };
    // The last 40 rows; each gets the input of the row 20, and 13, further on.
    let held_out = rows()[120..].to_vec();
    folder.write("plain.csv", table(&held_out));
    let before = of_eval("plain.csv");
    for (column, name) in ["a", "b", "c"].into_iter().enumerate() {
        let after = [20, 13].map(|shift| {
            let mut shuffled = held_out.clone();
            (0..40).for_each(|row| shuffled[row][column] = held_out[(row + shift) % 40][column]);
            folder.write("shuffled.csv", table(&shuffled));
            of_eval("shuffled.csv")
        });
        let expected = before - 0.5 * (after[0] + after[1]);
        let found = relevance[column]["loss"].as_f64().unwrap();
        assert_eq!(relevance[column]["column"], name);
        assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{name}: {found} for {expected}");
    }
    let loss = |column: usize| relevance[column]["loss"].as_f64().unwrap();
    assert!(loss(0) > loss(1) && loss(1) > loss(2) && loss(2).abs() < 0.1, "{relevance:?}");
    let inspected = folder.run("inspect model.dgp --json").json();
    for (column, of) in relevance.iter().enumerate() {
        assert_eq!(of["sensitivity"], inspected["input"][column]["sensitivity"]);
        assert!(of["flow_sensitivity"].is_null() && inspected["input"][column]["flow_sensitivity"].is_null());
    }
    let sensitivity = |column: usize| relevance[column]["sensitivity"].as_f64().unwrap();
    assert!(sensitivity(0) > sensitivity(1) && sensitivity(1) > sensitivity(2), "{relevance:?}");
    let text = folder.run("inspect model.dgp").succeeds().stdout;
    assert!(text.contains("deviation  sensitivity\n") && text.contains("one over the length-scale"), "{text}");
    let text =
        folder.run(&format!("train data.csv --target y {QUICK} --test-last 0.25 --out told.dgp")).succeeds().stdout;
    assert!(text.contains("inputs that matter, by the nats per row lost if shuffled: a "), "{text}");
    let report = folder.read_text("told.run/report.html");
    assert!(report.contains("nats per row lost, if shuffled"));
}

#[test]
fn inputs_that_tell_nothing_are_left_out() {
    let folder = Folder::new();
    // And a column of words that tells nothing, which goes as a whole, and a copy, of which one stays.
    let with_more = rows().iter().enumerate().fold("a,b,c,note,a2,y\n".to_owned(), |mut text, (row, [a, b, c, y])| {
        let _ = writeln!(text, "{a},{b},{c},{},{a},{y}", ["x", "y", "z"][(row * row * 5 + row) % 3]);
        text
    });
    folder.write("data.csv", with_more);
    let outcome = folder.run(&format!("train data.csv --target y {EXACT} --test-last 0.25 --select --json"));
    let summary = outcome.json();
    let selection = &summary["selection"];
    let dropped: Vec<&str> =
        selection["dropped"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(dropped.contains(&"c") && dropped.contains(&"note") && !dropped.contains(&"b"), "{selection}");
    assert!(dropped.contains(&"a2") && !dropped.contains(&"a"), "{selection}");
    let [cost, error] = ["cost", "cost_se"].map(|key| selection[key].as_f64().unwrap());
    assert!(cost < error.max(0.01), "{selection}");
    assert_eq!(selection["rows"], 24);
    assert_eq!(summary["inputs"], 7 - 3 - dropped.len() + 1, "{summary}");
    assert!(outcome.stderr.contains("nats per row lost, on 24 rows"), "{}", outcome.stderr);
    // The model of the file without those columns; what it was trained with says so.
    let ignored = dropped.join(",");
    folder
        .run(&format!("train data.csv --target y {EXACT} --test-last 0.25 --ignore {ignored} --out without.dgp"))
        .succeeds();
    assert_eq!(folder.read("model.dgp"), folder.read("without.dgp"));
    assert!(folder.read_text("model.run/config.toml").contains(&format!("ignore = \"{ignored}\"")));
    folder.run("eval model.dgp data.csv --test-last 0.25").succeeds();
    let plain = folder.run(&format!("train data.csv --target y {EXACT} --json --out plain.dgp")).json();
    assert!(plain["selection"].is_null());
}

#[test]
fn what_cannot_be_selected_is_refused() {
    let folder = Folder::new();
    folder.write("few.csv", table(&rows()[..49]));
    folder.run("train few.csv --target y --select").refused_with(&["--select", "49 rows", "expected 50"]);
    folder.write("bare.csv", table(&rows()).lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    folder.run("train bare.csv --target 3 --select").refused_with(&["--select", "no header"]);
}

#[test]
fn more_inputs_than_a_model_has_are_ranked() {
    let folder = Folder::new();
    let names: Vec<String> = (0..70).map(|column| format!("s{column}")).collect();
    let wide = rows().iter().enumerate().fold(names.join(",") + ",y\n", |mut text, (row, [a, b, _, y])| {
        let cell = |column: usize| match column {
            66 => *a,
            67 => *b,
            column => ((row * 7919 + column * column * 31 + row * column * 17) % 997) as f64,
        };
        let cells: Vec<String> = (0..70).map(|column| cell(column).to_string()).collect();
        let _ = writeln!(text, "{},{y}", cells.join(","));
        text
    });
    folder.write("wide.csv", wide);
    let refused = folder.run(&format!("train wide.csv --target y {QUICK}"));
    let advice = refused.stderr.split_once("--ignore ").unwrap().1.split(' ').next().unwrap().to_owned();
    refused.refused_with(&["70 inputs; expected at most 64", "rank correlation, s66, ", "--select of train"]);
    assert_eq!(advice.split(',').count(), 6, "{advice}");
    let summary = folder.run(&format!("train wide.csv --target y {QUICK} --ignore {advice} --json")).json();
    assert_eq!(summary["inputs"], 64);
    let outcome = folder.run(&format!("train wide.csv --target y {QUICK} --select --json --out few.dgp"));
    let summary = outcome.json();
    assert!(summary["inputs"].as_u64().unwrap() < 64, "{summary}");
    assert!(outcome.stderr.contains("the 64 inputs that go most with the target"), "{}", outcome.stderr);
}
