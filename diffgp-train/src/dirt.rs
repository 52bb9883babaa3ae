//! What looks wrong in a data set that can be trained on nevertheless: values that stand for missing ones, targets far
//! from the rest, rows that occur twice, inputs that give the answer away.
//!
//! Nothing here changes the data or stops a run. The limits are chosen so that ordinary data is silent; docs/data.md lists
//! them. Cost: O(N log N) for every column; what compares columns or rows with each other takes a sample of them.

mod column;
mod copies;
mod duplicates;
mod extremes;
mod finding;
mod leaks;
mod order;
mod sentinels;
mod skew;

pub use finding::{Finding, Label};

use self::column::Columns;
use crate::data::Dataset;

/// Fewer rows than this tell nothing.
const FEW_ROWS: usize = 20;
/// Rows that a message names at most.
const NAMED: usize = 5;

/// Inputs that are copies of others, or linear functions of them.
pub fn copies(data: &Dataset) -> Vec<Finding> {
    copies::find(data)
}

/// What looks wrong in all rows of a file, of which those of `held_out` (ascending, from 0) are kept from training.
pub fn look(data: &Dataset, held_out: &[usize]) -> Vec<Finding> {
    if data.rows() < FEW_ROWS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for column in Columns::of(data) {
        let (sentinels, rest) = sentinels::find(data, column);
        found.extend(sentinels);
        let skewed = skew::find(data, column);
        // What is far off on one scale is ordinary on the other.
        let scale = if skewed.is_some() { f64::ln } else { |value| value };
        found.extend(extremes::find(data, column, &rest, scale));
        found.extend(skewed);
    }
    found.extend(duplicates::find(data, held_out));
    found.extend(copies::find(data));
    found.extend(leaks::find(data));
    found.extend(order::find(data, held_out));
    found
}

#[cfg(test)]
mod tests;
