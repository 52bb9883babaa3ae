//! Inputs that are copies of others, or linear functions of them: a correlation of 0.9999 or more, on up to 5000 rows.

use super::column::{Column, correlation, sample};
use super::finding::{Finding, Label};
use crate::data::Dataset;

/// Rows that are compared at most.
const ROWS: usize = 5000;
/// Of a copy.
const SAME: f64 = 0.9999;

pub(super) fn find(data: &Dataset) -> Vec<Finding> {
    let rows = sample(data.rows(), ROWS);
    let columns: Vec<_> = (0..data.inputs()).map(|input| Column::Input(input).standardised(data, &rows)).collect();
    let of_input = |input: usize| {
        let values = columns[input].as_ref()?;
        let correlations =
            columns[..input].iter().map(|other| other.as_ref().map_or(0.0, |of| correlation(values, of)));
        let (of, correlation) =
            correlations.enumerate().filter(|(_, r)| r.abs() >= SAME).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let exact = (0..data.rows()).map(|row| data.input_row(row)).all(|x| x[input] == x[of]);
        Some(Finding::Copy { column: Label::input(data, input), of: Label::input(data, of), correlation, exact })
    };
    (0..data.inputs()).filter_map(of_input).collect()
}
