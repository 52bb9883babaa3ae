//! Rows from Parquet files, batch by batch: only the columns that are looked at are unpacked.
//!
//! A null is a missing cell. Nested columns are there by the names of their fields, lists cannot be read. The index that a data
//! frame writes beside its columns has no name here, as in CSV, so that nobody trains on it unasked. Memory: a batch of rows,
//! and a page of every column.

mod column;
mod guard;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::CompressionCodec;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::DataError;
use super::place::Place;
use super::records::MAX_CELLS;
use super::tabular::{Opened, Tabular};
use super::value::Value;
use column::Column;
use guard::guarded;

/// Rows that are unpacked at once.
const BATCH: usize = 4096;
/// Rows at most: they are counted in 32 bits.
const MAX_ROWS: u64 = u32::MAX as u64;
/// What pandas calls an index without a name.
const INDEX: &str = "__index_level_";

struct ParquetTable {
    path: PathBuf,
    file: SerializedFileReader<File>,
    columns: Vec<Column>,
    /// Which columns are unpacked.
    chosen: Vec<usize>,
    /// Rows of every row group.
    groups: Vec<u64>,
    /// The row group at hand, and how many of its rows are not unpacked yet.
    group: usize,
    group_left: u64,
    /// Whether its columns were opened.
    is_open: bool,
    /// Rows in the batch, and which of them is at hand.
    batch: usize,
    at: usize,
    row: u64,
}

/// Opens a file and reads what it says of its columns and row groups.
pub(super) fn open(path: &Path, file: File) -> Result<Opened, DataError> {
    let refused = |problem: String| DataError::Arrays { path: path.to_owned(), problem };
    let file = guarded(|| SerializedFileReader::new(file)).map_err(refused)?;
    let metadata = file.metadata();
    let rows = |rows: i64| {
        u64::try_from(rows).map_err(|_| refused("the numbers of rows in its metadata are damaged".to_owned()))
    };
    let groups: Vec<u64> =
        metadata.row_groups().iter().map(|group| rows(group.num_rows())).collect::<Result<_, _>>()?;
    let (total, said) =
        (groups.iter().fold(0_u64, |sum, &rows| sum.saturating_add(rows)), rows(metadata.file_metadata().num_rows())?);
    if total != said {
        return Err(refused(format!(
            "its row groups have {total} rows, but its metadata speaks of {said}; it is damaged"
        )));
    }
    if total > MAX_ROWS {
        return Err(refused(format!("has {total} rows; expected at most {MAX_ROWS}")));
    }
    let mut codecs =
        metadata.row_groups().iter().flat_map(|group| group.columns()).map(|column| column.compression_codec());
    if let Some(codec) = codecs.find(|codec| !is_unpacked(*codec)) {
        return Err(refused(format!(
            "its pages are packed with {codec:?}; expected Snappy, gzip, LZ4, or plain pages"
        )));
    }
    let described = metadata.file_metadata().schema_descr().columns();
    if described.is_empty() || described.len() > MAX_CELLS {
        return Err(refused(format!("has {} columns; expected 1 to {MAX_CELLS}", described.len())));
    }
    let mut fields: HashMap<&str, usize> = HashMap::new();
    for description in described {
        *fields.entry(column::field(description)).or_default() += 1;
    }
    let column = |description| Column::of(description, fields[column::field(description)] == 1);
    let columns: Vec<Column> = described.iter().map(column).collect();
    let name =
        |column: &Column| if column.name.starts_with(INDEX) { String::new() } else { column.name.trim().to_owned() };
    let names = columns.iter().map(name).collect();
    let count = columns.len();
    let group_left = groups.first().copied().unwrap_or(0);
    let table = ParquetTable {
        path: path.to_owned(),
        file,
        chosen: (0..count).collect(),
        columns,
        groups,
        group: 0,
        group_left,
        is_open: false,
        batch: 0,
        at: 0,
        row: 0,
    };
    let (names, found, sections) = (Some(names), Vec::new(), Vec::new());
    Ok(Opened { columns: count, names, unnamed: "the columns have no names", found, sections, table: Box::new(table) })
}

/// Whether pages can be unpacked that are packed so.
fn is_unpacked(codec: CompressionCodec) -> bool {
    use CompressionCodec::{GZIP, LZ4, LZ4_RAW, SNAPPY, UNCOMPRESSED};
    matches!(codec, UNCOMPRESSED | SNAPPY | GZIP | LZ4 | LZ4_RAW)
}

impl ParquetTable {
    /// Unpacks the next batch; `false` at the end of the file.
    fn fill(&mut self) -> Result<bool, String> {
        while self.group_left == 0 {
            if self.is_open {
                self.check_end()?;
                self.is_open = false;
            }
            self.group += 1;
            match self.groups.get(self.group) {
                Some(&rows) => self.group_left = rows,
                None => return Ok(false),
            }
        }
        if !self.is_open {
            let row_group = guarded(|| self.file.get_row_group(self.group))?;
            for &column in &self.chosen {
                let reader = guarded(|| row_group.get_column_reader(column))?;
                self.columns[column].open(reader);
            }
            self.is_open = true;
        }
        let wanted = usize::try_from(self.group_left).map_or(BATCH, |left| left.min(BATCH));
        for &column in &self.chosen {
            let column = &mut self.columns[column];
            if guarded(|| column.fill(wanted)).map_err(|problem| format!("column {:?}: {problem}", column.name))?
                < wanted
            {
                let rows = self.groups[self.group];
                return Err(format!("column {:?} ends before row {rows}, the last", column.name));
            }
        }
        self.group_left -= wanted as u64;
        (self.batch, self.at) = (wanted, 0);
        Ok(true)
    }

    /// Refuses columns that go on behind the last row of a group.
    fn check_end(&mut self) -> Result<(), String> {
        for &column in &self.chosen {
            let column = &mut self.columns[column];
            if column.is_unpacked() && guarded(|| column.fill(1))? > 0 {
                let rows = self.groups[self.group];
                return Err(format!("column {:?} goes on behind row {rows}, the last", column.name));
            }
        }
        Ok(())
    }

    fn in_group(&self, problem: String) -> DataError {
        let problem = format!("row group {}: {problem}", self.group + 1);
        DataError::Arrays { path: self.path.clone(), problem }
    }

    /// The first cells of a column, which is read for that alone.
    fn first_cells(&mut self, column: usize, rows: usize) -> Result<Vec<Value<'static>>, String> {
        let mut cells = Vec::new();
        for (group, &in_group) in self.groups.iter().enumerate().filter(|&(_, &in_group)| in_group > 0) {
            let wanted = usize::try_from(in_group).unwrap_or(rows).min(rows - cells.len());
            if wanted == 0 {
                break;
            }
            let row_group = guarded(|| self.file.get_row_group(group))?;
            let reader = guarded(|| row_group.get_column_reader(column))?;
            let column = &mut self.columns[column];
            column.open(reader);
            let read = guarded(|| column.fill(wanted))?;
            cells.extend((0..read).map(|row| column.value(row).into_owned()));
        }
        Ok(cells)
    }
}

impl Tabular for ParquetTable {
    fn next(&mut self) -> Result<bool, DataError> {
        self.at += 1;
        if self.at >= self.batch && !self.fill().map_err(|problem| self.in_group(problem))? {
            (self.batch, self.at) = (0, 0);
            return Ok(false);
        }
        self.row += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> Value<'_> {
        self.columns[column].value(self.at)
    }

    fn place(&self) -> Place {
        Place { row: self.row, line: None, row_group: Some(self.group + 1) }
    }

    fn beginning(&mut self, column: usize, rows: usize) -> Vec<Value<'_>> {
        if self.row == 0 { self.first_cells(column, rows).unwrap_or_default() } else { Vec::new() }
    }

    fn choose(&mut self, columns: &[usize]) {
        if self.row == 0 && !columns.is_empty() {
            self.chosen = columns.to_vec();
        }
    }
}

impl std::fmt::Debug for ParquetTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetTable").field("path", &self.path).field("row", &self.row).finish_non_exhaustive()
    }
}
