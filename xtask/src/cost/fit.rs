//! Least squares of relative errors with figures that are not negative:
//!
//! ```text
//! min Σ_i (Σ_j f_j n_ij / y_i − 1)²,  f_j ≥ 0
//! ```
//!
//! n_ij are the counts and y_i the instructions of sample i. One figure at a time is set to its best value, again and
//! again: with a few dozen of them this converges in moments.

use super::Sample;

const ROUNDS: usize = 20_000;

/// Instructions of every count.
pub(super) fn fit(samples: &[Sample]) -> Vec<f64> {
    let width = samples.first().map_or(0, |sample| sample.counts.len());
    let rows: Vec<Vec<f64>> =
        samples.iter().map(|s| s.counts.iter().map(|count| count / s.instructions).collect()).collect();
    let sum = |term: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| term(row)).sum::<f64>();
    let squares: Vec<Vec<f64>> =
        (0..width).map(|i| (0..width).map(|j| sum(&|row| row[i] * row[j])).collect()).collect();
    let sums: Vec<f64> = (0..width).map(|j| sum(&|row| row[j])).collect();
    let mut figures = vec![0.0; width];
    for _ in 0..ROUNDS {
        for j in 0..width {
            let slope = sums[j] - squares[j].iter().zip(&figures).map(|(a, f)| a * f).sum::<f64>();
            // A count that no sample has gets no figure.
            if squares[j][j] > 0.0 {
                figures[j] = f64::max(0.0, figures[j] + slope / squares[j][j]);
            }
        }
    }
    figures
}

/// By how much an estimate is off, as a share.
pub(super) fn error(sample: &Sample, figures: &[f64]) -> f64 {
    sample.counts.iter().zip(figures).map(|(count, figure)| count * figure).sum::<f64>() / sample.instructions - 1.0
}

#[cfg(test)]
mod tests {
    use super::{error, fit};
    use crate::cost::Sample;

    #[test]
    fn figures_that_made_the_samples_are_found_and_none_is_negative() {
        let counts = [[1.0, 10.0, 3.0], [1.0, 500.0, 70.0], [1.0, 20.0, 900.0], [1.0, 3.0, 5.0], [1.0, 90.0, 90.0]];
        let sample = |counts: [f64; 3], figures: [f64; 3]| Sample {
            name: String::new(),
            counts: counts.to_vec(),
            instructions: counts.iter().zip(figures).map(|(count, figure)| count * figure).sum(),
        };
        let exact: Vec<Sample> = counts.map(|counts| sample(counts, [100.0, 2.5, 40.0])).into();
        let found = fit(&exact);
        assert!(exact.iter().all(|sample| error(sample, &found).abs() < 1e-6), "{found:?}");
        let with_negative: Vec<Sample> = counts.map(|counts| sample(counts, [100.0, 2.5, -0.1])).into();
        assert!(fit(&with_negative).iter().all(|&figure| figure >= 0.0));
    }
}
