//! A handful of values far from the rest, which standardisation and the bound give much weight.
//!
//! At either end of a column, up to 3 rows or one in 500: further from all others than their whole range, for targets than
//! half of it.

use super::column::Column;
use super::finding::Finding;
use super::{FEW_ROWS, NAMED};
use crate::data::Dataset;

/// Rows at both ends together, at most: that many, or one in so many, but not more than the last.
const FEW: usize = 3;
const ONE_IN: usize = 500;
const MOST: usize = 50;
/// Distance in ranges of the others, and different values that the others must have.
const FAR_TARGET: (f64, usize) = (0.5, 3);
const FAR_INPUT: (f64, usize) = (1.0, 10);

/// In a column whose values, but for sentinels, are `sorted`; how far they are apart is told on a scale.
pub(super) fn find(data: &Dataset, column: Column, sorted: &[f32], scale: fn(f64) -> f64) -> Option<Finding> {
    let (far, distinct) = if matches!(column, Column::Target(_)) { FAR_TARGET } else { FAR_INPUT };
    let (low, high) = ends(sorted, far, distinct, scale)?;
    let rest = &sorted[low..sorted.len() - high];
    let others = (rest[0], rest[rest.len() - 1]);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let is_far = |value: f32| (value < others.0 && value >= first) || (value > others.1 && value <= last);
    let rows = column.rows_with(data, is_far, NAMED);
    let values = rows.iter().map(|&row| column.at(data, row)).collect();
    Some(Finding::FarOff { column: column.label(data), count: low + high, rows, values, others })
}

/// How many values at the lower and at the upper end are far from those between.
fn ends(sorted: &[f32], far: f64, distinct: usize, scale: fn(f64) -> f64) -> Option<(usize, usize)> {
    let count = sorted.len();
    if count < FEW_ROWS {
        return None;
    }
    let most = (count / ONE_IN).clamp(FEW, MOST);
    // Flags, whose other value is rare, are no measurements; nor are counts of which nearly all are zero.
    if sorted[most..count - most].chunk_by(|a, b| a == b).take(distinct).count() < distinct {
        return None;
    }
    let at = |place: usize| scale(f64::from(sorted[place]));
    let are_far = |&(low, high): &(usize, usize)| {
        let (first, last) = (at(low), at(count - 1 - high));
        let gap = far * (last - first);
        (low == 0 || first - at(low - 1) > gap) && (high == 0 || at(count - high) - last > gap)
    };
    let pairs = (0..=most).flat_map(|low| (0..=most - low).map(move |high| (low, high)));
    pairs.filter(|&(low, high)| low + high > 0).filter(are_far).max_by_key(|&(low, high)| low + high)
}
