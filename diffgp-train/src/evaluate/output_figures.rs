//! How good the predictions of a number are, in the target's units.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::crps::crps;
use crate::calibration::Distribution;

/// The intervals whose coverage is counted.
pub const LEVELS: [f32; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// The interval whose Winkler score is taken: its place in [`LEVELS`].
const WINKLER: usize = 3;

/// The interval that is looked at by mean and by range: its place in [`LEVELS`].
const BY_MEAN: usize = 2;

/// What was predicted of one target of one row, in the target's units.
#[derive(Clone, Copy, Debug)]
pub struct PredictedOutput<'a> {
    /// The mean.
    pub mean: f64,
    /// One for every one of [`LEVELS`].
    pub intervals: [(f64, f64); LEVELS.len()],
    /// Mean and variance, noise included, of every path: a mixture of equal weights.
    pub paths: &'a [(f64, f64)],
    /// The calibrated distribution of y − mean, which counts instead of the mixture.
    pub calibrated: Option<Distribution>,
    /// Whether all inputs are in the ranges seen in training.
    pub in_range: bool,
}

impl PredictedOutput<'_> {
    /// log p(y).
    pub fn log_density(&self, y: f64) -> f64 {
        match self.calibrated {
            Some(distribution) => distribution.log_density(y - self.mean),
            None => log_density(y, self.paths),
        }
    }

    fn crps(&self, y: f64) -> f64 {
        match self.calibrated {
            Some(distribution) => distribution.crps(y - self.mean),
            None => crps(y, self.paths),
        }
    }
}

/// Figures of one target over some rows, of the calibrated distribution if there is one, else of the mixture over paths. Field
/// names are keys of JSON output (`docs/figures.md`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputFigures {
    /// Rows.
    pub n: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean log-density per row.
    pub log_likelihood: f64,
    /// Share of the rows whose target lies in its interval of 50 %.
    pub coverage_50: f64,
    /// The same of 80 %.
    pub coverage_80: f64,
    /// The same of 90 %.
    pub coverage_90: f64,
    /// The same of 95 %.
    pub coverage_95: f64,
    /// The same of 99 %.
    pub coverage_99: f64,
    /// Mean [Winkler score](winkler) of the intervals of 95 %.
    pub winkler_95: f64,
    /// Mean [continuous ranked probability score](crps).
    pub crps: f64,
    /// Mean width of the intervals of 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width_95: Option<f64>,
    /// Share of the rows whose target lies in its interval of 90 %, of the third with the smallest means, the middle and
    /// the largest; of at least as many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_90_by_mean: Option<[f64; 3]>,
    /// The same of the rows with all inputs in the ranges seen in training, and of the others, if there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_90_in_range: Option<f64>,
    /// See [`OutputFigures::coverage_90_in_range`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_90_out_of_range: Option<f64>,
}

impl OutputFigures {
    /// Shares of the rows in their intervals of 50, 90 and 95 %.
    pub fn coverage_50_90_95(&self) -> [f64; 3] {
        [self.coverage_50, self.coverage_90, self.coverage_95]
    }

    /// Shares of the rows in their intervals, in the order of [`LEVELS`].
    pub fn coverage(&self) -> [f64; LEVELS.len()] {
        [self.coverage_50, self.coverage_80, self.coverage_90, self.coverage_95, self.coverage_99]
    }

    /// Those of all rows together, from those of disjoint or repeated parts; `None` without a row. A third is then one of
    /// its part, and shares of rows in and out of range are left out: how many those are is not kept.
    pub fn pooled(parts: &[Self]) -> Option<Self> {
        let rows: usize = parts.iter().map(|part| part.n).sum();
        let mean = |figure: &dyn Fn(&Self) -> f64| {
            parts.iter().map(|part| part.n as f64 * figure(part)).sum::<f64>() / rows as f64
        };
        let optional = |figure: &dyn Fn(&Self) -> Option<f64>| {
            parts.iter().all(|part| figure(part).is_some()).then(|| mean(&|part| figure(part).unwrap_or(f64::NAN)))
        };
        let third = |index: usize| optional(&|part| part.coverage_90_by_mean.map(|thirds| thirds[index]));
        (rows > 0).then(|| Self {
            n: rows,
            rmse: mean(&|part| part.rmse.powi(2)).sqrt(),
            log_likelihood: mean(&|part| part.log_likelihood),
            coverage_50: mean(&|part| part.coverage_50),
            coverage_80: mean(&|part| part.coverage_80),
            coverage_90: mean(&|part| part.coverage_90),
            coverage_95: mean(&|part| part.coverage_95),
            coverage_99: mean(&|part| part.coverage_99),
            winkler_95: mean(&|part| part.winkler_95),
            crps: mean(&|part| part.crps),
            width_95: optional(&|part| part.width_95),
            coverage_90_by_mean: third(0).zip(third(1)).zip(third(2)).map(|((low, middle), high)| [low, middle, high]),
            coverage_90_in_range: None,
            coverage_90_out_of_range: None,
        })
    }
}

/// Adds up rows of one target.
#[derive(Clone, Debug, Default)]
pub struct OutputTally {
    rows: usize,
    squared_error: f64,
    log_likelihood: f64,
    covered: [usize; LEVELS.len()],
    winkler: f64,
    width: f64,
    crps: f64,
    bars: Vec<Bar>,
}

/// One interval of 90 %.
#[derive(Clone, Copy, Debug)]
struct Bar {
    mean: f64,
    holds: bool,
    in_range: bool,
}

/// The share of bars that hold their target, if there are any.
fn share<'a>(bars: impl Iterator<Item = &'a Bar> + Clone) -> Option<f64> {
    let count = bars.clone().count();
    (count > 0).then(|| bars.filter(|bar| bar.holds).count() as f64 / count as f64)
}

impl OutputTally {
    /// One row.
    pub fn add(&mut self, truth: f64, predicted: PredictedOutput<'_>) {
        self.rows += 1;
        self.squared_error += (truth - predicted.mean).powi(2);
        self.log_likelihood += predicted.log_density(truth);
        for (covered, (low, high)) in self.covered.iter_mut().zip(predicted.intervals) {
            *covered += usize::from(low <= truth && truth <= high);
        }
        let (low, high) = predicted.intervals[WINKLER];
        self.winkler += winkler(truth, (low, high), LEVELS[WINKLER].into());
        self.width += high - low;
        self.crps += predicted.crps(truth);
        let (low, high) = predicted.intervals[BY_MEAN];
        let holds = low <= truth && truth <= high;
        self.bars.push(Bar { mean: predicted.mean, holds, in_range: predicted.in_range });
    }

    /// Whether all sums are numbers.
    pub(super) fn is_finite(&self) -> bool {
        [self.squared_error, self.log_likelihood, self.winkler, self.crps].into_iter().all(f64::is_finite)
    }

    /// The figures of the rows so far: not numbers if there were none.
    pub fn finish(&self) -> OutputFigures {
        let rows = self.rows as f64;
        let [coverage_50, coverage_80, coverage_90, coverage_95, coverage_99] =
            self.covered.map(|covered| covered as f64 / rows);
        let mut by_mean: Vec<&Bar> = self.bars.iter().collect();
        by_mean.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let third = |index: usize| &by_mean[index * self.rows / 3..(index + 1) * self.rows / 3];
        let of_third = |index: usize| share(third(index).iter().copied());
        let coverage_90_by_mean = match [0, 1, 2].map(of_third) {
            [Some(low), Some(middle), Some(high)] => Some([low, middle, high]),
            _ => None,
        };
        OutputFigures {
            n: self.rows,
            rmse: (self.squared_error / rows).sqrt(),
            log_likelihood: self.log_likelihood / rows,
            coverage_50,
            coverage_80,
            coverage_90,
            coverage_95,
            coverage_99,
            winkler_95: self.winkler / rows,
            crps: self.crps / rows,
            width_95: Some(self.width / rows),
            coverage_90_by_mean,
            coverage_90_in_range: share(self.bars.iter().filter(|bar| bar.in_range)),
            coverage_90_out_of_range: share(self.bars.iter().filter(|bar| !bar.in_range)),
        }
    }
}

/// The width of an interval, and 2/(1 − level) times the distance of a target outside it: narrow intervals are good, and
/// missing is expensive.
pub fn winkler(truth: f64, (low, high): (f64, f64), level: f64) -> f64 {
    let missed = (low - truth).max(truth - high).max(0.0);
    high - low + 2.0 / (1.0 - level) * missed
}

/// log (1/S) Σ_s N(y; mean_s, variance_s); `paths` is not empty.
pub fn log_density(y: f64, paths: &[(f64, f64)]) -> f64 {
    let of_path = |&(mean, variance): &(f64, f64)| -0.5 * ((2.0 * PI * variance).ln() + (y - mean).powi(2) / variance);
    log_mean_exp(&paths.iter().map(of_path).collect::<Vec<_>>())
}

/// log (1/S) Σ_s exp(v_s), by the largest of them.
pub(super) fn log_mean_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    largest + (sum / values.len() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_by_hand() {
        let mut tally = OutputTally::default();
        let intervals = [(9.0, 11.0), (8.0, 12.0), (7.0, 13.0), (6.0, 14.0), (5.0, 15.0)];
        let paths = [(8.0, 1.0), (12.0, 1.0)];
        for truth in [10.0, 14.5] {
            tally.add(
                truth,
                PredictedOutput { mean: 10.0, intervals, paths: &paths, calibrated: None, in_range: truth == 10.0 },
            );
        }
        let figures = tally.finish();
        assert_eq!((figures.n, figures.coverage()), (2, [0.5, 0.5, 0.5, 0.5, 1.0]));
        assert!((figures.rmse - (4.5_f64.powi(2) / 2.0).sqrt()).abs() < 1e-15);
        assert_eq!((figures.width_95, figures.coverage_90_by_mean), (Some(8.0), None));
        assert_eq!((figures.coverage_90_in_range, figures.coverage_90_out_of_range), (Some(1.0), Some(0.0)));
        // The widths, and 0.5 too far at 2/0.05 each; LEVELS holds 0.95 in f32.
        assert!((figures.winkler_95 - (8.0 + 0.5 * 40.0 * 0.5)).abs() < 1e-5);
        let normal = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let expected = 0.5 * (normal(2.0).ln() + (0.5 * (normal(6.5) + normal(2.5))).ln());
        assert!((figures.log_likelihood - expected).abs() < 1e-14);
        assert!((figures.crps - 0.5 * (crps(10.0, &paths) + crps(14.5, &paths))).abs() < 1e-15);
    }

    #[test]
    fn parts_together_are_all_rows() {
        let row = |tally: &mut OutputTally, truth: f64| {
            let intervals = [(9.0, 11.0), (8.0, 12.0), (7.0, 13.0), (6.0, 14.0), (5.0, 15.0)];
            let paths = &[(10.0, 4.0)];
            tally.add(truth, PredictedOutput { mean: 10.0, intervals, paths, calibrated: None, in_range: true });
        };
        let (mut all, mut one, mut other) = (OutputTally::default(), OutputTally::default(), OutputTally::default());
        for truth in [10.0, 14.5, 3.0] {
            row(&mut all, truth);
            row(&mut one, truth);
        }
        row(&mut all, 11.5);
        row(&mut other, 11.5);
        let (all, pooled) = (all.finish(), OutputFigures::pooled(&[one.finish(), other.finish()]).unwrap());
        assert_eq!((all.n, all.coverage(), all.width_95), (pooled.n, pooled.coverage(), pooled.width_95));
        for (of_all, of_parts) in [
            (all.rmse, pooled.rmse),
            (all.log_likelihood, pooled.log_likelihood),
            (all.winkler_95, pooled.winkler_95),
            (all.crps, pooled.crps),
        ] {
            assert!((of_all - of_parts).abs() < 1e-12, "{of_all} {of_parts}");
        }
        assert_eq!(OutputFigures::pooled(&[]), None);
    }

    #[test]
    fn a_density_that_is_no_number_is_noticed() {
        for (variance, noticed) in [(1.0, false), (0.0, true), (f64::INFINITY, true)] {
            let mut tally = OutputTally::default();
            let intervals = [(0.0, 2.0); 5];
            let paths = &[(0.0, variance)];
            tally.add(1.0, PredictedOutput { mean: 0.0, intervals, paths, calibrated: None, in_range: true });
            assert_eq!(tally.is_finite(), !noticed, "{variance}");
        }
    }

    #[test]
    fn winkler_by_hand() {
        assert_eq!(winkler(2.0, (1.0, 3.0), 0.9), 2.0);
        assert!((winkler(0.5, (1.0, 3.0), 0.9) - 12.0).abs() < 1e-12);
        assert!((winkler(3.25, (1.0, 3.0), 0.5) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn far_from_every_path_the_density_stays_finite() {
        assert!(log_density(100.0, &[(0.0, 1e-8), (1.0, 1e-8)]).is_finite());
    }
}
