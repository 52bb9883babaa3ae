//! Data files as they come: what can be handled is, what cannot is refused with a sentence.

use crate::crossval::without_times;
use crate::runner::{Folder, Outcome};

/// A plain sparse Gaussian process in a few iterations.
const PLAIN: &str = "--force --flow-time 0 --inducing 8 --iterations 12";

fn train(folder: &Folder, content: impl AsRef<[u8]>, flags: &str) -> Outcome {
    folder.write("table.csv", content);
    folder.run(&format!("train table.csv --target y {PLAIN} {flags}"))
}

/// Rows a, b, y as text, from the numbers of the row.
fn rows(count: usize, row: impl Fn(f64, f64, f64) -> String) -> String {
    let number = |i: usize| {
        let (a, b) = ((i * 37 % 101) as f64 / 50.0 - 1.0, (i * 53 % 97) as f64 / 48.0 - 1.0);
        row(a, b, a * a + 0.3 * b)
    };
    (0..count).map(number).collect()
}

#[test]
fn every_way_to_write_the_same_table_gives_the_same_model() {
    let folder = Folder::new();
    let plain = rows(30, |a, b, y| format!("{a},{b},{y}\n"));
    train(&folder, format!("a,b,y\n{plain}"), "--out plain.dgp").succeeds();
    let same = |name: &str, content: String| {
        train(&folder, content, "").succeeds();
        assert_eq!(folder.read("plain.dgp"), folder.read("model.dgp"), "{name}");
    };
    same("byte order mark", format!("\u{feff}a,b,y\n{plain}"));
    same("CRLF", format!("a,b,y\n{plain}").replace('\n', "\r\n"));
    same("quotes", rows(30, |a, b, y| format!("\"{a}\",{b},\"{y}\"\n")).under_header("\"a\",\"b\",y\n"));
    same("blanks and empty lines", rows(30, |a, b, y| format!(" {a} ,\t{b}, {y}\n\n")).under_header(" a, b ,y\n"));
    same("no line break at the end", format!("a,b,y\n{plain}").trim_end().to_owned());
    same("exponents and signs", rows(30, |a, b, y| format!("{a:e},{b:+},{y:E}\n")).under_header("a,b,y\n"));
}

/// Puts a header in front.
trait UnderHeader {
    fn under_header(self, header: &str) -> String;
}

impl UnderHeader for String {
    fn under_header(mut self, header: &str) -> String {
        self.insert_str(0, header);
        self
    }
}

#[test]
fn files_that_are_no_tables() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    folder.run("train folder.csv --target y").refused_with(&["folder.csv", "directory"]);
    let refuse = |content: &[u8], words: &[&str]| {
        train(&folder, content, "").refused_with(&[&["table.csv"], words].concat());
    };
    refuse(b"", &["empty"]);
    refuse(b"\n\n\r\n", &["empty"]);
    refuse(b"a,b,y\n", &["no data rows"]);
    refuse(b"a,b,y\n1,2,3\n", &["1 training rows", "at least 2"]);
    refuse(b"\xff\xfea\0,\0y\0\n\0", &["no data rows"]);
    refuse(b"\x1f\x8b\x08\0", &["table.csv"]);
    refuse(b"a,b,y\n1,\xb02,3\n1,2,3\n", &["row 1 (line 2)", "\"b\"", "not a number"]);
}

#[test]
fn other_separators_and_decimal_marks_get_advice() {
    let folder = Folder::new();
    let refuse = |content: &str, words: &[&str]| train(&folder, content, "").refused_with(words);
    refuse("a;b;y\n1,5;2.5;3\n", &["decimal comma"]);
    refuse("a|b|y\n1|2|3\n", &["bars", "expected commas"]);
    refuse("a b y\n1 2 3\n", &["spaces", "expected commas"]);
    refuse("a,b,y\n1,2,3\n1,5,2,25,3,125\n", &["row 2 (line 3)", "6 cells", "decimals", "with a point"]);
    refuse("a,b,y\n\"1,5\",2,3\n", &["row 1", "\"a\"", "decimal comma", "point"]);
    refuse("a,b,y\n1,2,3,4.5\n", &["4 cells", "expected 3"]);
}

#[test]
fn cells_that_are_no_numbers() {
    let folder = Folder::new();
    let refuse = |cell: &str, words: &[&str]| {
        let table = format!("a,b,y\n1,2,3\n4,{cell},6\n");
        train(&folder, table, "").refused_with(&[&["table.csv", "row 2 (line 3)", "\"b\""], words].concat());
    };
    for cell in ["NaN", "nan", "inf", "-Infinity"] {
        refuse(cell, &["not finite"]);
    }
    for cell in ["", " ", "NA", "null", "?"] {
        refuse(cell, &["missing value"]);
    }
    refuse("1e39", &["3.4e38"]);
    refuse("0x10", &["not a number"]);
    refuse("12 %", &["not a number"]);
}

#[test]
fn a_quote_that_is_not_closed_does_not_swallow_rows() {
    let folder = Folder::with_model();
    let table = folder.read_text("data.csv").replace("\n", ",ok\n").replacen(",ok", ",note", 1);
    let line: Vec<&str> = table.lines().collect();
    let table = table.replacen(line[20], &line[20].replace(",ok", ",\"5 inch pipe"), 1);
    folder.write("table.csv", table);
    let words = ["table.csv: line 21, column 3", "close the quote"];
    folder.run("train table.csv --target y --ignore note --force").refused_with(&words);
    folder.run("eval model.dgp table.csv").refused_with(&words);
    folder.run("predict model.dgp table.csv").refused_with(&words);
}

#[test]
fn names_that_cannot_be_told_apart_from_each_other_or_from_data() {
    let folder = Folder::new();
    let refuse = |content: &str, words: &[&str]| train(&folder, content, "").refused_with(words);
    refuse("a,a,y\n1,2,3\n", &["columns 0 and 1", "both named \"a\""]);
    refuse("y,a,y\n1,2,3\n", &["columns 0 and 2", "both named \"y\""]);
    refuse(",a,y\n1,2,3\n", &["column 0", "no name", "--ignore 0"]);
    refuse("1,a,y\n1,2,3\n", &["line 1 mixes names and numbers", "column 1 is \"a\""]);
    // A name counts before an index: column "y" is there, so 2 is an index.
    let table = rows(30, |a, b, y| format!("{a},{b},{y}\n")).under_header("a,b,y\n");
    train(&folder, &table, "--out name.dgp").succeeds();
    train(&folder, &table, "--target 2 --out index.dgp").succeeds();
    assert_eq!(folder.read("name.dgp"), folder.read("index.dgp"));
}

#[test]
fn columns_and_targets_that_do_not_vary_are_warned_about() {
    let folder = Folder::new();
    let constant = train(&folder, rows(30, |a, _, y| format!("{a},7,{y}\n")).under_header("a,b,y\n"), "");
    let constant = constant.succeeds();
    assert!(constant.stderr.contains("warning: \"b\" does not vary"), "{constant:?}");
    let flat = train(&folder, rows(30, |a, b, _| format!("{a},{b},5\n")).under_header("a,b,y\n"), "").succeeds();
    assert!(flat.stderr.contains("warning: the target \"y\" does not vary"), "{flat:?}");
    let json = folder.run("eval model.dgp table.csv --json").json();
    assert!(json["rmse"].as_f64().unwrap() < 1e-3, "{json}");
    let nothing = train(&folder, "a,y\n1,2\n1,2\n1,3\n", "").succeeds();
    assert!(nothing.stderr.contains("\"a\" does not vary"), "{nothing:?}");
}

#[test]
fn rows_that_repeat_are_fine() {
    let folder = Folder::new();
    let table = "a,b,y\n1,2,3\n2,1,1\n0,0,2\n";
    let repeated = "1,2,3\n2,1,1\n0,0,2\n".repeat(12);
    let outcome = train(&folder, format!("{table}{repeated}"), "").succeeds();
    assert!(outcome.stderr.contains("3 inducing points instead of 8"), "{outcome:?}");
    folder.run("eval model.dgp table.csv").succeeds();
}

#[test]
fn magnitudes_that_32_bits_can_hold_and_those_they_cannot() {
    let folder = Folder::new();
    let table = |input: f64, target: f64| {
        rows(30, |a, b, y| format!("{},{b},{}\n", a * input, y * target)).under_header("a,b,y\n")
    };
    for (input, target) in [(1e30, 1.0), (1e-28, 1.0), (1.0, 1e17), (1.0, 1e-14), (1e20, 1e10)] {
        train(&folder, table(input, target), "").succeeds();
        let eval = folder.run("eval model.dgp table.csv --json").json();
        let relative = eval["rmse"].as_f64().unwrap() / target;
        assert!(relative < 0.5, "inputs {input:e}, targets {target:e}: {eval}");
    }
    train(&folder, table(1e33, 1.0), "").refused_with(&["table.csv: \"a\"", "1e-30 to 1e30", "rescale"]);
    train(&folder, table(1e-33, 1.0), "").refused_with(&["table.csv: \"a\"", "1e-30 to 1e30", "rescale"]);
    train(&folder, table(1.0, 1e30), "").refused_with(&["table.csv: the target \"y\"", "1e-15 to 1e18", "rescale"]);
    train(&folder, table(1.0, 1e-20), "").refused_with(&["table.csv: the target \"y\"", "1e-15 to 1e18"]);
    folder.write("table.csv", table(1.0, 1e30));
    let crossval = "crossval table.csv --target y --folds 2 --flow-times 0 --inducing 8 --iterations 12";
    folder.run(crossval).refused_with(&["table.csv: the target \"y\"", "rescale"]);
}

#[test]
fn an_enormous_input_at_prediction_is_out_of_range_and_not_a_nan() {
    let folder = Folder::with_model();
    folder.write("far.csv", "a,b\n1e30,0\n0,-1e30\n");
    let outcome = folder.run("predict model.dgp far.csv").succeeds();
    assert!(outcome.stderr.contains("2 of 2 rows lie outside"), "{outcome:?}");
    assert!(!outcome.stdout.contains("NaN") && !outcome.stdout.contains("inf"), "{outcome:?}");
    folder.write("far.csv", "a,b,y\n1e30,0,0\n-3e38,3e38,0\n");
    folder.run("predict model.dgp far.csv").refused_with(&["far.csv: row 2", "overflowed"]);
    folder.run("eval model.dgp far.csv").refused_with(&["far.csv: row 2", "overflowed"]);
}

#[test]
fn classes_are_words_or_whole_numbers() {
    let folder = Folder::new();
    let trained = |classes: [&str; 2], flags: &str| {
        let table = rows(40, |a, b, y| format!("{a},{b},{}\n", classes[usize::from(y > 0.4)])).under_header("a,b,y\n");
        train(&folder, table, flags).succeeds();
        folder.read("model.dgp")
    };
    let model = trained(["0", "1"], "--task classification --strip-names");
    assert_eq!(trained(["0.0", "1.0"], "--task classification --strip-names"), model);
    assert_eq!(trained(["down", "up"], "--strip-names"), model);
    assert_eq!(trained(["-1", "3"], "--task classification --strip-names"), model);
    let table = rows(40, |a, b, y| format!("{a},{b},{}\n", if y > 0.4 { "up" } else { "down" }));
    let noted = train(&folder, table.under_header("a,b,y\n"), "").succeeds().stderr;
    assert!(noted.contains("note: the target holds words; predicting 2 classes"), "{noted}");
}

#[test]
fn rare_and_missing_classes_are_told() {
    let folder = Folder::new();
    let table = rows(40, |a, b, y| format!("{a},{b},{}\n", if y > 0.71 { "rare" } else { "usual" }));
    let counted = table.lines().enumerate().filter(|(_, line)| line.ends_with("rare"));
    let rare: Vec<String> = counted.map(|(row, _)| row.to_string()).collect();
    assert!((1..10).contains(&rare.len()), "{rare:?}");
    folder.write("splits.txt", format!("{}\n0\n", rare.join(" ")));
    let table = table.under_header("a,b,y\n");
    let told = |flags: &str| train(&folder, &table, flags).succeeds().stderr;
    assert!(told("").contains(&format!("few rows are of the class \"rare\" ({})", rare.len())));
    let missing = told("--test-rows splits.txt --split 0");
    assert!(missing.contains("no training row is of the class \"rare\""), "{missing}");
    assert!(missing.contains("no held-out row is of the class \"usual\""), "{missing}");
    let crossval = "crossval table.csv --target y --flow-times 0 --test-rows splits.txt --inducing 8 --iterations 12";
    let crossval = folder.run(crossval).succeeds().stderr;
    assert!(crossval.contains("1 of 2 splits have no training row of the class \"rare\""), "{crossval}");
    assert!(crossval.contains("1 of 2 splits have no held-out row of the class \"usual\""), "{crossval}");
}

#[test]
fn columns_can_be_left_out() {
    let folder = Folder::new();
    let number = |text: String| text.lines().enumerate().map(|(i, line)| format!("{i},{line}\n")).collect::<String>();
    let table = rows(30, |a, b, y| format!("{a},{b},{y}\n")).under_header("a,b,y\n");
    let noted = number(rows(30, |a, b, y| format!("{a},at noon,{b},{y}\n"))).under_header(",a,note,b,y\n");
    train(&folder, &table, "--out plain.dgp").succeeds();
    let expected = folder.run("predict plain.dgp table.csv").succeeds().stdout;
    train(&folder, &noted, "").refused_with(&["column 0", "no name", "--ignore 0"]);
    train(&folder, &noted, "--ignore 0").refused_with(&["\"note\"", "\"at noon\"", "in every row"]);
    train(&folder, &noted, "--ignore 0,note").succeeds();
    assert_eq!(folder.read("plain.dgp"), folder.read("model.dgp"));
    // By name, with the columns still there, in another place, or gone.
    assert_eq!(folder.run("predict model.dgp table.csv").succeeds().stdout, expected);
    folder.run("eval model.dgp table.csv").succeeds();
    folder.write("plain.csv", &table);
    assert_eq!(folder.run("predict model.dgp plain.csv").succeeds().stdout, expected);
    // The run directory remembers.
    folder.run("train table.csv --config model.run/config.toml --out again.dgp --force").succeeds();
    assert_eq!(folder.read("again.dgp"), folder.read("model.dgp"));
    let crossval = "crossval table.csv --target y --folds 2 --flow-times 0 --inducing 8 --iterations 6 --json";
    let plain = without_times(&folder.run(&crossval.replace("table", "plain")).json());
    assert_eq!(without_times(&folder.run(&format!("{crossval} --ignore note,0")).json()), plain);
    train(&folder, &noted, "--ignore 0,y").refused_with(&["target \"y\"", "--ignore"]);
    train(&folder, &noted, "--ignore 0,5").refused_with(&["no column \"5\"", "0 to 4"]);
    train(&folder, &noted, "--ignore 0,a,b,note").refused_with(&["no column is left"]);
}

#[test]
fn columns_are_left_out_of_files_without_names_by_every_command() {
    let folder = Folder::new();
    let plain = rows(30, |a, b, y| format!("{a},{b},{y}\n"));
    folder.write("plain.csv", &plain);
    folder.run(&format!("train plain.csv --target 2 {PLAIN} --out plain.dgp")).succeeds();
    folder.write("dated.csv", rows(30, |a, b, y| format!("2026-11-17,{a},at noon,{b},{y}\n")));
    let trained = folder.run(&format!("train dated.csv --target 4 {PLAIN} --ignore 0,2")).succeeds();
    assert_eq!(folder.read("plain.dgp"), folder.read("model.dgp"));
    // What it says is next works as it is said.
    let commands = trained.stdout.lines().filter_map(|line| line.trim().strip_prefix("diffgp "));
    let ran: Vec<Outcome> = commands.map(|command| folder.run(command).succeeds()).collect();
    assert_eq!(ran.len(), 2, "{trained:?}");
    let known = "--target 4 --ignore 0,2";
    let expected = folder.run("predict plain.dgp plain.csv --target 2").succeeds().stdout;
    assert_eq!(folder.run(&format!("predict model.dgp dated.csv {known}")).succeeds().stdout, expected);
    folder.run(&format!("plot model.dgp dated.csv {known}")).succeeds();
    folder.run(&format!("compress model.dgp --data dated.csv {known} --tolerance 0.1 --out small.dgp")).succeeds();
    assert!(folder.run("device --help").succeeds().stdout.contains("--ignore <"));
    let refused = |flags: &str, words: &[&str]| {
        folder.run(&format!("predict model.dgp dated.csv {flags}")).refused_with(words);
    };
    refused("--target 4 --ignore 0 --header no", &["3 columns beside the target", "takes 2 inputs", "--ignore"]);
    refused("--target 4 --ignore 0,2,5", &["no column \"5\""]);
    folder.write("named.csv", plain.under_header("a,b,y\n"));
    folder.run(&format!("train named.csv --target y {PLAIN}")).succeeds();
    folder.run("predict model.dgp named.csv --ignore b").refused_with(&["--ignore leaves out column \"b\""]);
    folder.run("eval model.dgp named.csv --ignore y").refused_with(&["--ignore leaves out column \"y\""]);
}
