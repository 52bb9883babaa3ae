//! How good predictions are on rows whose targets are known, in the targets' own units.
//!
//! A prediction over S paths is a mixture, of all outputs together: log-likelihood by log-sum-exp over paths of the sum over
//! outputs, mean of means, class probabilities = mean of the per-path probabilities.

mod classes;

use crate::evaluate::ClassTally;
use crate::likelihood::{Latent, Likelihood};

/// A score over some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Rows scored.
    pub rows: usize,
    /// Mean log-likelihood per row, of all outputs together.
    pub log_likelihood: f64,
    /// Root mean squared error of a regression with one output; several have units of their own, see [`Scorer::outputs`].
    pub rmse: Option<f64>,
    /// Area under the receiver operating curve, averaged over classes against the rest beyond two; classification only,
    /// and only of classes that occur and are not alone.
    pub auc: Option<f64>,
    /// Share of the rows whose most probable class is theirs; classification only.
    pub accuracy: Option<f64>,
    /// Expected calibration error, see [`ClassFigures`](crate::evaluate::ClassFigures); classification only.
    pub calibration_error: Option<f64>,
}

/// The score of one output of a regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputScore {
    /// Mean log-likelihood per row, of this output alone.
    pub log_likelihood: f64,
    /// Root mean squared error.
    pub rmse: f64,
}

/// Adds up rows, one call per row.
#[derive(Debug)]
pub struct Scorer {
    likelihood: Likelihood,
    /// O.
    outputs: usize,
    /// Deviations of the targets: errors and densities are reported in raw units.
    target_scales: Vec<f64>,
    log_likelihood: f64,
    /// Sums over rows, per output of a regression.
    alone: Vec<OutputSums>,
    classes: Option<ClassTally>,
    rows: usize,
}

#[derive(Clone, Debug, Default)]
struct OutputSums {
    log_likelihood: f64,
    squared_error: f64,
}

impl Scorer {
    /// No rows yet, of a predictor with `outputs` outputs; `target_scales` are the deviations by which the targets of a
    /// regression were divided.
    pub fn new(likelihood: &Likelihood, outputs: usize, target_scales: &[f64]) -> Self {
        let classes = likelihood.with(|density| density.classes(outputs));
        Self {
            likelihood: likelihood.clone(),
            outputs,
            target_scales: target_scales.to_vec(),
            log_likelihood: 0.0,
            alone: vec![OutputSums::default(); likelihood.noise().len()],
            classes: classes.map(ClassTally::new),
            rows: 0,
        }
    }

    /// One row: its standardised targets (or its class), and mean and variance of g, path after path: `[S, O]`. Its
    /// log-likelihood.
    pub fn add(&mut self, targets: &[f64], latent: &[(f64, f64)]) -> f64 {
        let outputs = self.outputs;
        let (mean, variance): (Vec<f64>, Vec<f64>) = latent.iter().copied().unzip();
        let paths: Vec<Latent<'_>> = mean
            .chunks_exact(outputs)
            .zip(variance.chunks_exact(outputs))
            .map(|(mean, variance)| Latent { mean, variance })
            .collect();
        self.rows += 1;
        let log_likelihood = match &mut self.classes {
            Some(tally) => self.likelihood.with(|density| classes::add(tally, density, targets, &paths)),
            None => self.add_real(targets, &paths),
        };
        self.log_likelihood += log_likelihood;
        log_likelihood
    }

    fn add_real(&mut self, targets: &[f64], paths: &[Latent<'_>]) -> f64 {
        let (outputs, count) = (self.outputs, paths.len() as f64);
        // log p(y_o | path): [S, O]
        let mut densities = vec![0.0; paths.len() * outputs];
        self.likelihood.with(|density| {
            for (&at, densities) in paths.iter().zip(densities.chunks_exact_mut(outputs)) {
                density.log_densities(targets, at, densities);
            }
        });
        for (o, (sums, scale)) in self.alone.iter_mut().zip(&self.target_scales).enumerate() {
            let mean = paths.iter().map(|at| at.mean[o]).sum::<f64>() / count;
            sums.squared_error += (targets[o] - mean).powi(2);
            sums.log_likelihood += log_mean_exp(densities.iter().skip(o).step_by(outputs).copied()) - scale.ln();
        }
        let together = densities.chunks_exact(outputs).map(|densities| densities.iter().sum::<f64>());
        log_mean_exp(together) - self.target_scales.iter().map(|scale| scale.ln()).sum::<f64>()
    }

    /// The score of every output of a regression on the rows so far; empty for classes.
    pub fn outputs(&self) -> Vec<OutputScore> {
        let rows = self.rows as f64;
        let score = |(sums, scale): (&OutputSums, &f64)| OutputScore {
            log_likelihood: sums.log_likelihood / rows,
            rmse: scale * (sums.squared_error / rows).sqrt(),
        };
        self.alone.iter().zip(&self.target_scales).map(score).collect()
    }

    /// Rows by class (first index) and most probable class: `[C][C]`; empty for a regression.
    pub fn confusion(&self) -> Vec<Vec<usize>> {
        self.classes.as_ref().map(|classes| classes.finish().confusion).unwrap_or_default()
    }

    /// The score of the rows so far.
    pub fn finish(self) -> Score {
        let rmse = match self.outputs().as_slice() {
            [one] => Some(one.rmse),
            _ => None,
        };
        let classes = self.classes.as_ref().map(ClassTally::finish);
        Score {
            rows: self.rows,
            log_likelihood: self.log_likelihood / self.rows as f64,
            rmse,
            auc: classes.as_ref().and_then(|classes| classes.auc),
            accuracy: classes.as_ref().map(|classes| classes.accuracy),
            calibration_error: classes.as_ref().map(|classes| classes.calibration_error),
        }
    }
}

/// log (Σ exp x / n), without overflow.
fn log_mean_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += (value - largest).exp();
        count += 1.0;
    }
    largest + (sum / count).ln()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn a_gaussian_mixture_by_hand() {
        let mut scorer = Scorer::new(&Likelihood::Gaussian { noise: vec![0.5] }, 1, &[10.0]);
        scorer.add(&[1.0], &[(0.0, 0.5), (2.0, 0.5)]);
        let score = scorer.finish();
        // Both components have density N(1; 0, 1); the mean of the means is the target.
        let expected = -0.5 * ((2.0 * PI).ln() + 1.0) - 10.0_f64.ln();
        assert!((score.log_likelihood - expected).abs() < 1e-14);
        assert_eq!(score.rmse, Some(0.0));
        assert_eq!((score.auc, score.accuracy), (None, None));
    }

    #[test]
    fn a_mixture_of_two_outputs_is_one_of_both_together() {
        let mut scorer = Scorer::new(&Likelihood::Gaussian { noise: vec![0.5, 0.5] }, 2, &[10.0, 1.0]);
        // Two paths that are both far from the truth in one output, each in another.
        scorer.add(&[0.0, 0.0], &[(0.0, 0.5), (4.0, 0.5), (4.0, 0.5), (0.0, 0.5)]);
        let normalisation = (2.0 * PI).ln() + 10.0_f64.ln();
        let alone: Vec<f64> = scorer.outputs().iter().map(|output| output.log_likelihood).collect();
        // Each output alone: a half of N(0; 0, 1) and a half of N(4; 0, 1). Together: exp(−8) whatever the path.
        let half = (0.5 * (1.0 + (-8.0_f64).exp())).ln();
        assert!((alone[0] + alone[1] - (2.0 * half - normalisation)).abs() < 1e-14);
        assert_eq!(scorer.outputs().iter().map(|output| output.rmse).collect::<Vec<_>>(), [20.0, 2.0]);
        let score = scorer.finish();
        assert!((score.log_likelihood - (-8.0 - normalisation)).abs() < 1e-14);
        assert_eq!(score.rmse, None);
    }

    #[test]
    fn far_from_every_path_the_log_likelihood_stays_finite() {
        let mut scorer = Scorer::new(&Likelihood::Gaussian { noise: vec![1e-6] }, 1, &[1.0]);
        scorer.add(&[100.0], &[(0.0, 1e-8), (1.0, 1e-8)]);
        assert!(scorer.finish().log_likelihood.is_finite());
    }
}
