//! How good predictions are on rows whose targets are known, in the target's own units.
//!
//! A prediction over S paths is a mixture: log-likelihood by log-sum-exp over paths, mean of means, class probability =
//! mean of the per-path probabilities Φ(μ/√(1 + v)).

use std::f64::consts::{PI, SQRT_2};

use crate::params::Likelihood;

/// A score over some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Rows scored.
    pub rows: usize,
    /// Mean log-likelihood per row.
    pub log_likelihood: f64,
    /// Root mean squared error; regression only.
    pub rmse: Option<f64>,
    /// Area under the receiver operating curve; classification only, and only when both classes occur.
    pub auc: Option<f64>,
    /// Share of the rows on the right side of one half; classification only.
    pub accuracy: Option<f64>,
}

/// Adds up rows, one call per row.
#[derive(Debug)]
pub struct Scorer {
    likelihood: Likelihood,
    /// Deviation of the target: errors and densities are reported in raw units.
    target_scale: f64,
    log_likelihood: f64,
    squared_error: f64,
    /// (probability, is class 1), classification only.
    classes: Vec<(f64, bool)>,
    rows: usize,
}

impl Scorer {
    /// No rows yet; `target_scale` is the deviation by which targets were divided.
    pub fn new(likelihood: Likelihood, target_scale: f64) -> Self {
        Self { likelihood, target_scale, log_likelihood: 0.0, squared_error: 0.0, classes: Vec::new(), rows: 0 }
    }

    /// One row: its standardised target (or class), and mean and variance of g for every path. Its log-likelihood.
    pub fn add(&mut self, target: f64, latent: &[(f64, f64)]) -> f64 {
        let paths = latent.len() as f64;
        self.rows += 1;
        let log_likelihood = match self.likelihood {
            Likelihood::Gaussian { noise } => {
                let mean = latent.iter().map(|&(mean, _)| mean).sum::<f64>() / paths;
                self.squared_error += (target - mean).powi(2);
                let log_densities: Vec<f64> =
                    latent.iter().map(|&(mean, variance)| log_normal(target, mean, variance + noise)).collect();
                let largest = log_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = log_densities.iter().map(|density| (density - largest).exp()).sum();
                largest + (sum / paths).ln() - self.target_scale.ln()
            }
            Likelihood::Bernoulli { epsilon } => {
                let of_path = |&(mean, variance): &(f64, f64)| {
                    epsilon + (1.0 - 2.0 * epsilon) * normal_cdf(mean / (1.0 + variance).sqrt())
                };
                let probability = latent.iter().map(of_path).sum::<f64>() / paths;
                let positive = target > 0.5;
                self.classes.push((probability, positive));
                if positive { probability } else { 1.0 - probability }.ln()
            }
        };
        self.log_likelihood += log_likelihood;
        log_likelihood
    }

    /// The score of the rows so far.
    pub fn finish(mut self) -> Score {
        let rows = self.rows as f64;
        let classification = matches!(self.likelihood, Likelihood::Bernoulli { .. });
        let right = self.classes.iter().filter(|&&(probability, positive)| (probability > 0.5) == positive).count();
        Score {
            rows: self.rows,
            log_likelihood: self.log_likelihood / rows,
            rmse: (!classification).then(|| self.target_scale * (self.squared_error / rows).sqrt()),
            auc: area_under_curve(&mut self.classes),
            accuracy: classification.then(|| right as f64 / rows),
        }
    }
}

/// P(score of a positive > score of a negative) + ½ P(equal), from ranks; `None` unless both classes occur.
fn area_under_curve(classes: &mut [(f64, bool)]) -> Option<f64> {
    classes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = classes.iter().filter(|class| class.1).count();
    let negatives = classes.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut below = 0;
    let mut wins = 0.0;
    for equal in classes.chunk_by(|a, b| a.0 == b.0) {
        let positive = equal.iter().filter(|class| class.1).count();
        let negative = equal.len() - positive;
        wins += positive as f64 * (below as f64 + 0.5 * negative as f64);
        below += negative;
    }
    Some(wins / (positives as f64 * negatives as f64))
}

fn log_normal(x: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((2.0 * PI * variance).ln() + (x - mean).powi(2) / variance)
}

fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_mixture_by_hand() {
        let mut scorer = Scorer::new(Likelihood::Gaussian { noise: 0.5 }, 10.0);
        scorer.add(1.0, &[(0.0, 0.5), (2.0, 0.5)]);
        let score = scorer.finish();
        // Both components have density N(1; 0, 1); the mean of the means is the target.
        let expected = -0.5 * ((2.0 * PI).ln() + 1.0) - 10.0_f64.ln();
        assert!((score.log_likelihood - expected).abs() < 1e-14);
        assert_eq!(score.rmse, Some(0.0));
        assert_eq!((score.auc, score.accuracy), (None, None));
    }

    #[test]
    fn classes_by_hand() {
        let mut scorer = Scorer::new(Likelihood::Bernoulli { epsilon: 0.0 }, 1.0);
        for (target, mean) in [(0.0, -1.0), (1.0, 0.5), (0.0, 0.5), (1.0, 2.0)] {
            scorer.add(target, &[(mean, 0.0)]);
        }
        let score = scorer.finish();
        // Pairs (positive, negative): won, won, tied, won.
        assert_eq!(score.auc, Some(3.5 / 4.0));
        assert_eq!(score.accuracy, Some(0.75));
        assert_eq!(score.rmse, None);
    }

    #[test]
    fn far_from_every_path_the_log_likelihood_stays_finite() {
        let mut scorer = Scorer::new(Likelihood::Gaussian { noise: 1e-6 }, 1.0);
        scorer.add(100.0, &[(0.0, 1e-8), (1.0, 1e-8)]);
        assert!(scorer.finish().log_likelihood.is_finite());
    }
}
