//! What every kind of file gives: rows of cells, one after the other.

use std::fmt;
use std::ops::Range;

use super::DataError;
use super::place::Place;
use super::value::Value;

/// A file that is open, row by row.
pub(super) trait Tabular: fmt::Debug + Send {
    /// Goes to the next row; `false` at the end of the file.
    fn next(&mut self) -> Result<bool, DataError>;

    /// A cell of the row at hand.
    fn cell(&self, column: usize) -> Value<'_>;

    /// Where the row at hand stands.
    fn place(&self) -> Place;

    /// The cells of the first rows in that column, at most so many; asked before a row is read. What cannot be read is said
    /// when rows are read.
    fn beginning(&mut self, column: usize, rows: usize) -> Vec<Value<'_>>;

    /// Says before a row is read which columns will be looked at; the others need not be read.
    fn choose(&mut self, _columns: &[usize]) {}
}

/// A file whose first rows are about to be read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) table: Box<dyn Tabular>,
    /// Cells per row.
    pub(super) columns: usize,
    /// Of the columns, if the file holds names.
    pub(super) names: Option<Vec<String>>,
    /// Why it holds none, if it holds none.
    pub(super) unnamed: &'static str,
    /// What is told of the file where it is not what one expects.
    pub(super) found: Vec<String>,
    /// Columns without names that go by a name together.
    pub(super) sections: Vec<(String, Range<usize>)>,
}
