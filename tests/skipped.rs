//! Says that a test did not test, where `cargo xtask test` counts it: libtest prints `ok` and hides what passed tests print.

use std::fs::OpenOptions;
use std::io::Write;

/// What was not tested, and what would be needed.
pub(crate) fn skipped(what: &str) {
    let line = format!("SKIPPED: {}\n", what.replace('\n', " "));
    // One write each: tests run beside each other. Standard error itself is not captured, printing macros are.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("DIFFGP_SKIPPED") {
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file to note it in");
        file.write_all(line.as_bytes()).expect("a file to note it in");
    }
}
