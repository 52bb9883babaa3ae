//! Files that a run keeps for itself: regular files of that very name, never reached through a link, and never waited for.
//!
//! Whoever can write to the folder of a run could otherwise make `lock` a link to a file that the run then overwrites, or
//! `checkpoint` a pipe that it reads from for ever. On Unix the system checks while it opens (`O_NOFOLLOW`, and
//! `O_NONBLOCK` for pipes); elsewhere a name is looked at before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens the regular file of that name; anything else of that name is an error.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let opened = match cfg!(unix) || !is_foreign(path) {
        true => options.open(path),
        false => Err(foreign()),
    };
    // The system's words for a link ("too many levels") and for a pipe without a reader ("no such device") puzzle.
    let file = opened.map_err(|error| if is_foreign(path) { foreign() } else { error })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(foreign()) }
}

/// All bytes of the regular file of that name.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    // As much memory as the file is long, or an error: a file of many gigabytes does not end the process.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates a file that was not there before; what has its name is removed, and if it is a link, the link alone.
pub fn create(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path)?;
    }
    // A link that was made in the meantime is an error here, not followed.
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Whether something has that name that is no regular file: a link, a pipe, a folder.
pub fn is_foreign(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|known| !known.is_file())
}

fn foreign() -> io::Error {
    io::Error::other("this is a link, a pipe or a folder; expected a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_not_followed_and_a_pipe_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("data"), "precious").unwrap();
        symlink("data", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let mut writes = OpenOptions::new();
        writes.read(true).write(true).create(true).truncate(true);
        for name in ["link", "dangling", "folder", "pipe"] {
            assert!(is_foreign(&path(name)));
            for refused in [read(&path(name)).map(drop), open(&path(name), &writes).map(drop)] {
                assert!(refused.unwrap_err().to_string().contains("expected a regular file"), "{name}");
            }
        }
        assert!(!path("nowhere").exists());
        create(&path("link")).unwrap();
        assert_eq!((read(&path("data")).unwrap(), read(&path("link")).unwrap()), (b"precious".to_vec(), vec![]));
        assert_eq!(read(&path("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
