//! A file that is being written, beside the one that it will become.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Names that are tried before giving up; a process that was killed may have left some.
const NAMES: usize = 100;

/// Removed unless it is finished.
pub(super) struct Partial<'a> {
    /// What it will become.
    path: &'a Path,
    beside: PathBuf,
    file: File,
}

impl<'a> Partial<'a> {
    /// Creates `.NAME.PROCESS-N.partial`, which was not there before.
    pub(super) fn create(path: &'a Path) -> io::Result<Self> {
        let mut number = 0;
        loop {
            let mut name = OsStr::new(".").to_owned();
            name.push(path.file_name().unwrap_or_default());
            name.push(format!(".{}-{number}.partial", std::process::id()));
            let beside = path.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => return Ok(Self { path, beside, file }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes everything, on the disk before it takes the name. The file can be written on.
    pub(super) fn finish(mut self, bytes: &[u8]) -> io::Result<File> {
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        fs::rename(&self.beside, self.path)?;
        self.file.try_clone()
    }
}

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        // After `finish` there is nothing of that name.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Whether `name` is what [`Partial`] leaves of `file` when the process is killed.
pub(crate) fn is_partial(name: &OsStr, file: &str) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_prefix(file)?.strip_suffix(".partial"));
    let numbers = middle.and_then(|middle| middle.strip_prefix('.')?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_names_are_partial() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.dgp");
        let (first, second) = (Partial::create(&path).unwrap(), Partial::create(&path).unwrap());
        for partial in [&first, &second] {
            assert!(is_partial(partial.beside.file_name().unwrap(), "model.dgp"), "{:?}", partial.beside);
        }
        first.finish(b"model").unwrap();
        drop(second);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        for name in
            ["model.dgp.partial", ".model.dgp.partial", ".model.dgp.1-.partial", ".other.1-0.partial", "model.dgp"]
        {
            assert!(!is_partial(OsStr::new(name), "model.dgp"), "{name}");
        }
    }
}
