//! Records of a CSV file one after the other, in memory that a file cannot make grow: a line that is too long or has too
//! many cells is refused while it is read.
//!
//! The rules of quotes, line ends and the byte order mark are those of `csv-core`; it writes into buffers of ours, which
//! have a largest size.

use std::fmt;
use std::io::{self, BufRead, BufReader};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::cell::is_decimal_comma;
use super::dialect::Dialect;
use super::source;

/// Cells of a line at most: as many as a spreadsheet has columns.
pub const MAX_CELLS: usize = 16_384;
/// Bytes of a line at most.
pub const MAX_LINE: usize = 1 << 20;

/// The cells of one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The line of the file where it begins, counted from 1.
    line: u64,
}

/// Why there is no next record.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The file cannot be read.
    Io(io::Error),
    /// The line that begins here has too many bytes.
    LongLine(u64),
    /// The line that begins here has too many cells.
    ManyCells(u64),
    /// A cell goes on in the next line.
    LineBreak { line: u64, column: usize },
}

/// A file, record by record.
pub(super) struct Records {
    file: BufReader<source::Reader>,
    rules: Reader,
    decimal_comma: bool,
    /// As long as the longest line so far.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One cell.
    pub(super) fn get(&self, column: usize) -> Option<&[u8]> {
        let end = *self.ends.get(column)?;
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }

    /// All cells.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|column| self.get(column))
    }

    /// Points in place of decimal commas.
    fn write_points(&mut self) {
        let mut start = 0;
        for &end in &self.ends {
            let cell = &mut self.bytes[start..end];
            if std::str::from_utf8(cell).is_ok_and(|cell| is_decimal_comma(cell.trim())) {
                cell.iter_mut().filter(|byte| **byte == b',').for_each(|byte| *byte = b'.');
            }
            start = end;
        }
    }

    /// The line of the file that it begins on, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("line", &self.rules.line()).finish_non_exhaustive()
    }
}

impl Records {
    pub(super) fn new(text: source::Reader, dialect: Dialect) -> Self {
        Self {
            file: BufReader::with_capacity(1 << 16, text),
            rules: ReaderBuilder::new().delimiter(dialect.separator).comment(Some(b'#')).build(),
            decimal_comma: dialect.decimal_comma,
            bytes: vec![0; 1 << 12],
            ends: vec![0; 1 << 7],
        }
    }

    /// Replaces `record` by the next one; `false` at the end of the file. Blank lines are none, nor are lines that begin
    /// with `#`.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        let (mut written, mut cells) = (0, 0);
        loop {
            let input = self.file.fill_buf().map_err(RecordError::Io)?;
            let (result, read, wrote, ended) =
                self.rules.read_record(input, &mut self.bytes[written..], &mut self.ends[cells..]);
            // The line's end, if that was read, is counted already.
            let ends_line = input[..read].last() == Some(&b'\n');
            self.file.consume(read);
            written += wrote;
            cells += ended;
            let breaks = self.bytes[..written].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let line = |counted| self.rules.line() - breaks - u64::from(counted);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.bytes.len() >= MAX_LINE => {
                    return Err(self
                        .line_break(written, cells, line(false))
                        .unwrap_or(RecordError::LongLine(line(false))));
                }
                ReadRecordResult::OutputFull => self.bytes.resize(2 * self.bytes.len(), 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() >= MAX_CELLS => {
                    return Err(RecordError::ManyCells(line(false)));
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => {
                    let line = line(ends_line);
                    if let Some(error) = self.line_break(written, cells, line) {
                        return Err(error);
                    }
                    record.bytes.clear();
                    record.bytes.extend_from_slice(&self.bytes[..written]);
                    record.ends.clear();
                    record.ends.extend_from_slice(&self.ends[..cells]);
                    record.line = line;
                    if self.decimal_comma {
                        record.write_points();
                    }
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// A quote that is never closed would swallow the rest of the file.
    fn line_break(&self, written: usize, cells: usize, line: u64) -> Option<RecordError> {
        let place = self.bytes[..written].iter().position(|byte| b"\r\n".contains(byte))?;
        let column = self.ends[..cells].iter().filter(|&&end| end <= place).count();
        Some(RecordError::LineBreak { line, column })
    }
}
