//! Columns of a data set, one after the other, and samples of their rows.

use super::finding::Label;
use crate::data::Dataset;

/// An input, or a target that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Input(usize),
    Target(usize),
}

/// All of them.
pub(super) struct Columns;

impl Columns {
    pub(super) fn of(data: &Dataset) -> impl Iterator<Item = Column> + use<> {
        let targets = if data.classes().is_some() { 0 } else { data.outputs() };
        (0..data.inputs()).map(Column::Input).chain((0..targets).map(Column::Target))
    }
}

impl Column {
    /// The value in a row.
    pub(super) fn at(self, data: &Dataset, row: usize) -> f32 {
        match self {
            Self::Input(input) => data.input_row(row)[input],
            Self::Target(output) => data.target_row(row)[output],
        }
    }

    /// All values, in the order of the rows.
    pub(super) fn values(self, data: &Dataset) -> impl Iterator<Item = f32> + Clone {
        (0..data.rows()).map(move |row| self.at(data, row))
    }

    pub(super) fn label(self, data: &Dataset) -> Label {
        match self {
            Self::Input(input) => Label::input(data, input),
            Self::Target(output) => Label::target(data, output),
        }
    }

    /// The first rows that hold such a value.
    pub(super) fn rows_with(self, data: &Dataset, is_such: impl Fn(f32) -> bool, most: usize) -> Vec<usize> {
        (0..data.rows()).filter(|&row| is_such(self.at(data, row))).take(most).collect()
    }

    /// Mean 0 and mean square 1 over these rows; `None` if all values are the same.
    pub(super) fn standardised(self, data: &Dataset, rows: &[usize]) -> Option<Vec<f64>> {
        let count = rows.len() as f64;
        let values: Vec<f64> = rows.iter().map(|&row| f64::from(self.at(data, row))).collect();
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        let varies = values.iter().any(|value| *value != values[0]) && deviation > 0.0;
        varies.then(|| values.into_iter().map(|value| (value - mean) / deviation).collect())
    }
}

/// Up to `most` rows, evenly spaced over the file.
pub(super) fn sample(rows: usize, most: usize) -> Vec<usize> {
    let taken = rows.min(most);
    (0..taken).map(|place| place * rows / taken).collect()
}

/// Of columns that are standardised.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64
}
