//! Streams the rows of a CSV file as f32, refusing every cell that is not a finite number.
//!
//! Understood: commas, semicolons or tabs between cells, quoted cells, decimal commas, LF or CRLF, blank lines, comments,
//! and the encodings of [`super::source`]. Memory: a few records and the beginning of the file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::cell::{are_words, is_word, parse, quoted, text, word};
use super::dialect::Dialect;
use super::error::{CellProblem, DataError};
use super::first_line::{FirstLine, Header, columns_of, split_names};
use super::records::{Record, RecordError, Records};
use super::source::Source;
use super::spread::Spread;
use super::{Category, Columns, Missing, classes, names};

/// Names that a message lists at most.
const LISTED: usize = 30;
/// Rows by which words are told from numbers.
const JUDGED: usize = 50;

/// The rows of an open CSV file.
#[derive(Debug)]
pub struct CsvRows {
    path: PathBuf,
    records: Records,
    record: Record,
    names: Option<Vec<String>>,
    /// What the file was found to be, where it is not plain CSV.
    found: Vec<&'static str>,
    columns: usize,
    /// One per column, of the cells read.
    spreads: Vec<Spread>,
    /// Rows of data that were looked at already.
    ahead: VecDeque<Record>,
    row: u64,
    missing: Missing,
    /// Where missing cells are handled as `missing` says.
    watched: Watched,
    dropped: u64,
    filled: u64,
}

/// Columns in which missing cells are handled.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Numbers that may be filled.
    pub inputs: Vec<usize>,
    /// Numbers that may not.
    pub targets: Vec<usize>,
    /// A class.
    pub class: Option<usize>,
    /// Inputs that hold words.
    pub words: Vec<usize>,
}

impl CsvRows {
    /// Opens the file and settles its header and number of columns. Ignored columns may hold anything there, targets
    /// classes.
    pub fn open<'a>(path: &Path, header: Header, columns: impl Into<Columns<'a>>) -> Result<Self, DataError> {
        let Columns { targets, ignored, missing } = columns.into();
        let source = Source::open(path)?;
        let dialect = Dialect::of(&source.beginning);
        let commented = dialect.commented_names(&source.beginning).filter(|_| header == Header::Detect);
        let found = source.found.iter().copied().chain(dialect.found()).collect();
        let mut rows = Self {
            path: path.to_owned(),
            records: Records::new(source.into_text(), dialect),
            record: Record::default(),
            names: None,
            found,
            columns: 0,
            spreads: Vec::new(),
            ahead: VecDeque::new(),
            row: 0,
            missing,
            watched: Watched::default(),
            dropped: 0,
            filled: 0,
        };
        if !rows.read_record()? {
            return Err(DataError::Empty { path: rows.path });
        }
        let first = rows.record.clone();
        rows.columns = first.len();
        rows.spreads = vec![Spread::EMPTY; rows.columns];
        if let Some(names) = commented.filter(|names| names.len() == rows.columns) {
            rows.names = Some(names);
            rows.ahead.push_back(first);
            return Ok(rows);
        }
        let names: Vec<String> = first.iter().map(text).collect();
        let ignored = columns_of(&names, ignored.iter().map(String::as_str));
        let targets = columns_of(&names, split_names(targets));
        let used: Vec<usize> = (0..names.len()).filter(|column| ignored.binary_search(column).is_err()).collect();
        let second = rows.read_record()?.then(|| rows.record.clone());
        let second_cells: Option<Vec<String>> = second.as_ref().map(|record| record.iter().map(text).collect());
        let line = FirstLine { path, cells: &names, used: &used, targets: &targets, second: second_cells.as_deref() };
        if line.is_header(header)? {
            rows.names = Some(names);
        } else {
            rows.ahead.push_back(first);
        }
        rows.ahead.extend(second);
        Ok(rows)
    }

    /// What the file was found to be where it is not plain CSV in UTF-8, as in `separated by semicolons`.
    pub fn found(&self) -> &[&'static str] {
        &self.found
    }

    /// Cells per row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Names of the columns, if the file has a header. Some may be empty or occur twice; see [`CsvRows::check_names`].
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The columns as messages list them: names, or indices.
    pub fn listed(&self) -> String {
        match &self.names {
            Some(names) => {
                let listed = names.iter().take(LISTED).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
                if names.len() > LISTED { format!("{listed}, … ({} in all)", names.len()) } else { listed }
            }
            None => format!("0 to {}", self.columns - 1),
        }
    }

    /// The columns of those names or indices.
    pub fn find_columns(&self, wanted: &[String]) -> Result<Vec<usize>, DataError> {
        wanted.iter().map(|wanted| self.find_column(wanted)).collect()
    }

    /// The column of that name, or else of that index counted from 0.
    pub fn find_column(&self, wanted: &str) -> Result<usize, DataError> {
        let by_name = self.names.as_ref().and_then(|names| names.iter().position(|name| name == wanted.trim()));
        let by_index = || wanted.trim().parse().ok().filter(|&index: &usize| index < self.columns);
        by_name.or_else(by_index).ok_or_else(|| {
            let indices = format!("an index from 0 to {}", self.columns - 1);
            let available = match &self.names {
                Some(_) => format!("one of {} or {indices}", self.listed()),
                None => format!("{indices} (the file has no header)"),
            };
            DataError::UnknownColumn { path: self.path.clone(), target: wanted.to_owned(), available }
        })
    }

    /// The columns to predict: names or indices, separated by commas, each as long as it can be.
    pub fn find_targets(&self, wanted: &str) -> Result<Vec<usize>, DataError> {
        let words: Vec<&str> = wanted.split(',').collect();
        let (mut found, mut rest) = (Vec::new(), words.as_slice());
        while !rest.is_empty() {
            let longest = (1..=rest.len()).rev().find_map(|n| Some((n, self.find_column(&rest[..n].join(",")).ok()?)));
            let (taken, column) = match longest {
                Some(longest) => longest,
                None => (1, self.find_column(rest[0])?),
            };
            if found.contains(&column) {
                return Err(DataError::TargetTwice { path: self.path.clone(), target: self.label(column) });
            }
            found.push(column);
            rest = &rest[taken..];
        }
        Ok(found)
    }

    /// Refuses columns without a name or with the name of another one; those that are not used may be called anything.
    pub fn check_names(&self, used: &[usize]) -> Result<(), DataError> {
        self.names.as_ref().map_or(Ok(()), |names| names::check(names, used, Some(&self.path)))
    }

    /// Columns in which missing cells are handled as was asked for: a row with one is left out, or a cell of the inputs is
    /// filled.
    pub fn watch(&mut self, watched: Watched) {
        self.watched = watched;
    }

    /// Rows that were left out so far, and cells that are to be filled.
    pub fn repaired(&self) -> [u64; 2] {
        [self.dropped, self.filled]
    }

    /// Replaces `cells` by the next row, these columns only, in this order; the others may hold anything. A missing cell
    /// that is to be filled is NaN. `false` at the end of the file.
    pub fn next_cells(&mut self, columns: &[usize], cells: &mut Vec<f32>) -> Result<bool, DataError> {
        loop {
            if !self.next_row()? {
                return Ok(false);
            }
            if self.missing != Missing::Drop || !self.lacks_something() {
                break;
            }
            self.dropped += 1;
        }
        cells.clear();
        for &column in columns {
            let cell = self.cell(column);
            match parse(cell) {
                Ok(number) => {
                    self.spreads[column].add(number.exact);
                    cells.push(number.rounded);
                }
                Err(CellProblem::Missing) if self.missing == Missing::Mean && self.watched.inputs.contains(&column) => {
                    self.filled += 1;
                    cells.push(f32::NAN);
                }
                Err(problem) => return Err(self.cell_error(column, &text(cell), problem)),
            }
        }
        Ok(true)
    }

    /// Whether the row read last has nothing in one of the columns that are watched.
    fn lacks_something(&self) -> bool {
        let Watched { inputs, targets, class, words } = &self.watched;
        let no_number = |&column: &usize| parse(self.cell(column)) == Err(CellProblem::Missing);
        let no_class = |&column: &usize| classes::name(self.cell(column)) == Err(CellProblem::Missing);
        let no_word = |&column: &usize| word(self.cell(column)) == Err(CellProblem::Missing);
        inputs.iter().chain(targets).any(no_number) || class.iter().any(no_class) || words.iter().any(no_word)
    }

    /// Reads the next row, of as many cells as the first.
    fn next_row(&mut self) -> Result<bool, DataError> {
        if let Some(record) = self.ahead.pop_front() {
            self.record = record;
        } else if !self.read_record()? {
            return Ok(false);
        }
        self.row += 1;
        if self.record.len() != self.columns {
            return Err(DataError::Ragged {
                path: self.path.clone(),
                row: self.row,
                line: self.line(),
                found: self.record.len(),
                expected: self.columns,
                advice: self.ragged_advice(),
            });
        }
        Ok(true)
    }

    /// The name of the class in a column of the row read last: a word, or a whole number in its shortest form.
    pub fn class(&self, column: usize) -> Result<String, DataError> {
        let cell = self.cell(column);
        classes::name(cell).map_err(|problem| self.cell_error(column, &text(cell), problem))
    }

    /// Reads on to the rows by which [`CsvRows::holds_words`] judges.
    pub fn look_ahead(&mut self) -> Result<(), DataError> {
        while self.ahead.len() < JUDGED && self.read_record()? {
            self.ahead.push_back(self.record.clone());
        }
        Ok(())
    }

    /// Whether a column holds words, and is an input by its categories: none of its first fifty cells is a number, and one
    /// at least is a word other than those for true and false. Precondition: [`CsvRows::look_ahead`].
    pub fn holds_words(&self, column: usize) -> bool {
        are_words(self.ahead.iter().filter_map(|record| record.get(column)))
    }

    /// The word in a column of the row read last.
    pub(super) fn word_in(&self, column: usize) -> Result<String, CellProblem> {
        word(self.cell(column))
    }

    /// The same; nothing if it is missing and to be filled.
    pub(super) fn word(&mut self, column: usize) -> Result<Option<String>, DataError> {
        match self.word_in(column) {
            Ok(word) => Ok(Some(word)),
            Err(CellProblem::Missing) if self.missing == Missing::Mean => {
                self.filled += 1;
                Ok(None)
            }
            Err(problem) => Err(self.cell_error(column, &text(self.cell(column)), problem)),
        }
    }

    /// Which word of a category a column of the row read last holds; nothing if it is missing and to be filled.
    pub fn category(&mut self, column: usize, category: &Category) -> Result<Option<usize>, DataError> {
        let unknown = |rows: &Self| rows.cell_error(column, &text(rows.cell(column)), CellProblem::UnknownCategory);
        if self.word_in(column) == Err(CellProblem::NumberAmongCategories) {
            return Err(unknown(self));
        }
        let Some(word) = self.word(column)? else { return Ok(None) };
        category.find(&word).map(Some).ok_or_else(|| unknown(self))
    }

    /// The error for a class that the model does not know, in the row read last.
    pub fn unknown_class(&self, column: usize) -> DataError {
        self.cell_error(column, &text(self.cell(column)), CellProblem::UnknownClass)
    }

    /// Whether the first row of data holds a word in that column.
    pub(super) fn begins_with_word(&self, column: usize) -> bool {
        self.ahead.front().and_then(|record| record.get(column)).is_some_and(is_word)
    }

    pub(super) fn one_class(&self, column: usize, class: String) -> DataError {
        let column = format!("column {}", self.label(column));
        DataError::OneClass { path: Some(self.path.clone()), column, class: quoted(&class) }
    }

    pub(super) fn one_word(&self, column: usize, word: &str) -> DataError {
        DataError::OneWord { path: self.path.clone(), column: self.label(column), word: word.to_owned() }
    }

    pub(super) fn empty_column(&self, column: usize) -> DataError {
        DataError::EmptyColumn { path: self.path.clone(), column: self.label(column) }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a column whose values differed by more than `tolerated` in the rows read, and are one f32 number now.
    pub fn check_spread(&self, column: usize, tolerated: f64) -> Result<(), DataError> {
        if self.spreads[column].hidden() <= tolerated {
            return Ok(());
        }
        let column = format!("column {}", self.label(column));
        Err(DataError::Indistinct { path: Some(self.path.clone()), column })
    }

    /// How messages speak of a column.
    pub(super) fn label(&self, column: usize) -> String {
        match &self.names {
            Some(names) => format!("{:?}", quoted(&names[column])),
            None => format!("{column} (counted from 0)"),
        }
    }

    pub(super) fn cell_error(&self, column: usize, cell: &str, problem: CellProblem) -> DataError {
        let (column, cell) = (self.label(column), quoted(cell));
        DataError::Cell { path: self.path.clone(), row: self.row, line: self.line(), column, cell, problem }
    }

    /// A cell of the row read last, which has so many.
    pub(super) fn cell(&self, column: usize) -> &[u8] {
        self.record.get(column).unwrap_or_default()
    }

    /// Rows such as `1,5,2,75` where two columns are expected.
    fn ragged_advice(&self) -> &'static str {
        let whole = |cell: &[u8]| text(cell).parse::<i64>().is_ok();
        if self.record.len() > self.columns && self.record.iter().all(whole) {
            "; if decimals are written with commas, they were taken for separators: write them with a point"
        } else {
            ""
        }
    }

    fn read_record(&mut self) -> Result<bool, DataError> {
        let path = || self.path.clone();
        self.records.next(&mut self.record).map_err(|error| match error {
            RecordError::Io(source) => DataError::Io { path: path(), source },
            RecordError::LongLine(line) => DataError::LongLine { path: path(), line },
            RecordError::ManyCells(line) => DataError::ManyCells { path: path(), line },
            RecordError::LineBreak { line, column } => DataError::LineBreak { path: path(), line, column },
        })
    }

    /// The line on which the row read last is, counted from 1.
    fn line(&self) -> u64 {
        self.record.line()
    }
}

#[cfg(test)]
mod tests;
