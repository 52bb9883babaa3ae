//! The inducing points of a predictor once everything in front of it is learned.
//!
//! Points are end points of rows, one after the other the one whose value the points before say least about: the
//! largest 1 − |a(x)|², a pivoted Cholesky factorisation of ρ. What they leave open costs the bound
//! Σᵢ s²(1 − |a(xᵢ)|²)/(2σ²); there are enough of them when that is less than [`WORTHWHILE`] per row.
//! Reference: Burt, Rasmussen and van der Wilk, "Convergence of sparse variational inference in Gaussian processes
//! regression", JMLR 2020.

use nalgebra::{DMatrix, DVector};

use crate::exact::correlation;
use crate::params::{Posterior, Process};

/// Nats per row that are not worth more points.
const WORTHWHILE: f64 = 0.005;
/// A point that adds less than this to a correlation is below the resolution of f32.
const RESOLUTION: f64 = 1e-5;

/// Gives the predictor as many of the points, `[N, D]`, as the bound asks for, at most `most`, and q = prior; whether it did.
/// Inducing points that were learned stay if they are as many.
pub(super) fn grow(predictor: &mut Process, points: &[f64], noise: f64, most: usize, learned: bool) -> bool {
    let kernel = &predictor.kernels[0];
    let inputs = kernel.length_scales.len();
    let rows = points.len() / inputs;
    let of = |row: usize| &points[row * inputs..(row + 1) * inputs];
    let mut open = vec![1.0; rows];
    // Features of the rows: `[M][N]`.
    let mut features: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    while chosen.len() < most.min(rows) {
        let cost = 0.5 * kernel.variance / noise * open.iter().sum::<f64>() / rows as f64;
        let next = (0..rows).max_by(|&a, &b| open[a].total_cmp(&open[b])).unwrap_or(0);
        if cost < WORTHWHILE || open[next] < RESOLUTION {
            break;
        }
        let mut feature: Vec<f64> = (0..rows).map(|row| correlation(kernel, of(next), of(row))).collect();
        for earlier in &features {
            let at_next = earlier[next];
            feature.iter_mut().zip(earlier).for_each(|(feature, earlier)| *feature -= at_next * earlier);
        }
        let root = open[next].sqrt();
        for (feature, open) in feature.iter_mut().zip(&mut open) {
            *feature /= root;
            *open = (*open - *feature * *feature).max(0.0);
        }
        open[next] = 0.0;
        features.push(feature);
        chosen.push(next);
    }
    let count = chosen.len();
    if count == 0 || (learned && count <= predictor.inducing.nrows()) {
        return false;
    }
    predictor.inducing = DMatrix::from_fn(count, inputs, |point, input| of(chosen[point])[input]);
    let prior = Posterior { mean: DVector::zeros(count), factor: DMatrix::identity(count, count) };
    predictor.posteriors.iter_mut().for_each(|posterior| *posterior = prior.clone());
    true
}

#[cfg(test)]
mod tests {
    use diffgp_core::kernel::KernelKind;

    use super::*;
    use crate::exact::whitening_factor;
    use crate::params::Kernel;

    fn predictor(variance: f64) -> Process {
        let kernel = Kernel { kind: KernelKind::Matern32, variance, length_scales: vec![0.5, 2.0] };
        let posterior = Posterior { mean: DVector::from_element(2, 0.3), factor: DMatrix::identity(2, 2) };
        Process { inducing: DMatrix::zeros(2, 2), kernels: vec![kernel], posteriors: vec![posterior] }
    }

    fn points() -> Vec<f64> {
        (0..120).map(|i| ((i * 37) % 101) as f64 / 25.0 - 2.0).collect()
    }

    /// Σ s²(1 − |a|²)/(2σ²) per row, from the definition of a.
    fn cost(predictor: &Process, points: &[f64], noise: f64) -> f64 {
        let kernel = &predictor.kernels[0];
        let factor = whitening_factor(kernel, &predictor.inducing, 1e-12).unwrap();
        let open = points.chunks_exact(2).map(|x| {
            let rho = DVector::from_fn(predictor.inducing.nrows(), |m, _| {
                correlation(kernel, x, predictor.inducing.row(m).iter())
            });
            1.0 - factor.solve_lower_triangular(&rho).unwrap().norm_squared()
        });
        0.5 * kernel.variance / noise * open.sum::<f64>() / (points.len() / 2) as f64
    }

    #[test]
    fn there_are_as_many_points_as_the_bound_asks_for() {
        let (points, noise) = (points(), 0.5);
        let mut grown = predictor(1.5);
        assert!(grow(&mut grown, &points, noise, 1000, true));
        assert!(cost(&grown, &points, noise) < WORTHWHILE);
        let count = grown.inducing.nrows();
        assert_eq!(grown.posteriors[0].mean, DVector::zeros(count));
        let mut fewer = predictor(1.5);
        assert!(grow(&mut fewer, &points, noise, count - 1, true));
        assert_eq!(fewer.inducing, grown.inducing.rows(0, count - 1).into_owned());
        assert!(cost(&fewer, &points, noise) >= WORTHWHILE);
    }

    #[test]
    fn a_predictor_that_has_enough_keeps_what_it_learned() {
        let before = predictor(1e-6);
        let mut after = before.clone();
        assert!(!grow(&mut after, &points(), 1.0, 1000, true));
        assert_eq!(after, before);
    }

    #[test]
    fn points_that_were_not_learned_may_become_fewer() {
        let mut after = predictor(1e-2);
        after.inducing = DMatrix::from_row_slice(60, 2, &points());
        assert!(grow(&mut after, &points(), 1.0, 1000, false));
        assert!((1..60).contains(&after.inducing.nrows()), "{}", after.inducing.nrows());
        assert!(cost(&after, &points(), 1.0) < WORTHWHILE);
    }

    #[test]
    fn rows_that_coincide_count_once() {
        let mut grown = predictor(100.0);
        let points: Vec<f64> = (0..90).map(|i| (i % 6) as f64).collect();
        assert!(grow(&mut grown, &points, 1e-6, 1000, true));
        assert_eq!(grown.inducing.nrows(), 3);
    }
}
