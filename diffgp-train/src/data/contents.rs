//! What a file holds, by its first bytes.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use super::DataError;
use super::source::{LOOKED_AT, Reader, Source};

/// An open file, to be read from its beginning.
pub(super) enum Contents {
    /// What is not recognised is text.
    Text(Source),
    /// One array of NumPy.
    Array(Bytes),
    /// Arrays of NumPy in a zip archive.
    Archive(File),
    /// Parquet.
    Parquet(File),
}

/// Bytes of a file, or of a pipe.
pub(super) enum Bytes {
    /// With its length.
    File(File, u64),
    Stream(Reader),
}

impl Contents {
    /// What the file is, if it has no first line.
    pub(super) fn without_first_line(&self) -> Option<&'static str> {
        match self {
            Self::Text(_) => None,
            Self::Array(_) => Some("a NumPy array"),
            Self::Archive(_) => Some("an archive of NumPy arrays"),
            Self::Parquet(_) => Some("a Parquet file"),
        }
    }
}

/// Opens a file and looks at it.
pub(super) fn open(path: &Path) -> Result<Contents, DataError> {
    let failed = |source| DataError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    let mut bytes = Vec::new();
    file.by_ref().take(LOOKED_AT as u64).read_to_end(&mut bytes).map_err(failed)?;
    let Some(what) = arrays(&bytes) else {
        return Source::of(path, bytes, Box::new(file)).map(Contents::Text);
    };
    match (what, length) {
        (Arrays::One, Some(length)) => {
            file.rewind().map_err(failed)?;
            Ok(Contents::Array(Bytes::File(file, length)))
        }
        (Arrays::One, None) => Ok(Contents::Array(Bytes::Stream(Box::new(Cursor::new(bytes).chain(file))))),
        (Arrays::Archive, Some(_)) => Ok(Contents::Archive(file)),
        (Arrays::Parquet, Some(_)) => Ok(Contents::Parquet(file)),
        (Arrays::Archive | Arrays::Parquet, None) => Err(DataError::Arrays {
            path: path.to_owned(),
            problem: "is a pipe; archives of arrays and Parquet are read from files".to_owned(),
        }),
    }
}

enum Arrays {
    One,
    Archive,
    Parquet,
}

fn arrays(bytes: &[u8]) -> Option<Arrays> {
    match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Arrays::One),
        [b'P', b'A', b'R', b'1', ..] => Some(Arrays::Parquet),
        // An archive whose first member is an array.
        [b'P', b'K', 3, 4, ..] => {
            let &[low, high] = bytes.get(26..28)? else { return None };
            let name = bytes.get(30..30 + usize::from(u16::from_le_bytes([low, high])))?;
            name.ends_with(b".npy").then_some(Arrays::Archive)
        }
        _ => None,
    }
}
