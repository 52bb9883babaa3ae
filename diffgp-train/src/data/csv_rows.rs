//! Streams the rows of a CSV file as f32, refusing every cell that is not a finite number.
//!
//! Understood: comma-separated, quoted cells, LF or CRLF, a UTF-8 byte order mark, blank lines. Memory: one record.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::cell::{is_word, parse, quoted, text};
use super::error::{CellProblem, DataError};
use super::first_line::{FirstLine, Header, columns_of, split_names};
use super::spread::Spread;
use super::{Columns, classes, names};

/// The rows of an open CSV file.
#[derive(Debug)]
pub struct CsvRows {
    path: PathBuf,
    reader: Reader<File>,
    record: ByteRecord,
    names: Option<Vec<String>>,
    columns: usize,
    /// One per column, of the cells read.
    spreads: Vec<Spread>,
    /// Rows of data that were looked at already.
    ahead: VecDeque<ByteRecord>,
    row: u64,
}

impl CsvRows {
    /// Opens the file and settles its header and number of columns. Ignored columns may hold anything there, targets
    /// classes.
    pub fn open<'a>(path: &Path, header: Header, columns: impl Into<Columns<'a>>) -> Result<Self, DataError> {
        let Columns { targets, ignored } = columns.into();
        let file = File::open(path).map_err(|source| DataError::Io { path: path.to_owned(), source })?;
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).buffer_capacity(1 << 16).from_reader(file);
        let mut rows = Self {
            path: path.to_owned(),
            reader,
            record: ByteRecord::new(),
            names: None,
            columns: 0,
            spreads: Vec::new(),
            ahead: VecDeque::new(),
            row: 0,
        };
        if !rows.read_record()? {
            return Err(DataError::Empty { path: rows.path });
        }
        let first = rows.record.clone();
        rows.columns = first.len();
        rows.spreads = vec![Spread::EMPTY; rows.columns];
        let names: Vec<String> = first.iter().map(text).collect();
        let ignored = columns_of(&names, ignored.iter().map(String::as_str));
        let targets = columns_of(&names, split_names(targets));
        let used: Vec<usize> = (0..names.len()).filter(|column| !ignored.contains(column)).collect();
        if let Some(&column) = used.iter().find(|&&column| std::str::from_utf8(&first[column]).is_err()) {
            return Err(DataError::NotUtf8 { path: rows.path, column });
        }
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
            Some(names) => names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "),
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

    /// Replaces `cells` by the next row, these columns only, in this order; the others may hold anything. `false` at
    /// the end of the file.
    pub fn next_cells(&mut self, columns: &[usize], cells: &mut Vec<f32>) -> Result<bool, DataError> {
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
        cells.clear();
        for &column in columns {
            let cell = &self.record[column];
            let number = parse(cell).map_err(|problem| self.cell_error(column, &text(cell), problem))?;
            self.spreads[column].add(number.exact);
            cells.push(number.rounded);
        }
        Ok(true)
    }

    /// The name of the class in a column of the row read last: a word, or a whole number in its shortest form.
    pub fn class(&self, column: usize) -> Result<String, DataError> {
        let cell = &self.record[column];
        classes::name(cell).map_err(|problem| self.cell_error(column, &text(cell), problem))
    }

    /// The error for a class that the model does not know, in the row read last.
    pub fn unknown_class(&self, column: usize) -> DataError {
        self.cell_error(column, &text(&self.record[column]), CellProblem::UnknownClass)
    }

    /// Whether the first row of data holds a word in that column.
    pub(super) fn begins_with_word(&self, column: usize) -> bool {
        self.ahead.front().and_then(|record| record.get(column)).is_some_and(is_word)
    }

    pub(super) fn one_class(&self, column: usize, class: String) -> DataError {
        let column = format!("column {}", self.label(column));
        DataError::OneClass { path: Some(self.path.clone()), column, class: quoted(&class) }
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
        let found = self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(source) => DataError::Io { path: self.path.clone(), source },
            other => DataError::Io { path: self.path.clone(), source: std::io::Error::other(format!("{other:?}")) },
        })?;
        // A quote that is never closed would swallow the rest of the file.
        let is_break = |byte: &u8| b"\r\n".contains(byte);
        match self.record.iter().position(|cell| cell.iter().any(is_break)) {
            Some(column) => Err(DataError::LineBreak { path: self.path.clone(), line: self.line(), column }),
            None => Ok(found),
        }
    }

    /// The line on which the record read last begins, counted from 1; asked for errors only.
    ///
    /// The reader's position is where the record before ended, blank lines not yet skipped: they are counted here. What
    /// is no regular file, a pipe for one, cannot be read again: there they are not counted.
    fn line(&self) -> u64 {
        let Some(position) = self.record.position() else { return 1 };
        let blank_lines = || {
            if !std::fs::metadata(&self.path)?.is_file() {
                return Ok(0);
            }
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(position.byte()))?;
            let breaks = BufReader::new(file).bytes().map_while(Result::ok).take_while(|byte| b"\r\n".contains(byte));
            Ok::<_, std::io::Error>(breaks.filter(|&byte| byte == b'\n').count() as u64)
        };
        position.line() + blank_lines().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
