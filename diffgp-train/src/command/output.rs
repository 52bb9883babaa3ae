//! Results: on standard output, or in files that are either complete or as they were before.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::failure::mistake;

/// Prints text; unlike `println!`, a closed pipe is an error to be handled.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints exactly one JSON object.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Writes beside, synchronises and renames: a reader sees the old file or the whole new one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let beside = partial(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        // Whatever is left of it is of no use; the error to report is the first one.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses a file that could not be written later, after the work.
pub(crate) fn check_writable(option: &str, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() {
        return Err(mistake(format!("{option} {shown}: a directory of that name exists; expected the name of a file")));
    }
    let directory = parent(path);
    if !directory.is_dir() {
        let directory = directory.display();
        return Err(mistake(format!("{option} {shown}: there is no directory {directory}; create it first")));
    }
    let beside = partial(path);
    File::create(&beside)
        .and_then(|_| fs::remove_file(&beside))
        .map_err(|error| mistake(format!("{option} {shown}: cannot write there ({error}); expected a writable place")))
}

/// The directory that a file is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name: OsString = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}
