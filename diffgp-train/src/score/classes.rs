//! Scores of class probabilities.

use crate::likelihood::{Density, Latent};

/// Bins of the calibration error.
const BINS: usize = 10;

/// The probabilities of every row, and its class.
#[derive(Debug)]
pub(super) struct Classes {
    /// C.
    count: usize,
    /// `[N][C]`.
    probabilities: Vec<f64>,
    /// `[N]`.
    truth: Vec<usize>,
}

impl Classes {
    pub(super) fn new(count: usize) -> Self {
        Self { count, probabilities: Vec::new(), truth: Vec::new() }
    }

    /// One row; its log-likelihood.
    pub(super) fn add(&mut self, density: &dyn Density, targets: &[f64], paths: &[Latent<'_>]) -> f64 {
        let (mut mean, mut of_path) = (vec![0.0; self.count], vec![0.0; self.count]);
        for &at in paths {
            density.probabilities(at, &mut of_path);
            mean.iter_mut().zip(&of_path).for_each(|(sum, probability)| *sum += probability);
        }
        mean.iter_mut().for_each(|sum| *sum /= paths.len() as f64);
        if let [no, yes] = mean.as_mut_slice() {
            *no = 1.0 - *yes;
        }
        let truth = targets[0].round().clamp(0.0, (self.count - 1) as f64) as usize;
        let log_likelihood = mean[truth].ln();
        self.truth.push(truth);
        self.probabilities.extend(mean);
        log_likelihood
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], usize)> {
        self.probabilities.chunks_exact(self.count).zip(self.truth.iter().copied())
    }

    pub(super) fn accuracy(&self) -> f64 {
        let right = self.rows().filter(|&(probabilities, truth)| most_probable(probabilities) == truth).count();
        right as f64 / self.truth.len() as f64
    }

    pub(super) fn calibration_error(&self) -> f64 {
        let mut gaps = [0.0; BINS];
        for (probabilities, truth) in self.rows() {
            let class = most_probable(probabilities);
            let bin = (probabilities[class] * BINS as f64) as usize;
            gaps[bin.min(BINS - 1)] += f64::from(class == truth) - probabilities[class];
        }
        gaps.iter().map(|gap| gap.abs()).sum::<f64>() / self.truth.len() as f64
    }

    pub(super) fn confusion(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![vec![0; self.count]; self.count];
        for (probabilities, truth) in self.rows() {
            rows[truth][most_probable(probabilities)] += 1;
        }
        rows
    }

    /// Of the second class of two; of every class that occurs against the rest, averaged, beyond.
    pub(super) fn auc(&self) -> Option<f64> {
        let of_class = |class: usize| {
            let mut scored: Vec<(f64, bool)> =
                self.rows().map(|(probabilities, truth)| (probabilities[class], truth == class)).collect();
            area_under_curve(&mut scored)
        };
        let first = if self.count == 2 { 1 } else { 0 };
        let areas: Vec<f64> = (first..self.count).filter_map(of_class).collect();
        (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
    }
}

/// The class of the largest probability, the first of equals.
fn most_probable(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (class, &probability) in probabilities.iter().enumerate() {
        if probability > probabilities[best] {
            best = class;
        }
    }
    best
}

/// P(score of a positive > score of a negative) + ½ P(equal), from ranks; `None` unless both occur.
fn area_under_curve(scored: &mut [(f64, bool)]) -> Option<f64> {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = scored.iter().filter(|class| class.1).count();
    let negatives = scored.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut below = 0;
    let mut wins = 0.0;
    for equal in scored.chunk_by(|a, b| a.0 == b.0) {
        let positive = equal.iter().filter(|class| class.1).count();
        let negative = equal.len() - positive;
        wins += positive as f64 * (below as f64 + 0.5 * negative as f64);
        below += negative;
    }
    Some(wins / (positives as f64 * negatives as f64))
}

#[cfg(test)]
mod tests {
    use crate::likelihood::Likelihood;
    use crate::score::Scorer;

    #[test]
    fn two_classes_by_hand() {
        let mut scorer = Scorer::new(&Likelihood::Bernoulli { epsilon: 0.0 }, 1, &[1.0]);
        for (target, mean) in [(0.0, -1.0), (1.0, 0.5), (0.0, 0.5), (1.0, 2.0)] {
            scorer.add(&[target], &[(mean, 0.0)]);
        }
        assert_eq!(scorer.confusion(), [[1, 1], [0, 2]]);
        let score = scorer.finish();
        // Pairs (positive, negative): won, won, tied, won.
        assert_eq!(score.auc, Some(3.5 / 4.0));
        assert_eq!(score.accuracy, Some(0.75));
        assert_eq!(score.rmse, None);
        // Φ(1) = 0.8413 of class 0 and right; Φ(½) = 0.6915 once right and once wrong; Φ(2) = 0.9772 right.
        let expected = (0.1586552539 + (1.0 - 2.0 * 0.6914624613_f64).abs() + 0.0227501319) / 4.0;
        assert!((score.calibration_error.unwrap() - expected).abs() < 1e-9);
    }
}
