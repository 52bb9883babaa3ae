//! Data sets: one row-major f32 copy of the inputs and the targets, in raw units.
//!
//! Nothing is standardised here: [`Scaling`] does that while a batch is gathered, so a data set of N rows, D inputs and O targets
//! costs 4·N·(D+O) bytes from the first line read to the end of training.

mod arrays;
mod categories;
mod cell;
mod classes;
mod contents;
mod csv_table;
mod dialect;
mod error;
mod first_line;
mod groups;
mod memory;
mod names;
#[cfg(feature = "parquet")]
mod parquet_table;
#[cfg(not(feature = "parquet"))]
#[path = "data/no_parquet.rs"]
mod parquet_table;
mod place;
mod ranking;
mod records;
mod rows;
mod scaling;
mod selected;
mod source;
mod split;
mod spread;
mod survey;
mod table;
mod tabular;
mod value;
mod words;
mod zip;

pub use categories::{Category, Field, MAX_CATEGORIES, fields};
pub use classes::MAX_CLASSES;
pub use error::{CellProblem, DataError};
pub use first_line::Header;
pub use groups::read_groups;
pub use place::Place;
pub use records::{MAX_CELLS, MAX_LINE};
pub use rows::{Rows, Watched};
pub use scaling::{Affine, COARSE, Range, Scaling};
pub use split::{count_splits, read_test_rows};

/// Rows of finite numbers with one or more targets, or with a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    x: Vec<f32>,
    y: Vec<f32>,
    inputs: usize,
    outputs: usize,
    names: Option<Vec<String>>,
    target_names: Option<Vec<String>>,
    /// The target is an index into them.
    classes: Option<Vec<String>>,
    /// Of every row: rows of one group stay together.
    groups: Option<Vec<u32>>,
}

/// Which columns of a file are used, each by its name, or by its index counted from 0 when no column has that name.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The columns to predict, separated by commas. A name with commas in it is one column.
    pub targets: &'a str,
    /// Columns to leave out; they may hold anything. All others are inputs.
    pub ignored: &'a [String],
    /// What becomes of missing cells.
    pub missing: Missing,
}

impl<'a> From<&'a str> for Columns<'a> {
    fn from(targets: &'a str) -> Self {
        Self { targets, ignored: &[], missing: Missing::Refuse }
    }
}

/// What becomes of cells without a value: empty ones, `NA`, `null`, `?`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are errors.
    #[default]
    Refuse,
    /// Their rows are left out.
    Drop,
    /// Inputs become the mean of their column, or of the rows that a model was trained on; targets are errors.
    Mean,
}

/// What the target columns may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Any finite number.
    Real,
    /// Classes: words or whole numbers, two to 32 different ones, in one column.
    Classes,
    /// Classes if there is one column and its first cell is a word, else numbers.
    Detect,
}

impl Dataset {
    /// N, the number of rows.
    pub fn rows(&self) -> usize {
        self.x.len() / self.inputs
    }

    /// D, the number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The inputs of row `i`, in raw units.
    pub fn input_row(&self, i: usize) -> &[f32] {
        &self.x[i * self.inputs..(i + 1) * self.inputs]
    }

    /// O, the number of targets of a row: 1 for a class.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// All targets, `[N, O]` row-major: in raw units, or indices of classes.
    pub fn targets(&self) -> &[f32] {
        &self.y
    }

    /// The targets of row `i`.
    pub fn target_row(&self, i: usize) -> &[f32] {
        &self.y[i * self.outputs..(i + 1) * self.outputs]
    }

    /// A number that changes with any row, its place or any name (checkpoints refuse other data by it).
    ///
    /// FNV-1a over 32-bit words: not cryptographic, and fast enough for gigabytes.
    pub fn fingerprint(&self) -> u64 {
        let words = self.x.iter().chain(&self.y).map(|v| v.to_bits());
        // One target of numbers, or of 0 and 1, adds nothing: results that were kept are found by these numbers.
        let outputs = (self.outputs > 1).then_some(self.outputs as u32);
        let classes = self.classes.iter().filter(|names| *names != &["0", "1"]).flatten();
        let names = [&self.names, &self.target_names].into_iter().flatten().flatten().chain(classes);
        std::iter::once(self.inputs as u32)
            .chain(words)
            .chain(names.flat_map(|name| name.bytes().map(u32::from)))
            .chain(outputs)
            .chain(self.groups.iter().flatten().copied())
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

    #[test]
    fn the_fingerprint_sees_shapes_and_classes() {
        let values = [1.0_f32; 12];
        let shaped = |rows: usize, outputs: usize| {
            Dataset::with_outputs(values[..rows].to_vec(), values[rows..].to_vec(), 1, outputs).unwrap().fingerprint()
        };
        assert_ne!(shaped(6, 1), shaped(4, 2));
        let labelled = |labels: [&str; 2]| Dataset::from_labels(&[1.0, 2.0], &labels, 1).unwrap().fingerprint();
        assert_ne!(labelled(["a", "b"]), labelled(["a", "c"]));
        assert_ne!(labelled(["a", "b"]), labelled(["b", "a"]));
        assert_eq!(labelled(["0", "1"]), Dataset::new(vec![1.0, 2.0], vec![0.0, 1.0], 1).unwrap().fingerprint());
    }
}
