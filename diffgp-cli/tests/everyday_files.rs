//! Files as loggers, spreadsheets and programs write them. What is understood gives the model of the plain table, byte for
//! byte; the rest is refused with what would help. docs/data.md has the list.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use crate::runner::Folder;

const QUICK: &str = "--force --flow-time 0 --inducing 8 --iterations 12 --calibration none";

/// Forty rows of three numbers.
fn rows() -> impl Iterator<Item = [f64; 3]> {
    (0..40).map(|i| {
        let (a, b) = (f64::from(i * 37 % 101) / 50.0 - 1.0, f64::from(i * 53 % 97) / 48.0 - 1.0);
        [a, b, a * a + 0.3 * b]
    })
}

fn table(header: &str, row: impl Fn([f64; 3]) -> String) -> String {
    rows().fold(header.to_owned(), |text, cells| text + &row(cells))
}

fn separated(separator: &str) -> String {
    table(&format!("a{separator}b{separator}y\n"), |[a, b, y]| format!("{a}{separator}{b}{separator}{y}\n"))
}

fn with_commas(separator: &str) -> String {
    separated(separator).replace('.', ",")
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(to_bytes).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn understood_as_the_plain_table() {
    let plain = separated(",");
    let rounded = |a: f64| if a > 0.0 { 1 } else { 0 };
    let switch = |one: &str, zero: &str| {
        table("a,b,y\n", |[a, b, y]| format!("{},{b},{y}\n", if rounded(a) == 1 { one } else { zero }))
    };
    let degrees = |text: String| text.replacen('a', "T °C", 1);
    // The file, what it is equal to, and what a note says of it.
    let files: [(&str, Vec<u8>, String, &[&str]); 18] = [
        ("byte order mark", format!("\u{feff}{plain}").into(), plain.clone(), &[]),
        ("CRLF", plain.replace('\n', "\r\n").into(), plain.clone(), &[]),
        ("CR", plain.replace('\n', "\r").into(), plain.clone(), &[]),
        ("quotes", table("\"a\",\"b\",y\n", |[a, b, y]| format!("\"{a}\",{b},\"{y}\"\n")).into(), plain.clone(), &[]),
        ("empty lines", plain.replace('\n', "\n\n").into(), plain.clone(), &[]),
        ("no line break at the end", plain.trim_end().into(), plain.clone(), &[]),
        ("semicolons", separated(";").into(), plain.clone(), &["semicolons between columns"]),
        (
            "a spreadsheet's CSV in Germany or France",
            with_commas(";").into(),
            plain.clone(),
            &["semicolons between columns, decimal commas"],
        ),
        ("tabs", separated("\t").into(), plain.clone(), &["tabs between columns"]),
        ("tabs and decimal commas", with_commas("\t").into(), plain.clone(), &["tabs", "decimal commas"]),
        ("comments", format!("# logger 7\n{}# end\n", plain).into(), plain.clone(), &[]),
        ("numpy.savetxt", format!("# {}", separated(",").replace(',', ", ")).into(), plain.clone(), &[]),
        (
            "Unicode text of a spreadsheet",
            utf16(&separated("\t"), u16::to_le_bytes),
            plain.clone(),
            &["UTF-16", "tabs"],
        ),
        ("UTF-16, big-endian", utf16(&plain, u16::to_be_bytes), plain.clone(), &["UTF-16"]),
        (
            "Windows-1252",
            degrees(plain.clone()).chars().map(|c| c as u8).collect(),
            degrees(plain.clone()),
            &["Windows-1252"],
        ),
        ("gzip", gzip(&plain), plain.clone(), &["gzip"]),
        ("True and False", switch("True", "False").into(), switch("1", "0"), &[]),
        ("yes and no", switch("yes", "no").into(), switch("1", "0"), &[]),
    ];
    let folder = Folder::new();
    for (name, file, equal, notes) in files {
        folder.write("plain.csv", equal);
        folder.run(&format!("train plain.csv --target y {QUICK} --out plain.dgp")).succeeds();
        folder.write("file.csv", file);
        let trained = folder.run(&format!("train file.csv --target y {QUICK} --out model.dgp")).succeeds();
        assert_eq!(folder.read("plain.dgp"), folder.read("model.dgp"), "{name}");
        notes.iter().for_each(|note| assert!(trained.stderr.contains(note), "{name}: {}", trained.stderr));
        let scores = ["plain.csv", "file.csv"].map(|file| folder.run(&format!("eval model.dgp {file} --json")).json());
        assert_eq!(scores[0], scores[1], "{name}");
    }
}

#[test]
fn refused_with_what_would_help() {
    let with = |cells: &dyn Fn(usize) -> String| {
        let lines = rows().enumerate().map(|(i, [a, b, y])| format!("{},{a},{b},{y}\n", cells(i)));
        lines.fold("extra,a,b,y\n".to_owned(), |text, line| text + &line)
    };
    let files: [(&str, Vec<u8>, &[&str]); 16] = [
        (
            "dates",
            with(&|i| format!("2024-03-01 {:02}:00:00", i % 24)).into(),
            &["40 dates or times", "--ignore extra"],
        ),
        (
            "a text column of names",
            with(&|i| format!("site {i}")).into(),
            &["\"extra\" (24 words too many)", "--ignore extra"],
        ),
        (
            "missing cells",
            with(&|i| if i % 4 == 0 { "NA".to_owned() } else { i.to_string() }).into(),
            &["\"extra\" (10 missing)", "fill it in", "--missing drop or mean"],
        ),
        ("thousands", with(&|i| format!("\"1,{i:03},000\"")).into(), &["thousands separators", "1234.5"]),
        ("quoted decimal commas", with(&|i| format!("\"{i},5\"")).into(), &["decimal comma"]),
        ("infinities", with(&|_| "Infinity".to_owned()).into(), &["not finite"]),
        ("sensor with a unit", with(&|i| format!("{i} mV")).into(), &["one word too many", "--ignore extra"]),
        ("index of a data frame", with(&|i| i.to_string()).replacen("extra", "", 1).into(), &["no name", "--ignore 0"]),
        ("comma at the end of lines", separated(",").replace('\n', ",\n").into(), &["no name", "--ignore 3"]),
        ("a line that was cut", format!("{}1,2", separated(",")).into(), &["2 cells", "expected 3"]),
        ("bars", separated("|").into(), &["bars"]),
        ("blanks", separated(" ").into(), &["spaces"]),
        ("a workbook", b"PK\x03\x04\x14\0\0\0xl/workbook.xml".to_vec(), &["Excel workbook", "as CSV"]),
        ("an archive", b"PK\x03\x04\x14\0\0\0data.csv".to_vec(), &["zip archive", "unpack"]),
        ("Parquet that is cut, or not compiled in", b"PAR1\x15\x04".to_vec(), &["Parquet"]),
        ("an array that is cut", b"\x93NUMPY\x01\0v\0".to_vec(), &["within its header", "cut short"]),
    ];
    let folder = Folder::new();
    for (name, file, words) in files {
        folder.write("file.csv", file);
        let outcome = folder.run(&format!("train file.csv --target y {QUICK}"));
        assert!(words.iter().all(|word| outcome.stderr.contains(word)), "{name}: {}", outcome.stderr);
        outcome.refused_with(&["file.csv"]);
    }
}

#[test]
fn missing_cells_are_dropped_or_filled() {
    let folder = Folder::new();
    let plain = separated(",");
    // Every fourth row lacks its first cell.
    let gaps = |fill: &dyn Fn(&str) -> Option<String>| {
        let line = |(i, line): (usize, &str)| {
            let (first, rest) = line.split_once(',').unwrap();
            if i % 4 == 1 { Some(format!("{},{rest}\n", fill(first)?)) } else { Some(format!("{line}\n")) }
        };
        plain.lines().enumerate().filter_map(line).collect::<String>()
    };
    folder.write("gaps.csv", gaps(&|_| Some("NA".to_owned())));
    folder.write("without.csv", gaps(&|_| None));
    let train = |file: &str, flags: &str| folder.run(&format!("train {file} --target y {QUICK} {flags}"));
    train("gaps.csv", "").refused_with(&["\"a\"", "--missing drop"]);
    train("without.csv", "--out without.dgp").succeeds();
    let dropped = train("gaps.csv", "--missing drop --out dropped.dgp").succeeds();
    assert!(dropped.stderr.contains("10 rows with missing cells are left out"), "{dropped:?}");
    assert_eq!(folder.read("without.dgp"), folder.read("dropped.dgp"));
    let scores = ["without.csv", "gaps.csv --missing drop"]
        .map(|file| folder.run(&format!("eval dropped.dgp {file} --json")).json());
    assert_eq!(scores[0], scores[1]);
    // A prediction for a missing cell is that for the mean of the rows that were trained on.
    let inspect = folder.run("inspect dropped.dgp --json").json();
    let mean = inspect["input"][0]["mean"].as_f64().unwrap();
    folder.write("filled.csv", gaps(&|_| Some(format!("{mean}"))));
    let [filled, given] = ["filled.csv", "gaps.csv --missing mean"]
        .map(|file| folder.run(&format!("predict dropped.dgp {file}")).succeeds());
    assert_eq!((&filled.stdout, filled.stdout.lines().count()), (&given.stdout, 41));
    assert_eq!(given.stderr.matches("10 missing cells are filled").count(), 1, "{given:?}");
    train("gaps.csv", "--missing mean").succeeds();
    folder.run("predict dropped.dgp gaps.csv --missing drop").refused_with(&["every row", "--missing mean"]);
    folder.write("splits.txt", "1 2 3\n");
    train("gaps.csv", "--missing drop --test-rows splits.txt").refused_with(&["numbers the rows", "--test-share"]);
}
