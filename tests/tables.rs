//! Files of `tests/tables`, damaged: whatever is changed or cut, they are read or refused, without a crash.

use std::fs;
use std::path::PathBuf;

use diffgp_train::data::{Dataset, Header, TargetKind};

fn made() -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tables");
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_binary =
        |path: &PathBuf| path.extension().is_some_and(|kind| ["npy", "npz", "parquet"].iter().any(|k| kind == *k));
    let mut paths: Vec<PathBuf> = entries.filter(is_binary).collect();
    paths.sort();
    paths
}

/// Whether a file of these bytes is a table.
fn is_read(folder: &tempfile::TempDir, bytes: &[u8]) -> bool {
    let path = folder.path().join("table");
    fs::write(&path, bytes).unwrap();
    match Dataset::read_file(&path, "0", Header::Detect, TargetKind::Detect) {
        Ok(data) => {
            assert!((1..=40).contains(&data.rows()), "{} rows", data.rows());
            assert!((0..data.rows()).all(|row| data.input_row(row).iter().all(|x| x.is_finite())));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn cut_tables_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let paths = made();
    assert!(paths.len() >= 16, "{paths:?}");
    for path in paths {
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            assert!(!is_read(&folder, &whole[..length]), "{}: {length} of {} bytes", path.display(), whole.len());
        }
    }
}

#[test]
fn changed_tables_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut read, mut refused) = (0, 0);
    for path in made() {
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            // One bit, or all.
            let mut bytes = whole.clone();
            bytes[at] ^= if at % 2 == 0 { 0x01 } else { 0xff };
            *(if is_read(&folder, &bytes) { &mut read } else { &mut refused }) += 1;
        }
    }
    // Some bytes are numbers, or what a table does not need; without Parquet there are fewer.
    assert!(read > 2_000 && refused > 5_000, "{read} read, {refused} refused");
}
