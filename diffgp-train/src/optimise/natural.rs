//! Natural-gradient ascent on q(v) = N(m, S), S = L Lᵀ, from the gradient with respect to (m, L).
//!
//! With the expectation parameters (m, S + m mᵀ), a step γ changes the natural ones by γ ∂/∂(m, S + m mᵀ):
//!
//! ```text
//! S'⁻¹ = S⁻¹ − 2γ ∂/∂S            m' = m + γ S' ∂/∂m
//! ∂/∂S = ½ L⁻ᵀ C L⁻¹              C = the lower triangle of Lᵀ ∂/∂L, mirrored
//! I − γC = U Uᵀ, U upper    ⇒     L' = L U⁻ᵀ
//! ```
//!
//! so S is never formed nor inverted. For a Gaussian likelihood and fixed features, γ = 1 lands on the optimum, and
//! steps γₜ = Bₜ/(B₁ + … + Bₜ) over batches of Bₜ rows land on the optimum for all those rows together.
//! Cost: O(M³). Reference: Salimbeni, Eleftheriadis and Hensman, "Natural gradients in practice", AISTATS 2018.

use nalgebra::{Cholesky, DMatrix};

use crate::gradient::PosteriorGradient;
use crate::params::Posterior;

/// Halvings after which a natural-gradient step is given up.
const HALVINGS: u32 = 20;

/// q after a step γ, or `None` where the new covariance would not be positive definite.
pub fn natural_step(posterior: &Posterior, gradient: &PosteriorGradient, step: f64) -> Option<Posterior> {
    let size = posterior.mean.len();
    let factor = &posterior.factor;
    let product = factor.tr_mul(&gradient.factor);
    // I − γC with rows and columns reversed: its Cholesky factor reversed is U.
    let reversed = DMatrix::from_fn(size, size, |i, j| {
        let (row, column) = (size - 1 - i.min(j), size - 1 - i.max(j));
        f64::from(i == j) - step * product[(row, column)]
    });
    let cholesky = Cholesky::new(reversed)?.unpack();
    let upper = DMatrix::from_fn(size, size, |i, j| cholesky[(size - 1 - i, size - 1 - j)]);
    // U L'ᵀ = Lᵀ
    let new_factor = upper.solve_upper_triangular(&factor.transpose())?.transpose().lower_triangle();
    // m' = m + γ L' L'ᵀ ∂/∂m
    let mean = &posterior.mean + &new_factor * new_factor.tr_mul(&gradient.mean) * step;
    let finite = mean.iter().chain(new_factor.iter()).all(|value| value.is_finite());
    finite.then_some(Posterior { mean, factor: new_factor })
}

/// The step γ, halved until the result is a Gaussian: (q, the γ used). Non-concave likelihoods need it.
pub fn natural_step_or_shorter(
    posterior: &Posterior,
    gradient: &PosteriorGradient,
    step: f64,
) -> Option<(Posterior, f64)> {
    let steps = (0..HALVINGS).map(|halvings| step * 0.5_f64.powi(halvings as i32));
    steps.into_iter().find_map(|step| natural_step(posterior, gradient, step).map(|posterior| (posterior, step)))
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;

    const NOISE: f64 = 0.3;

    /// Features, targets and some q to start from.
    fn regression(rows: usize, size: usize) -> (DMatrix<f64>, DVector<f64>, Posterior) {
        let wave = |i: usize, j: usize| ((i * 13 + j * 7) as f64 * 0.37).sin();
        let features = DMatrix::from_fn(rows, size, wave);
        let targets = DVector::from_fn(rows, |i, _| wave(i, 91));
        let factor = DMatrix::from_fn(size, size, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 0.5 + 0.1 * i as f64,
            std::cmp::Ordering::Greater => 0.2 * wave(i, j),
        });
        (features, targets, Posterior { mean: DVector::from_fn(size, wave), factor })
    }

    /// Gradient of −½ w Σ ((y − aᵀm)² + |Lᵀa|²)/σ² − KL, w = `weight`.
    fn gradient(a: &DMatrix<f64>, y: &DVector<f64>, q: &Posterior, weight: f64) -> PosteriorGradient {
        let scale = weight / NOISE;
        let mean = a.tr_mul(&(y - a * &q.mean)) * scale - &q.mean;
        let inverse_diagonal = DMatrix::from_diagonal(&q.factor.diagonal().map(|value| 1.0 / value));
        let factor = a.tr_mul(a) * &q.factor * -scale - &q.factor + inverse_diagonal;
        PosteriorGradient { mean, factor: factor.lower_triangle() }
    }

    /// S = (I + AᵀA/σ²)⁻¹, m = S Aᵀy/σ², by a dense inverse.
    fn assert_is_optimum(a: &DMatrix<f64>, y: &DVector<f64>, q: &Posterior) {
        let size = q.mean.len();
        let covariance = (DMatrix::identity(size, size) + a.tr_mul(a) / NOISE).try_inverse().unwrap();
        let mean = &covariance * a.tr_mul(y) / NOISE;
        // Float64 with condition numbers below 1e4.
        assert!((&q.factor * q.factor.transpose() - covariance).amax() < 1e-11);
        assert!((&q.mean - mean).amax() < 1e-11);
        assert_eq!(q.factor, q.factor.lower_triangle());
    }

    #[test]
    fn step_one_is_the_closed_form_optimum() {
        let (a, y, start) = regression(40, 6);
        let q = natural_step(&start, &gradient(&a, &y, &start, 1.0), 1.0).unwrap();
        assert_is_optimum(&a, &y, &q);
    }

    #[test]
    fn running_steps_over_batches_are_the_optimum_of_all_rows() {
        let (a, y, mut q) = regression(40, 6);
        let mut seen = 0;
        for rows in [12, 20, 8] {
            let (part, targets) = (a.rows(seen, rows).into_owned(), y.rows(seen, rows).into_owned());
            seen += rows;
            let slope = gradient(&part, &targets, &q, 40.0 / rows as f64);
            q = natural_step(&q, &slope, rows as f64 / seen as f64).unwrap();
        }
        assert_is_optimum(&a, &y, &q);
    }

    #[test]
    fn an_impossible_step_is_shortened() {
        let (_, _, start) = regression(4, 3);
        // A slope upwards in S: the precision would turn negative.
        let slope = PosteriorGradient { mean: DVector::zeros(3), factor: &start.factor * 50.0 };
        assert!(natural_step(&start, &slope, 1.0).is_none());
        let (_, used) = natural_step_or_shorter(&start, &slope, 1.0).unwrap();
        assert!(used < 1.0);
    }
}
