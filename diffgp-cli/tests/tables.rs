//! Arrays of NumPy and Parquet files: the same table trains the same model, byte for byte. `tests/tables/make.py` made them.

use std::fs;
use std::path::PathBuf;

use crate::runner::Folder;

const QUICK: &str = "--force --flow-time 0 --inducing 8 --iterations 12 --calibration none";

fn made(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/tables").join(name)
}

/// With all files that were made.
fn folder() -> Folder {
    let folder = Folder::new();
    for file in fs::read_dir(made("")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), folder.path(file.file_name().to_str().unwrap())).unwrap();
    }
    folder
}

/// Trains on both files with the same options, and compares models and scores.
fn same(folder: &Folder, csv: &str, options: &str, files: &[&str]) {
    folder.run(&format!("train {csv} {options} {QUICK} --out plain.dgp")).succeeds();
    let target = options.split_once("--target ").unwrap().1.split(' ').next().unwrap();
    let score = |file: &str| folder.run(&format!("eval plain.dgp {file} --target {target} --json")).json();
    let scored = score(csv);
    for file in files {
        folder.run(&format!("train {file} {options} {QUICK} --out other.dgp")).succeeds();
        assert!(folder.read("plain.dgp") == folder.read("other.dgp"), "{file}");
        assert_eq!(scored, score(file), "{file}");
    }
}

fn refused(folder: &Folder, file: &str, options: &str, words: &[&str]) {
    folder.run(&format!("train {file} {options} {QUICK}")).refused_with(&[&[file], words].concat());
}

#[test]
fn arrays_are_the_same_table() {
    let folder = folder();
    let arrays = ["rows.npy", "columns.npy", "single.npy", "big-endian.npy", "stored.npz"];
    same(&folder, "plain.csv", "--target 2", &arrays);
    same(&folder, "plain.csv", "--target 2", &["x-and-y.npz", "packed-columns.npz"]);
    same(&folder, "named.csv", "--target y", &["records.npy", "named.npz"]);
    same(&folder, "mixed.csv", "--target a --ignore site", &["mixed.npy"]);
    // Words are inputs, classes, True and False too, and groups.
    same(&folder, "mixed.csv", "--target a", &["mixed.npy"]);
    same(&folder, "mixed.csv", "--target site", &["mixed.npy"]);
    same(&folder, "mixed.csv", "--target on --ignore site", &["mixed.npy"]);
    same(&folder, "mixed.csv", "--target a --groups site --test-share 0.25", &["mixed.npy"]);
}

#[test]
fn x_and_y_go_by_their_names() {
    let folder = folder();
    folder.run(&format!("train plain.csv --target 2 {QUICK} --out plain.dgp")).succeeds();
    let trained = folder.run(&format!("train x-and-y.npz --target y {QUICK} --out named.dgp")).succeeds();
    assert!(folder.read("plain.dgp") == folder.read("named.dgp"));
    let note = "read with columns 0 to 1 from X, column 2 from y, without about";
    assert!(trained.stderr.contains(note), "{trained:?}");
    let [rows, both] =
        ["rows.npy --target 2", "x-and-y.npz --target y"].map(|file| folder.run(&format!("predict plain.dgp {file}")));
    assert_eq!((rows.stdout.lines().count(), &rows.stdout), (41, &both.stdout));
    refused(&folder, "x-and-y.npz", "--target z", &["no column \"z\"", "0 to 2", "X and y have no names"]);
}

#[test]
fn missing_numbers_are_nan() {
    let folder = folder();
    refused(&folder, "refused.npy", "--target 2 --ignore 1", &["row 30", "column 0", "\"NaN\" is a missing value"]);
    refused(&folder, "refused.npy", "--target 2 --ignore 0", &["row 30", "column 1", "\"-inf\" is not finite"]);
    let dropped = |options: &str| folder.run(&format!("train refused.npy --target 2 --ignore 1 {QUICK} {options}"));
    let note = dropped("--missing drop").succeeds().stderr;
    assert!(note.contains("1 rows with missing cells are left out"), "{note}");
    assert!(dropped("--missing mean").succeeds().stderr.contains("1 missing cells are filled"));
    refused(&folder, "rows.npy", "--target 2 --header yes", &["is a NumPy array", "leave out --header"]);
    refused(&folder, "rows.npy", "--target y", &["no column \"y\"", "0 to 2", "the array has no names"]);
}

#[test]
#[cfg(not(feature = "parquet"))]
fn parquet_is_named() {
    refused(&folder(), "named.parquet", "--target y", &["a Parquet file", "feature parquet", "CSV or .npy"]);
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::{QUICK, folder, refused, same};
    use crate::runner::Outcome;

    #[test]
    fn parquet_is_the_same_table() {
        let folder = folder();
        same(&folder, "named.csv", "--target y", &["named.parquet", "gzip.parquet", "lz4.parquet", "none.parquet"]);
        same(&folder, "mixed.csv", "--target a --ignore site", &["mixed.parquet"]);
        same(&folder, "mixed.csv", "--target a", &["mixed.parquet"]);
        same(&folder, "mixed.csv", "--target site", &["mixed.parquet"]);
        same(&folder, "mixed.csv", "--target on --ignore site", &["mixed.parquet"]);
        same(&folder, "mixed.csv", "--target a --groups site --test-share 0.25", &["mixed.parquet"]);
    }

    #[test]
    fn what_is_refused_is_found_by_row_group_and_row() {
        let folder = folder();
        let only = |column: &str| {
            let others = ["gap", "nan", "infinite", "when", "many"].into_iter().filter(|other| *other != column);
            format!("--target y --ignore {}", others.collect::<Vec<_>>().join(","))
        };
        let refuse = |column: &str, words: &[&str]| refused(&folder, "refused.parquet", &only(column), words);
        let place = "row 30 (row group 2)";
        refuse("gap", &[place, "\"gap\"", "\"null\" is a missing value", "--missing drop"]);
        refuse("nan", &[place, "\"nan\"", "\"NaN\" is not finite"]);
        refuse("infinite", &[place, "\"infinite\"", "\"inf\" is not finite"]);
        refuse("when", &["row 1 (row group 1)", "\"a timestamp\" is a date or a time", "\"when\" (40 dates or times)"]);
        refuse("many", &["row 1 (row group 1)", "\"a list\" is not read", "\"many\" (40 of another type)"]);
        let train = |options: &str| -> Outcome {
            folder.run(&format!("train refused.parquet {} {QUICK} {options}", only("gap"))).succeeds()
        };
        assert!(train("--missing drop").stderr.contains("1 rows with missing cells are left out"));
        assert!(train("--missing mean").stderr.contains("1 missing cells are filled"));
        refused(&folder, "zstd.parquet", "--target y", &["packed with ZSTD", "expected Snappy"]);
    }
}
