//! Rows from arrays of NumPy: `.npy`, and `.npz`, the zip archives of `numpy.savez`.
//!
//! Which arrays of an archive make the columns:
//!
//! 1. an array alone is read as from a file of its own: rows by columns, or records, whose fields have names;
//! 2. `X` and `y` are columns one after the other, without names; other arrays beside them are not read;
//! 3. arrays with one axis each, of the same length, are columns with the names of the arrays.
//!
//! The crate npyz was looked at: it takes a header as long as a file says, 4 GiB, multiplies shapes without a look at overflow,
//! and its archives bring bzip2 and zstd. Memory: a buffer of 4 MiB; what is packed and has columns one after the other is
//! unpacked whole, since rows are needed.

mod element;
mod header;
mod literal;
mod records;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::DataError;
use super::contents::Bytes;
use super::place::Place;
use super::tabular::{Opened, Tabular};
use super::value::Value;
use super::zip::{Archive, Member, Section, refused};
use header::{Column, Header};
use records::Records;

/// What is read, as advice.
const READ: &str = "expected floats of 16, 32 or 64 bits, integers or bool, as after astype(float)";
/// Arrays that a message lists at most.
const LISTED: usize = 10;

/// An array that is read row by row.
#[derive(Debug)]
struct Array {
    columns: Vec<Column>,
    records: Records,
    /// The row at hand.
    row: Vec<u8>,
}

/// Arrays of the same number of rows, side by side.
#[derive(Debug)]
struct ArrayTable {
    path: PathBuf,
    arrays: Vec<Array>,
    /// The array and the column in it.
    columns: Vec<(usize, usize)>,
    rows: u64,
    /// The row at hand, and how many were read.
    row: u64,
    read: u64,
    /// Rows that were looked at already, of every array.
    ahead: VecDeque<Vec<Vec<u8>>>,
    /// What came behind them, if that was no row.
    after: Option<Result<bool, DataError>>,
}

/// A file with one array.
pub(super) fn open_array(path: &Path, bytes: Bytes) -> Result<Opened, DataError> {
    let failed = |error| of_file(path, error);
    let (array, header) = match bytes {
        Bytes::File(file, length) => Array::of_section(Section::of(file, length), length).map_err(failed)?,
        Bytes::Stream(mut bytes) => {
            let header = header::read(&mut bytes).map_err(failed)?;
            if header.by_column {
                let unpacked = unpacked(bytes, &header).map_err(failed)?;
                (Array::new(&header, Records::by_column(unpacked, &header)), header)
            } else {
                (Array::new(&header, Records::by_row(bytes, 1)), header)
            }
        }
    };
    Ok(ArrayTable::of(path, vec![(array, header)]).opened(None, Vec::new(), Vec::new()))
}

/// An archive of arrays.
pub(super) fn open_archive(path: &Path, file: File) -> Result<Opened, DataError> {
    let failed = |error| of_file(path, error);
    let archive = Archive::open(file).map_err(failed)?;
    let arrays: Vec<(&str, &Member)> =
        archive.members().iter().filter_map(|member| Some((member.name.strip_suffix(".npy")?, member))).collect();
    let open = |(name, member): &(&str, &Member), share| {
        Array::of_member(&archive, member, share).map_err(|error| of_file(path, in_array(name, error)))
    };
    if arrays.is_empty() {
        let problem = "holds no arrays; expected what numpy.savez writes".to_owned();
        return Err(DataError::Arrays { path: path.to_owned(), problem });
    }
    if let [only] = arrays.as_slice() {
        return Ok(ArrayTable::of(path, vec![open(only, 1)?]).opened(None, Vec::new(), Vec::new()));
    }
    let named = |wanted: &str| arrays.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    if let (Some(x), Some(y)) = (named("x"), named("y")) {
        let parts = vec![open(x, 2)?, open(y, 2)?];
        let rows = [parts[0].1.rows, parts[1].1.rows];
        if rows[0] != rows[1] {
            let problem = format!("{} has {} rows and {} has {}; expected the same number", x.0, rows[0], y.0, rows[1]);
            return Err(DataError::Arrays { path: path.to_owned(), problem });
        }
        if let Some(place) = parts.iter().position(|(_, header)| header.named) {
            let problem = format!("array {} holds records; expected numbers in X and y", [x.0, y.0][place]);
            return Err(DataError::Arrays { path: path.to_owned(), problem });
        }
        let [inputs, targets] = [0, 1].map(|part| parts[part].1.columns.len());
        let sections = vec![(x.0.to_owned(), 0..inputs), (y.0.to_owned(), inputs..inputs + targets)];
        let mut found: Vec<String> = sections.iter().map(|(name, columns)| told(name, columns)).collect();
        let others: Vec<&str> =
            arrays.iter().map(|(name, _)| *name).filter(|name| ![x.0, y.0].contains(name)).collect();
        if !others.is_empty() {
            found.push(format!("without {}", listed(&others)));
        }
        return Ok(ArrayTable::of(path, parts).opened(None, found, sections));
    }
    let headers: Vec<Header> = arrays
        .iter()
        .map(|(name, member)| {
            archive
                .read(member)
                .and_then(|mut bytes| header::read(&mut bytes))
                .map_err(|e| of_file(path, in_array(name, e)))
        })
        .collect::<Result<_, _>>()?;
    let is_column = |header: &Header| header.axes == 1 && !header.named && header.rows == headers[0].rows;
    if !headers.iter().all(is_column) {
        let described: Vec<String> =
            arrays.iter().zip(&headers).map(|((name, _), header)| format!("{name} {}", header.shape)).collect();
        let described: Vec<&str> = described.iter().map(String::as_str).collect();
        let problem = format!(
            "holds the arrays {}; expected one array alone, X and y, or arrays with one axis and the same length, each a column",
            listed(&described)
        );
        return Err(DataError::Arrays { path: path.to_owned(), problem });
    }
    let parts = arrays.iter().map(|array| open(array, arrays.len())).collect::<Result<_, _>>()?;
    let names = arrays.iter().map(|(name, _)| name.trim().to_owned()).collect();
    Ok(ArrayTable::of(path, parts).opened(Some(names), Vec::new(), Vec::new()))
}

/// The columns of an array, for the note on what was found.
fn told(name: &str, columns: &std::ops::Range<usize>) -> String {
    match columns.len() {
        1 => format!("column {} from {name}", columns.start),
        _ => format!("columns {} to {} from {name}", columns.start, columns.end - 1),
    }
}

fn listed(names: &[&str]) -> String {
    let mut listed = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        listed.push_str(&format!(", … ({} in all)", names.len()));
    }
    listed
}

/// What is wrong with an array of several.
fn in_array(name: &str, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidData => refused(format!("array {}: {error}", super::cell::quoted(name))),
        _ => error,
    }
}

fn of_file(path: &Path, error: io::Error) -> DataError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::InvalidData => DataError::Arrays { path, problem: error.to_string() },
        io::ErrorKind::UnexpectedEof => {
            DataError::Arrays { path, problem: "ends within its header; was it cut short?".to_owned() }
        }
        _ => DataError::Io { path, source: error },
    }
}

/// The bytes behind a header, all of them in memory: rows are gathered from everywhere in them.
fn unpacked(bytes: Box<dyn Read + Send>, header: &Header) -> io::Result<Box<Cursor<Vec<u8>>>> {
    let length = header.length();
    // The header's place stays empty; memory grows with what is there, not with what is said.
    let mut all = vec![0; header.bytes as usize];
    let mut bytes = bytes.take(length + 1);
    bytes.read_to_end(&mut all)?;
    check_length(all.len() as u64, header)?;
    Ok(Box::new(Cursor::new(all)))
}

/// Refuses an array that is shorter or longer than its shape, header included.
fn check_length(bytes: u64, header: &Header) -> io::Result<()> {
    let (held, expected) = (bytes.saturating_sub(header.bytes), header.length());
    let advice = match held.cmp(&expected) {
        std::cmp::Ordering::Less => "was it cut short?",
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => "expected one array alone",
    };
    Err(refused(format!("its shape {} takes {expected} bytes, but {held} follow its header; {advice}", header.shape)))
}

impl Array {
    fn new(header: &Header, records: Records) -> Self {
        Self { columns: header.columns.clone(), records, row: vec![0; header.row] }
    }

    /// An array that lies in a file as it is.
    fn of_section(mut section: Section, length: u64) -> io::Result<(Self, Header)> {
        let header = header::read(&mut section)?;
        check_length(length, &header)?;
        let records = match header.by_column {
            true => Records::by_column(Box::new(section), &header),
            false => Records::by_row(Box::new(section), 1),
        };
        Ok((Self::new(&header, records), header))
    }

    /// An array in an archive; `share` of them are read side by side.
    fn of_member(archive: &Archive, member: &Member, share: usize) -> io::Result<(Self, Header)> {
        let mut bytes = archive.read(member)?;
        let header = header::read(&mut bytes)?;
        check_length(member.size, &header)?;
        let records = match (header.by_column, member.is_stored()) {
            (false, _) => Records::by_row(bytes, share),
            (true, true) => Records::by_column(Box::new(archive.section(member)?), &header),
            (true, false) => Records::by_column(unpacked(bytes, &header)?, &header),
        };
        Ok((Self::new(&header, records), header))
    }
}

impl ArrayTable {
    /// Of arrays with as many rows as the first has.
    fn of(path: &Path, parts: Vec<(Array, Header)>) -> Self {
        let rows = parts.first().map_or(0, |(_, header)| header.rows);
        let arrays: Vec<Array> = parts.into_iter().map(|(array, _)| array).collect();
        let of_array = |(index, array): (usize, &Array)| (0..array.columns.len()).map(move |column| (index, column));
        let columns = arrays.iter().enumerate().flat_map(of_array).collect();
        Self { path: path.to_owned(), arrays, columns, rows, row: 0, read: 0, ahead: VecDeque::new(), after: None }
    }

    /// With the given names, or those of the records of an array alone.
    fn opened(
        self,
        names: Option<Vec<String>>,
        found: Vec<String>,
        sections: Vec<(String, std::ops::Range<usize>)>,
    ) -> Opened {
        let own = || match self.arrays.as_slice() {
            [array] if array.columns.iter().any(|column| !column.name.is_empty()) => {
                Some(array.columns.iter().map(|column| column.name.clone()).collect())
            }
            _ => None,
        };
        let unnamed = if sections.is_empty() { "the array has no names" } else { "X and y have no names" };
        Opened {
            columns: self.columns.len(),
            names: names.or_else(own),
            unnamed,
            found,
            sections,
            table: Box::new(self),
        }
    }

    fn read_row(&mut self) -> Result<bool, DataError> {
        let ended = self.read == self.rows;
        let (path, row) = (&self.path, self.read + 1);
        for array in &mut self.arrays {
            let outcome = if ended { array.records.end() } else { array.records.next(&mut array.row) };
            outcome.map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    let problem = format!("ends within row {row} of {}; was it cut short?", self.rows);
                    DataError::Arrays { path: path.clone(), problem }
                }
                _ => of_file(path, error),
            })?;
        }
        self.read += u64::from(!ended);
        Ok(!ended)
    }
}

impl Tabular for ArrayTable {
    fn next(&mut self) -> Result<bool, DataError> {
        let is_row = match self.ahead.pop_front() {
            Some(rows) => {
                self.arrays.iter_mut().zip(rows).for_each(|(array, row)| array.row = row);
                true
            }
            None => self.after.take().unwrap_or_else(|| self.read_row())?,
        };
        self.row += u64::from(is_row);
        Ok(is_row)
    }

    fn cell(&self, column: usize) -> Value<'_> {
        let (array, column) = self.columns[column];
        let array = &self.arrays[array];
        array.columns[column].value(&array.row)
    }

    fn place(&self) -> Place {
        Place { row: self.row, ..Place::default() }
    }

    fn beginning(&mut self, column: usize, rows: usize) -> Vec<Value<'_>> {
        while self.ahead.len() < rows && self.after.is_none() {
            match self.read_row() {
                Ok(true) => self.ahead.push_back(self.arrays.iter().map(|array| array.row.clone()).collect()),
                outcome => self.after = Some(outcome),
            }
        }
        let (array, column) = self.columns[column];
        let column = &self.arrays[array].columns[column];
        self.ahead.iter().take(rows).map(|row| column.value(&row[array])).collect()
    }
}

#[cfg(test)]
mod tests;
