//! The rows of an array one after the other, whichever order the array has in its file.

use std::fmt;
use std::io::{self, BufReader, Cursor, Read};

use super::super::zip::{Section, refused};
use super::header::Header;

/// Bytes of an array in memory, about, while it is read.
pub(super) const BUFFER: usize = 1 << 22;

/// Bytes that can be read at any place.
pub(super) trait Anywhere: fmt::Debug + Send {
    /// Fills a buffer with what is at so many bytes from the beginning.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Anywhere for Section {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.go_to(offset);
        self.read_exact(buffer)
    }
}

impl Anywhere for Cursor<Vec<u8>> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.set_position(offset);
        self.read_exact(buffer)
    }
}

/// The bytes of rows.
pub(super) enum Records {
    /// As they follow each other.
    ByRow(BufReader<Box<dyn Read + Send>>),
    /// Gathered from columns.
    ByColumn(Blocks),
}

/// Stretches of all columns.
#[derive(Debug)]
pub(super) struct Blocks {
    bytes: Box<dyn Anywhere>,
    /// Where the array begins.
    start: u64,
    rows: u64,
    columns: usize,
    element: usize,
    /// Rows that fit in.
    most: usize,
    /// Column after column, `most` elements each.
    block: Vec<u8>,
    /// The row that is next, and how many from it on are in the block, which ends with them.
    next: u64,
    left: usize,
    held: usize,
}

impl Records {
    /// Rows from bytes behind the header; `share` arrays are read side by side.
    pub(super) fn by_row(bytes: Box<dyn Read + Send>, share: usize) -> Self {
        Self::ByRow(BufReader::with_capacity((BUFFER / share.max(1)).clamp(1 << 12, 1 << 20), bytes))
    }

    /// Rows from all bytes of the array, its header among them.
    pub(super) fn by_column(bytes: Box<dyn Anywhere>, header: &Header) -> Self {
        let columns = header.columns.len();
        let most = (BUFFER / header.row).clamp(1, 1 << 16);
        let most = usize::try_from(header.rows).map_or(most, |rows| most.min(rows));
        Self::ByColumn(Blocks {
            bytes,
            start: header.bytes,
            rows: header.rows,
            columns,
            element: header.row / columns,
            most,
            block: vec![0; most * header.row],
            next: 0,
            left: 0,
            held: 0,
        })
    }

    /// The next row; there must be one.
    pub(super) fn next(&mut self, row: &mut [u8]) -> io::Result<()> {
        match self {
            Self::ByRow(bytes) => bytes.read_exact(row),
            Self::ByColumn(blocks) => blocks.next(row),
        }
    }

    /// Refuses what follows the last row.
    pub(super) fn end(&mut self) -> io::Result<()> {
        match self {
            Self::ByRow(bytes) => match bytes.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(refused("bytes follow the last row; expected one array, as long as its header says")),
            },
            Self::ByColumn(_) => Ok(()),
        }
    }
}

impl Blocks {
    fn next(&mut self, row: &mut [u8]) -> io::Result<()> {
        if self.left == 0 {
            self.fill()?;
        }
        let at = self.held - self.left;
        for (column, cell) in row.chunks_exact_mut(self.element).enumerate() {
            let from = (column * self.most + at) * self.element;
            cell.copy_from_slice(&self.block[from..from + self.element]);
        }
        self.left -= 1;
        self.next += 1;
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        let rows = usize::try_from(self.rows - self.next).map_or(self.most, |rows| rows.min(self.most));
        for column in 0..self.columns {
            let stretch = &mut self.block[column * self.most * self.element..][..rows * self.element];
            let first = column as u64 * self.rows + self.next;
            self.bytes.read_at(self.start + first * self.element as u64, stretch)?;
        }
        (self.left, self.held) = (rows, rows);
        Ok(())
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByRow(_) => f.write_str("ByRow"),
            Self::ByColumn(blocks) => write!(f, "ByColumn({} of {} rows)", blocks.next, blocks.rows),
        }
    }
}
