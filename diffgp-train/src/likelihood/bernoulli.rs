//! Two classes on one output: p(y = 1 | g) = e + (1 − 2e) Φ(g).
//!
//! ```text
//! E_q[log p(y|g)] = Σᵢ wᵢ/√π log p(y | μ + √(2v) hᵢ)         p(1|q) = e + (1 − 2e) Φ(μ/√(1 + v))
//! ```
//!
//! The derivatives are those of the quadrature, so they agree with its value to rounding.

use std::f64::consts::{PI, SQRT_2};

use super::quadrature::GAUSS_HERMITE;
use super::{Density, Latent, Slopes};

pub(super) struct Bernoulli {
    /// e.
    pub(super) epsilon: f64,
}

impl Bernoulli {
    /// e + (1 − 2e) Φ(x).
    fn probability(&self, x: f64) -> f64 {
        self.epsilon + (1.0 - 2.0 * self.epsilon) * (0.5 * libm::erfc(-x / SQRT_2))
    }
}

impl Density for Bernoulli {
    fn number(&self) -> u8 {
        1
    }

    fn has_closed_form(&self) -> bool {
        false
    }

    fn classes(&self, _outputs: usize) -> Option<usize> {
        Some(2)
    }

    fn expectation(&self, y: &[f64], at: Latent<'_>, slopes: &mut Slopes<'_>) -> f64 {
        let (epsilon, mean, variance) = (self.epsilon, at.mean[0], at.variance[0]);
        let sign = if y[0] > 0.5 { 1.0 } else { -1.0 };
        let spread = (2.0 * variance).sqrt();
        let (mut value, mut by_mean, mut by_variance) = (0.0, 0.0, 0.0);
        for &(node, weight) in GAUSS_HERMITE.iter() {
            // p(y|g) = e + (1−2e) Φ(±g), ∂p/∂g = ±(1−2e) φ(g)
            let g = sign * (mean + spread * node);
            let p = self.probability(g);
            let slope = sign * (1.0 - 2.0 * epsilon) * (-0.5 * g * g).exp() / (2.0 * PI).sqrt() / p;
            value += weight * p.ln();
            by_mean += weight * slope;
            by_variance += weight * slope * node / spread;
        }
        (slopes.mean[0], slopes.variance[0]) = (by_mean, by_variance);
        value
    }

    fn probabilities(&self, at: Latent<'_>, out: &mut [f64]) {
        let positive = self.probability(at.mean[0] / (1.0 + at.variance[0]).sqrt());
        out.copy_from_slice(&[1.0 - positive, positive]);
    }
}
