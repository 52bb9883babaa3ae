//! What the fuzz targets check, on the checked-in corpus: seeds, and every input that once was a finding.

#![allow(unreachable_pub, reason = "the files are modules of a library too")]

#[path = "../diffgp-infer/tests/model.rs"]
pub(crate) mod model;
#[path = "../diffgp-infer/tests/repair.rs"]
pub(crate) mod repair;
#[path = "../fuzz/src/table.rs"]
mod table;

use std::fs;
use std::path::PathBuf;

use diffgp_train::aligned::AlignedBytes;

/// The inputs of a fuzz target, by name.
fn corpus(target: &str) -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(&directory).expect("every target has a corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    paths
}

/// How far each input of a target of models gets.
fn reached(target: &str) -> Vec<model::Reached> {
    let read = |path: PathBuf| AlignedBytes::new(&fs::read(path).expect("a readable input"));
    corpus(target).into_iter().map(|path| model::check(read(path).as_slice(), usize::MAX)).collect()
}

#[test]
fn the_corpus_of_models_reaches_predictions_behind_the_parser() {
    let prediction = model::Reached::Parsed { predicted: true };
    let predicted = |reached: &[model::Reached]| reached.iter().filter(|&&reached| reached == prediction).count();
    let (blob, repaired) = (reached("blob"), reached("repaired"));
    assert!(predicted(&blob) >= 7, "{blob:?}");
    assert!(predicted(&repaired) >= 7, "{repaired:?}");
}

#[test]
fn the_corpus_of_tables_holds_accepted_and_refused_files() {
    let ways = |path: PathBuf| table::WAYS.map(|way| table::check(&path, way));
    let reached: Vec<_> = corpus("csv").into_iter().flat_map(ways).collect();
    for kind in [table::Reached::Nothing, table::Reached::Rows, table::Reached::Dataset] {
        assert!(reached.contains(&kind), "no file reaches {kind:?}: {reached:?}");
    }
}
