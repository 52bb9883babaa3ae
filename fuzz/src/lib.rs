//! What the fuzz targets check. The test package includes the same files, so that the checked-in corpus, and with it
//! every input that once was a finding, is replayed by `cargo test` on stable Rust.
//!
//! Of the trainer, only the two modules that are needed are compiled, straight from its sources: the rest and what it
//! depends on would take many minutes to build with the fuzzer's instrumentation.

pub mod line;
#[path = "../../diffgp-infer/tests/model.rs"]
pub mod model;
#[path = "../../diffgp-infer/tests/repair.rs"]
pub mod repair;
pub mod table;
pub mod tally;

#[path = "../../diffgp-train/src"]
#[allow(missing_docs, reason = "documented where it lives")]
pub mod trainer {
    pub mod aligned;
    pub mod data;
}
