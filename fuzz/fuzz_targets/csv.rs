//! Any bytes as a CSV file.
#![no_main]

use diffgp_fuzz::table::{self, Reached};
use diffgp_fuzz::tally::Tally;
use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static TALLY: Tally<2> = Tally::new(["with a row", "accepted"]);

/// The reader takes files; in memory, where the system has a place for such files.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    directory.join(format!("diffgp-fuzz-{}.csv", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("a temporary file can be written");
    // One way for each input, or the system's work on files would be all there is.
    let way = table::WAYS[bytes.len() % table::WAYS.len()];
    let reached = table::check(&FILE, way);
    TALLY.count([reached > Reached::Nothing, reached == Reached::Dataset]);
});
