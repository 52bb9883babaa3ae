//! E_q[log p(y|g)] for g ~ N(μ, v), with its derivatives.
//!
//! Gaussian: −½ (log 2πσ² + ((y−μ)² + v)/σ²). Bernoulli: p(y=1|g) = e + (1−2e) Φ(g), by Gauss–Hermite quadrature with
//! 20 nodes, Σᵢ wᵢ/√π log p(y | μ + √(2v) hᵢ); the derivatives are those of the quadrature, so they agree with its
//! value to rounding.

use std::f64::consts::{PI, SQRT_2};
use std::sync::LazyLock;

use nalgebra::{DMatrix, SymmetricEigen};

use crate::params::Likelihood;

/// Nodes of the quadrature.
const NODES: usize = 20;

/// The expectation and its derivatives at one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expectation {
    /// E_q[log p(y|g)].
    pub value: f64,
    /// ∂/∂μ.
    pub by_mean: f64,
    /// ∂/∂v.
    pub by_variance: f64,
    /// ∂/∂σ² of a Gaussian likelihood, zero otherwise.
    pub by_noise: f64,
}

/// E_q[log p(y|g)] for g ~ N(mean, variance), variance > 0.
pub fn expected_log_density(likelihood: Likelihood, y: f64, mean: f64, variance: f64) -> Expectation {
    match likelihood {
        Likelihood::Gaussian { noise } => {
            let residual = y - mean;
            let square = residual * residual + variance;
            Expectation {
                value: -0.5 * ((2.0 * PI * noise).ln() + square / noise),
                by_mean: residual / noise,
                by_variance: -0.5 / noise,
                by_noise: 0.5 * (square / noise - 1.0) / noise,
            }
        }
        Likelihood::Bernoulli { epsilon } => {
            let sign = if y > 0.5 { 1.0 } else { -1.0 };
            let spread = (2.0 * variance).sqrt();
            let mut sum = Expectation::default();
            for &(node, weight) in QUADRATURE.iter() {
                // p(y|g) = e + (1−2e) Φ(±g), ∂p/∂g = ±(1−2e) φ(g)
                let g = sign * (mean + spread * node);
                let p = epsilon + (1.0 - 2.0 * epsilon) * 0.5 * libm::erfc(-g / SQRT_2);
                let slope = sign * (1.0 - 2.0 * epsilon) * (-0.5 * g * g).exp() / (2.0 * PI).sqrt() / p;
                sum.value += weight * p.ln();
                sum.by_mean += weight * slope;
                sum.by_variance += weight * slope * node / spread;
            }
            sum
        }
    }
}

/// (hᵢ, wᵢ/√π): eigenvalues of the Jacobi matrix of the Hermite polynomials, squared first entries of its eigenvectors.
static QUADRATURE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    let off_diagonal = |i: usize, j: usize| if i.abs_diff(j) == 1 { (0.5 * i.max(j) as f64).sqrt() } else { 0.0 };
    let eigen = SymmetricEigen::new(DMatrix::from_fn(NODES, NODES, off_diagonal));
    std::array::from_fn(|i| (eigen.eigenvalues[i], eigen.eigenvectors[(0, i)].powi(2)))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_is_exact_for_the_moments_of_a_normal() {
        // E[(√2 h)^(2k)] = (2k−1)!!
        let moment = |k: i32| QUADRATURE.iter().map(|(h, w)| w * (SQRT_2 * h).powi(k)).sum::<f64>();
        for (k, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0), (10, 945.0)] {
            assert!((moment(k) - expected).abs() < 1e-11 * expected.max(1.0), "moment {k}: {}", moment(k));
        }
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let models = [Likelihood::Gaussian { noise: 0.3 }, Likelihood::Bernoulli { epsilon: 1e-3 }];
        for likelihood in models {
            for (y, mean, variance) in [(1.0, 0.4, 0.7), (0.0, 2.0, 0.2), (1.0, -3.0, 1.5)] {
                let at = |mean, variance| expected_log_density(likelihood, y, mean, variance).value;
                let here = expected_log_density(likelihood, y, mean, variance);
                let h = 1e-6;
                let by_mean = (at(mean + h, variance) - at(mean - h, variance)) / (2.0 * h);
                let by_variance = (at(mean, variance + h) - at(mean, variance - h)) / (2.0 * h);
                assert!((here.by_mean - by_mean).abs() < 1e-8 && (here.by_variance - by_variance).abs() < 1e-8);
            }
        }
    }
}
