//! How good the predictions of a number are, in the target's units.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::crps::crps;

/// The intervals whose coverage is counted.
pub const LEVELS: [f32; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// The interval whose Winkler score is taken: its place in [`LEVELS`].
const WINKLER: usize = 3;

/// What was predicted of one target of one row, in the target's units.
#[derive(Clone, Copy, Debug)]
pub struct PredictedOutput<'a> {
    /// The mean.
    pub mean: f64,
    /// One for every one of [`LEVELS`].
    pub intervals: [(f64, f64); LEVELS.len()],
    /// Mean and variance, noise included, of every path: a mixture of equal weights.
    pub paths: &'a [(f64, f64)],
}

/// Figures of one target over some rows. Field names are keys of JSON output (`docs/figures.md`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputFigures {
    /// Rows.
    pub n: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean log-density per row, of the mixture over paths.
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
    /// Mean [continuous ranked probability score](crps) of the mixture over paths.
    pub crps: f64,
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
}

/// Adds up rows of one target.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputTally {
    rows: usize,
    squared_error: f64,
    log_likelihood: f64,
    covered: [usize; LEVELS.len()],
    winkler: f64,
    crps: f64,
}

impl OutputTally {
    /// One row.
    pub fn add(&mut self, truth: f64, predicted: PredictedOutput<'_>) {
        self.rows += 1;
        self.squared_error += (truth - predicted.mean).powi(2);
        self.log_likelihood += log_density(truth, predicted.paths);
        for (covered, (low, high)) in self.covered.iter_mut().zip(predicted.intervals) {
            *covered += usize::from(low <= truth && truth <= high);
        }
        self.winkler += winkler(truth, predicted.intervals[WINKLER], LEVELS[WINKLER].into());
        self.crps += crps(truth, predicted.paths);
    }

    /// The figures of the rows so far: not numbers if there were none.
    pub fn finish(&self) -> OutputFigures {
        let rows = self.rows as f64;
        let [coverage_50, coverage_80, coverage_90, coverage_95, coverage_99] =
            self.covered.map(|covered| covered as f64 / rows);
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
            tally.add(truth, PredictedOutput { mean: 10.0, intervals, paths: &paths });
        }
        let figures = tally.finish();
        assert_eq!((figures.n, figures.coverage()), (2, [0.5, 0.5, 0.5, 0.5, 1.0]));
        assert!((figures.rmse - (4.5_f64.powi(2) / 2.0).sqrt()).abs() < 1e-15);
        // The widths, and 0.5 too far at 2/0.05 each; LEVELS holds 0.95 in f32.
        assert!((figures.winkler_95 - (8.0 + 0.5 * 40.0 * 0.5)).abs() < 1e-5);
        let normal = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let expected = 0.5 * (normal(2.0).ln() + (0.5 * (normal(6.5) + normal(2.5))).ln());
        assert!((figures.log_likelihood - expected).abs() < 1e-14);
        assert!((figures.crps - 0.5 * (crps(10.0, &paths) + crps(14.5, &paths))).abs() < 1e-15);
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
