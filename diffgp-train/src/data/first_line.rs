//! What the first line of a file is: names, or numbers already.

use std::path::Path;

use super::cell::{is_word, parse, quoted};
use super::error::{CellProblem, DataError};

/// Whether the first line holds names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if none of its cells is a number.
    #[default]
    Detect,
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// The first line of a file, and what helps to judge it.
#[derive(Debug)]
pub(super) struct FirstLine<'a> {
    /// The file, for messages.
    pub(super) path: &'a Path,
    /// Its cells.
    pub(super) cells: &'a [String],
    /// The columns that count; the others may hold anything.
    pub(super) used: &'a [usize],
    /// The columns that may hold classes.
    pub(super) targets: &'a [usize],
    /// The cells of the second line, if there is one.
    pub(super) second: Option<&'a [String]>,
}

/// The columns asked for, whether `wanted` holds names or indices: which of them is not known yet.
pub(super) fn columns_of<'a>(cells: &[String], wanted: impl Iterator<Item = &'a str> + Clone) -> Vec<usize> {
    let is_wanted = |&column: &usize| {
        wanted.clone().any(|wanted| *wanted.trim() == cells[column] || wanted.trim().parse() == Ok(column))
    };
    (0..cells.len()).filter(is_wanted).collect()
}

/// Names separated by commas, and all of it as one name.
pub(super) fn split_names(names: &str) -> impl Iterator<Item = &str> + Clone {
    names.split(',').chain([names])
}

impl FirstLine<'_> {
    /// Whether it holds names; an error if that cannot be told, or if commas do not separate its cells.
    pub(super) fn is_header(&self, header: Header) -> Result<bool, DataError> {
        if let Some(separator) = self.foreign_separator() {
            return Err(DataError::Separator { path: self.path.to_owned(), separator });
        }
        match header {
            Header::Present => Ok(true),
            Header::Absent => Ok(false),
            Header::Detect if self.is_numbered() => Err(DataError::NumberedHeader { path: self.path.to_owned() }),
            Header::Detect => self.holds_names(),
        }
    }

    fn holds_names(&self) -> Result<bool, DataError> {
        let is_number = |&column: &usize| self.cells[column].parse::<f64>().is_ok();
        // A row of numbers with holes is data: the hole is reported when the row is read.
        let name = self.used.iter().find(|&&column| is_name(&self.cells[column]) && !self.is_class(column));
        match name {
            Some(&column) if self.used.iter().any(is_number) => {
                let cell = quoted(&self.cells[column]);
                Err(DataError::MixedHeader { path: self.path.to_owned(), column, cell })
            }
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// A word in a target column is a class if another one stands below it, and numbers beside it.
    fn is_class(&self, column: usize) -> bool {
        let below = self.second.and_then(|second| second.get(column));
        let mut others = self.used.iter().filter(|other| !self.targets.contains(other)).peekable();
        self.targets.contains(&column)
            && below.is_some_and(|cell| is_word(cell.as_bytes()))
            && others.peek().is_some()
            && others.all(|&other| !is_name(&self.cells[other]))
    }

    /// Columns numbered 0, 1, 2, ..., as data frames without names are written, with or without an index column in
    /// front. If the second line goes on counting, or there is none, they are data.
    fn is_numbered(&self) -> bool {
        let Some(second) = self.second else { return false };
        let index_columns = usize::from(self.cells[0].is_empty());
        let counts = |cells: &[String], from: usize| {
            let numbered = cells.iter().skip(index_columns);
            cells.len() == self.cells.len() && numbered.zip(from..).all(|(cell, number)| *cell == number.to_string())
        };
        self.cells.len() > 1 + index_columns && counts(self.cells, 0) && !counts(second, 1)
    }

    fn foreign_separator(&self) -> Option<&'static str> {
        let holds = |mark| self.used.iter().any(|&column| self.cells[column].contains(mark));
        let alone = self.cells.len() == 1;
        match () {
            () if alone && holds(';') => Some("semicolons"),
            () if alone && holds('\t') => Some("tabs"),
            () if alone && holds('|') => Some("bars (|)"),
            () if alone && self.is_separated_by_blanks() => Some("spaces"),
            () => None,
        }
    }

    /// One cell of several numbers, or of as many words as the next line: a name may hold blanks.
    fn is_separated_by_blanks(&self) -> bool {
        let words = |cells: &[String]| cells.iter().flat_map(|cell| cell.split_whitespace()).count();
        let numbers = || self.cells[0].split_whitespace().all(|word| word.parse::<f64>().is_ok());
        words(self.cells) > 1
            && (numbers() || self.second.is_some_and(|second| second.len() == 1 && words(second) == words(self.cells)))
    }
}

/// Any text but markers of missing values. `Na` is sodium: markers are written NA or na.
fn is_name(cell: &str) -> bool {
    cell == "Na" || parse(cell.as_bytes()) == Err(CellProblem::NotANumber)
}
