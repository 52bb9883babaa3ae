//! One trainer per run directory.
//!
//! The lock is the system's, on an open file: it goes with the process that holds it, however that ends, so there is no
//! stale lock. The file itself stays; it holds the number of the process, for the message to the next one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use diffgp_train::own_file;

use super::console::tell;
use super::failure::mistake;

/// Bytes of a number and its line's end; of a longer file no more is read.
const LONGEST: u64 = 16;

/// Held for as long as a run writes to its directory.
#[derive(Debug)]
pub(crate) struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the directory, which must exist, or says who has it.
    pub(crate) fn take(directory: &Path) -> anyhow::Result<Self> {
        let shown = directory.display();
        let path = directory.join("lock");
        let mut file =
            own_file::open(&path, OpenOptions::new().read(true).write(true).create(true)).map_err(|error| {
                mistake(format!("--run-dir {shown}: lock: {error}; expected a directory that can be written to"))
            })?;
        match file.try_lock() {
            Ok(()) => {
                // A second name of another file holds something else, and keeps it.
                if file.metadata().map_or(true, |known| known.len() > 0) && holder(&mut file).is_none() {
                    return Err(mistake(format!(
                        "--run-dir {shown}: its file lock is not a run's; choose another directory"
                    )));
                }
                // Only the message to others depends on this.
                let begun = file.set_len(0).and_then(|()| file.rewind());
                let _ = begun.and_then(|()| writeln!(file, "{}", std::process::id()));
            }
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&mut file).map_or("another process".to_owned(), |id| format!("process {id}"));
                return Err(mistake(format!(
                    "--run-dir {shown}: {holder} is training there; wait until it ends, stop it, or choose another \
                     directory with --run-dir"
                )));
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(error)) => {
                tell!("note: cannot lock {}: {error}; do not start a second run there", path.display());
            }
        }
        Ok(Self { _file: file })
    }
}

/// The number of a process, if that is all there is.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
