//! Results: on standard output, or in files that are either complete or as they were before.

mod partial;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Serialize, Serializer};

use self::partial::Partial;
pub(crate) use self::partial::is_partial;
use super::failure::mistake;
use super::shown;

/// Prints text; unlike `println!`, a closed pipe is an error to be handled. Names in it do not act on a terminal.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write_out(&shown::lines(text))
}

fn write_out(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints exactly one JSON object.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    write_out(&(shown::json(&serde_json::to_string(value)?) + "\n"))
}

/// A path as JSON, which holds no other bytes than UTF-8.
pub(crate) fn lossy_path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// Writes beside, synchronises and renames: a reader sees the old file or the whole new one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = match is_special(path) {
        true => OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes)),
        false => Partial::create(&behind_links(path)).and_then(|partial| partial.finish(bytes).map(drop)),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Like `write` for a file whose name is ours, not the user's: what has that name is replaced, a link too, and never
/// written through.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<File> {
    let written = Partial::create(path).and_then(|partial| partial.finish(bytes));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses a file that could not be written later, after the work, and one that is read.
pub(crate) fn check_writable(option: &str, path: &Path, inputs: &[Option<&Path>]) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() {
        return Err(mistake(format!("{option} {shown}: a directory of that name exists; expected the name of a file")));
    }
    if !names_a_file(path) {
        return Err(mistake(format!("{option} {shown}: this is the name of a directory; expected the name of a file")));
    }
    if is_special(path) {
        // Trying it would disturb whoever reads from it.
        return Ok(());
    }
    if let Some(input) = inputs.iter().flatten().find(|input| same_place(path, input)) {
        let input = input.display();
        return Err(mistake(format!(
            "{option} {shown}: the input {input} would be overwritten; expected another name"
        )));
    }
    let path = behind_links(path);
    let directory = parent(&path);
    if !directory.is_dir() {
        let directory = directory.display();
        return Err(mistake(format!("{option} {shown}: there is no directory {directory}; create it first")));
    }
    Partial::create(&path)
        .map(drop)
        .map_err(|error| mistake(format!("{option} {shown}: cannot write there ({error}); expected a writable place")))
}

/// Creates a directory for results, or refuses one that could not be written to later.
pub(crate) fn create_directory(option: &str, path: &Path) -> anyhow::Result<()> {
    let created = fs::create_dir_all(path).and_then(|()| Partial::create(&path.join("results")).map(drop));
    created.map_err(|error| {
        mistake(format!("{option} {}: {error}; expected a folder that can be written to", path.display()))
    })
}

/// The directory that a file is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether two names, of which neither must exist, lead to the same place.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = behind_links(path);
        let directory = parent(&path).canonicalize().ok()?;
        Some(directory.join(path.file_name()?))
    };
    place(one).is_some_and(|one| Some(one) == place(other))
}

/// A device, a pipe or a socket: it is written to, not replaced.
pub(crate) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// The file that a link leads to, even if it is not there yet.
fn behind_links(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let mut path = path.to_owned();
    // Links that lead in a circle end somewhere; opening the file fails then.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = parent(&path).join(target);
    }
    path
}

/// Not so with a separator, or a dot, at the end.
fn names_a_file(path: &Path) -> bool {
    let whole = path.as_os_str().as_encoded_bytes();
    path.file_name().is_some_and(|name| whole.ends_with(name.as_encoded_bytes()))
}
