//! Which of two models is better: paired differences over rows that neither was trained on, with their standard error.
//!
//! ```text
//! dᵢ = log p(yᵢ | later) − log p(yᵢ | earlier)      mean d̄ ± s_d / √n
//! ```
//!
//! Rows differ far more from each other than two models do on one row, so the error of d̄ is much smaller than that of
//! either log-likelihood. The later model costs more on the device: it wins if d̄ is worth that cost and larger than its
//! own standard error.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A gain is clear if it is so many standard errors away from where the decision changes.
const CLEAR: f64 = 2.0;

/// What one model adds to the log-likelihood of a row, compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// d̄, in nats per row.
    pub mean: f64,
    /// s_d / √n.
    pub standard_error: f64,
    /// n.
    pub rows: usize,
}

impl Gain {
    /// Of the later model's log-likelihoods over the earlier one's, row by row; `None` without rows.
    pub fn paired(later: &[f64], earlier: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = later.iter().zip(earlier).map(|(later, earlier)| later - earlier).collect();
        let rows = differences.len();
        let n = rows as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
        // One row says nothing about its spread.
        let standard_error = if rows > 1 { (squares / (n - 1.0) / n).sqrt() } else { f64::INFINITY };
        (rows > 0 && mean.is_finite()).then_some(Self { mean, standard_error, rows })
    }

    /// Whether the later model is to be used, if it must add `least` to be worth its cost.
    pub fn is_worth(&self, least: f64) -> bool {
        self.mean >= self.needed(least)
    }

    /// Whether more rows would hardly change the answer of [`is_worth`](Self::is_worth).
    pub fn is_clear(&self, least: f64) -> bool {
        (self.mean - least).abs() >= CLEAR * self.standard_error
    }

    /// The least mean with which the later model is used.
    pub fn needed(&self, least: f64) -> f64 {
        least.max(self.standard_error)
    }
}

/// As in `0.186 ± 0.041`.
impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(f, "{:.digits$} ± {:.digits$}", self.mean, self.standard_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_by_hand() {
        let gain = Gain::paired(&[1.0, 2.0, 6.0], &[0.0, 0.0, 3.0]).unwrap();
        // Differences 1, 2, 3: mean 2, variance 1.
        assert_eq!((gain.mean, gain.rows), (2.0, 3));
        assert!((gain.standard_error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(Gain::paired(&[], &[]).is_none());
        assert!(Gain::paired(&[f64::NEG_INFINITY], &[0.0]).is_none());
        assert!(!Gain::paired(&[100.0], &[0.0]).unwrap().is_worth(0.01));
    }

    #[test]
    fn a_gain_counts_if_it_is_worth_the_cost_and_more_than_its_error() {
        let gain = |mean, standard_error| Gain { mean, standard_error, rows: 100 };
        assert!(gain(0.02, 0.015).is_worth(0.01) && !gain(0.02, 0.03).is_worth(0.01));
        assert!(!gain(0.005, 0.001).is_worth(0.01));
        assert!(gain(0.2, 0.04).is_clear(0.01) && gain(-0.1, 0.04).is_clear(0.01));
        assert!(!gain(0.05, 0.04).is_clear(0.01));
    }
}
