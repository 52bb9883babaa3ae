//! Data sets: one row-major f32 copy of the inputs and the target, in raw units.
//!
//! Nothing is standardised here: [`Scaling`] does that while a batch is gathered, so a data set of N rows and D inputs
//! costs 4·N·(D+1) bytes from the first line read to the end of training.

mod cell;
mod csv_rows;
mod error;
mod first_line;
mod memory;
mod names;
mod scaling;
mod split;
mod spread;

use std::path::Path;

pub use csv_rows::CsvRows;
pub use error::{CellProblem, DataError};
pub use first_line::Header;
pub use scaling::{Affine, COARSE, Range, Scaling};
pub use split::{count_splits, read_test_rows};

/// Rows of finite numbers with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    x: Vec<f32>,
    y: Vec<f32>,
    inputs: usize,
    names: Option<Vec<String>>,
    target_name: Option<String>,
}

/// Which columns of a file are used, each by its name, or by its index counted from 0 when no column has that name.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The column to predict.
    pub target: &'a str,
    /// Columns to leave out; they may hold anything. All others are inputs.
    pub ignored: &'a [String],
}

impl<'a> From<&'a str> for Columns<'a> {
    fn from(target: &'a str) -> Self {
        Self { target, ignored: &[] }
    }
}

/// What the target column may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Any finite number.
    Real,
    /// 0 or 1.
    Binary,
}

impl Dataset {
    /// Reads a CSV file, row by row.
    pub fn read_csv<'a>(
        path: &Path,
        columns: impl Into<Columns<'a>>,
        header: Header,
        kind: TargetKind,
    ) -> Result<Self, DataError> {
        let Columns { target, ignored } = columns.into();
        let mut rows = CsvRows::open(path, header, ignored)?;
        let column = rows.find_column(target)?;
        let ignored = rows.find_columns(ignored)?;
        if ignored.contains(&column) {
            return Err(DataError::TargetIgnored { path: path.to_owned(), target: target.to_owned() });
        }
        // The inputs in the order of the file, then the target.
        let mut used: Vec<usize> = (0..rows.columns()).filter(|i| *i != column && !ignored.contains(i)).collect();
        let inputs = used.len();
        if inputs == 0 {
            return Err(DataError::NoInputs { path: path.to_owned() });
        }
        used.push(column);
        rows.check_names(&used)?;
        let (mut x, mut y, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        while rows.next_cells(&used, &mut cells)? {
            let value = cells[inputs];
            if kind == TargetKind::Binary && value != 0.0 && value != 1.0 {
                return Err(rows.class_error(column, value));
            }
            x.extend_from_slice(&cells[..inputs]);
            y.push(value);
        }
        if y.is_empty() {
            return Err(DataError::NoRows { path: Some(path.to_owned()) });
        }
        used.iter().try_for_each(|&column| rows.check_spread(column, 0.0))?;
        x.shrink_to_fit();
        let mut names = rows.names().map(|names| used.iter().map(|&i| names[i].clone()).collect::<Vec<_>>());
        let target_name = names.as_mut().and_then(Vec::pop);
        Ok(Self { x, y, inputs, names, target_name })
    }

    /// N, the number of rows.
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    /// D, the number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The inputs of row `i`, in raw units.
    pub fn input_row(&self, i: usize) -> &[f32] {
        &self.x[i * self.inputs..(i + 1) * self.inputs]
    }

    /// All targets, in raw units.
    pub fn targets(&self) -> &[f32] {
        &self.y
    }

    /// A number that changes with any row, its place or any name (checkpoints refuse other data by it).
    ///
    /// FNV-1a over 32-bit words: not cryptographic, and fast enough for gigabytes.
    pub fn fingerprint(&self) -> u64 {
        let words = self.x.iter().chain(&self.y).map(|v| v.to_bits());
        let names = self.names.iter().flatten().chain(&self.target_name).flat_map(|name| name.bytes().map(u32::from));
        std::iter::once(self.inputs as u32)
            .chain(words)
            .chain(names)
            .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_sees_values_and_order() {
        let data = |x: [f32; 2]| Dataset::new(x.to_vec(), vec![0.0, 1.0], 1).unwrap().fingerprint();
        assert_eq!(data([1.0, 2.0]), data([1.0, 2.0]));
        assert_ne!(data([1.0, 2.0]), data([2.0, 1.0]));
        assert_ne!(data([0.0, 2.0]), data([-0.0, 2.0]));
    }
}
