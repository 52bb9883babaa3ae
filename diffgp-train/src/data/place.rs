//! Where a row stands in its file.

use std::fmt;

/// The number of a row, and what else finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Row of data, counted from 1.
    pub row: u64,
    /// Line of a text, counted from 1.
    pub line: Option<u64>,
    /// Row group of a Parquet file, counted from 1.
    pub row_group: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}", self.row)?;
        match (self.line, self.row_group) {
            (Some(line), _) => write!(f, " (line {line})"),
            (None, Some(group)) => write!(f, " (row group {group})"),
            (None, None) => Ok(()),
        }
    }
}
