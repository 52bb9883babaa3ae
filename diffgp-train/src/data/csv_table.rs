//! The rows of a CSV file.
//!
//! Understood: commas, semicolons or tabs between cells, quoted cells, decimal commas, LF or CRLF, blank lines, comments,
//! and the encodings of [`super::source`]. Memory: a few records and the beginning of the file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::Columns;
use super::cell::text;
use super::dialect::Dialect;
use super::error::DataError;
use super::first_line::{FirstLine, Header, columns_of, split_names};
use super::place::Place;
use super::records::{Record, RecordError, Records};
use super::source::Source;
use super::tabular::{Opened, Tabular};
use super::value::Value;

/// An open CSV file.
#[derive(Debug)]
pub(super) struct CsvTable {
    path: PathBuf,
    records: Records,
    record: Record,
    columns: usize,
    /// Rows of data that were looked at already.
    ahead: VecDeque<Record>,
    /// What came behind them, if that was no row.
    after: Option<Result<bool, DataError>>,
    row: u64,
}

impl CsvTable {
    /// Settles header and number of columns. Ignored columns may hold anything there, targets classes.
    pub(super) fn open(
        path: &Path,
        source: Source,
        header: Header,
        Columns { targets, ignored, .. }: Columns<'_>,
    ) -> Result<Opened, DataError> {
        let dialect = Dialect::of(&source.beginning);
        let commented = dialect.commented_names(&source.beginning).filter(|_| header == Header::Detect);
        let found = source.found.iter().copied().chain(dialect.found()).map(str::to_owned).collect();
        let mut table = Self {
            path: path.to_owned(),
            records: Records::new(source.into_text(), dialect),
            record: Record::default(),
            columns: 0,
            ahead: VecDeque::new(),
            after: None,
            row: 0,
        };
        if !table.read_record()? {
            return Err(DataError::Empty { path: table.path });
        }
        let first = table.record.clone();
        table.columns = first.len();
        if let Some(names) = commented.filter(|names| names.len() == table.columns) {
            table.ahead.push_back(first);
            return Ok(table.opened(Some(names), found));
        }
        let names: Vec<String> = first.iter().map(text).collect();
        let ignored = columns_of(&names, ignored.iter().map(String::as_str));
        let targets = columns_of(&names, split_names(targets));
        let used: Vec<usize> = (0..names.len()).filter(|column| ignored.binary_search(column).is_err()).collect();
        let second = table.read_record()?.then(|| table.record.clone());
        let second_cells: Option<Vec<String>> = second.as_ref().map(|record| record.iter().map(text).collect());
        let line = FirstLine { path, cells: &names, used: &used, targets: &targets, second: second_cells.as_deref() };
        let is_header = line.is_header(header)?;
        if !is_header {
            table.ahead.push_back(first);
        }
        table.ahead.extend(second);
        Ok(table.opened(is_header.then_some(names), found))
    }

    fn opened(self, names: Option<Vec<String>>, found: Vec<String>) -> Opened {
        Opened {
            columns: self.columns,
            names,
            found,
            sections: Vec::new(),
            unnamed: "the file has no header",
            table: Box::new(self),
        }
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
}

impl Tabular for CsvTable {
    /// The next row, of as many cells as the first.
    fn next(&mut self) -> Result<bool, DataError> {
        if let Some(record) = self.ahead.pop_front() {
            self.record = record;
        } else if !self.after.take().unwrap_or_else(|| self.read_record())? {
            return Ok(false);
        }
        self.row += 1;
        if self.record.len() != self.columns {
            return Err(DataError::Ragged {
                path: self.path.clone(),
                place: self.place(),
                found: self.record.len(),
                expected: self.columns,
                advice: self.ragged_advice(),
            });
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> Value<'_> {
        Value::text_of(self.record.get(column).unwrap_or_default())
    }

    fn place(&self) -> Place {
        Place { row: self.row, line: Some(self.record.line()), row_group: None }
    }

    fn beginning(&mut self, column: usize, rows: usize) -> Vec<Value<'_>> {
        while self.ahead.len() < rows && self.after.is_none() {
            match self.read_record() {
                Ok(true) => self.ahead.push_back(self.record.clone()),
                outcome => self.after = Some(outcome),
            }
        }
        self.ahead.iter().take(rows).filter_map(|record| record.get(column)).map(Value::text_of).collect()
    }
}
