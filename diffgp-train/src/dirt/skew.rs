//! Positive targets, such as prices, counts and concentrations, whose logarithm would be the better target.
//!
//! With skewness γ = E(y − m)³/s³: all values positive, γ(y) > 3, and |γ(log y)| less than a third of it.

use super::column::Column;
use super::finding::Finding;
use crate::data::Dataset;

/// Skewness of an exponential distribution is 2.
const SKEWED: f64 = 3.0;
/// The logarithm's share of it.
const EVEN: f64 = 1.0 / 3.0;
/// Rows that it takes to tell.
const ROWS: usize = 50;

pub(super) fn find(data: &Dataset, column: Column) -> Option<Finding> {
    let is_target = matches!(column, Column::Target(_));
    if !is_target || data.rows() < ROWS || !column.values(data).all(|value| value > 0.0) {
        return None;
    }
    let values = || column.values(data).map(f64::from);
    let skewness = skewness(values());
    if skewness <= SKEWED || self::skewness(values().map(f64::ln)).abs() >= EVEN * skewness {
        return None;
    }
    let mut sorted: Vec<f32> = column.values(data).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let (median, largest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    Some(Finding::Skewed { column: column.label(data), median, largest })
}

/// 0 if nothing varies.
fn skewness(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let moment = |power: i32| values.clone().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}
