//! Values that stand for missing ones: -999, 9999, -1e30, or a zero where nothing else is near zero.
//!
//! The smallest or largest value of a column is one if all others are far from it: further than twice their own range if it
//! occurs three times or more, than half of it if it is a number that loggers and databases use so. The others must be at
//! least half of the rows and of ten values.

use super::column::Column;
use super::finding::Finding;
use super::{FEW_ROWS, NAMED};
use crate::data::Dataset;

/// Found in one column at most.
const MOST: usize = 4;
/// Different values that the rest must have.
const DISTINCT: usize = 10;
/// Occurrences of a value that is not known to be used so.
const REPEATED: usize = 3;
/// Distance from the rest, in ranges of it: of any value, and of one that is known.
const FAR: [f64; 2] = [2.0, 0.5];
/// The limits of integers of 16 and 32 bits.
const LIMITS: [f32; 6] = [32_767.0, -32_768.0, 65_535.0, 2_147_483_648.0, -2_147_483_648.0, 4_294_967_296.0];

/// What was found, and the other values, sorted.
pub(super) fn find(data: &Dataset, column: Column) -> (Vec<Finding>, Vec<f32>) {
    let mut rest: Vec<f32> = column.values(data).collect();
    rest.sort_unstable_by(f32::total_cmp);
    let mut found = Vec::new();
    while found.len() < MOST
        && let Some((value, count, others)) = [false, true].into_iter().find_map(|high| outermost(&rest, high))
    {
        let range = if others.start > 0 { others.start..rest.len() } else { 0..others.end };
        if 2 * range.len() < data.rows() {
            break;
        }
        rest = rest[range].to_vec();
        let rows = column.rows_with(data, |other| other == value, NAMED);
        let others = (rest[0], rest[rest.len() - 1]);
        found.push(Finding::Sentinel { column: column.label(data), value, count, rows, others });
    }
    (found, rest)
}

/// The value at one end of sorted values, if it is a sentinel: how often it occurs, and where the others are.
fn outermost(sorted: &[f32], high: bool) -> Option<(f32, usize, std::ops::Range<usize>)> {
    let value = if high { *sorted.last()? } else { *sorted.first()? };
    let others = match high {
        true => 0..sorted.partition_point(|&other| other < value),
        false => sorted.partition_point(|&other| other <= value)..sorted.len(),
    };
    let rest = &sorted[others.clone()];
    if rest.len() < FEW_ROWS || rest.chunk_by(|a, b| a == b).take(DISTINCT).count() < DISTINCT {
        return None;
    }
    let [low, top] = [rest[0], rest[rest.len() - 1]].map(f64::from);
    let gap = if high { f64::from(value) - top } else { low - f64::from(value) };
    let count = sorted.len() - rest.len();
    let is_far = |ranges: f64| gap > ranges * (top - low);
    let is_sentinel = (count >= REPEATED && is_far(FAR[0])) || (is_known(value) && is_far(FAR[1]));
    is_sentinel.then_some((value, count, others))
}

/// Nines, limits of integers, and what no sensor measures.
fn is_known(value: f32) -> bool {
    let nines = [99.0, 999.0, 9999.0, 99_999.0, 999_999.0].contains(&value.abs());
    nines || LIMITS.contains(&value) || value.abs() >= 1e20
}
