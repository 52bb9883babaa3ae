//! Scores of class probabilities.

use crate::evaluate::ClassTally;
use crate::likelihood::{Density, Latent};

/// Adds one row to `tally`; its log-likelihood.
pub(super) fn add(tally: &mut ClassTally, density: &dyn Density, targets: &[f64], paths: &[Latent<'_>]) -> f64 {
    let count = tally.classes();
    let (mut mean, mut of_path) = (vec![0.0; count], vec![0.0; count]);
    for &at in paths {
        density.probabilities(at, &mut of_path);
        mean.iter_mut().zip(&of_path).for_each(|(sum, probability)| *sum += probability);
    }
    mean.iter_mut().for_each(|sum| *sum /= paths.len() as f64);
    if let [no, yes] = mean.as_mut_slice() {
        *no = 1.0 - *yes;
    }
    let truth = targets[0].round().clamp(0.0, (count - 1) as f64) as usize;
    let log_likelihood = mean[truth].ln();
    tally.add(truth, mean);
    log_likelihood
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
