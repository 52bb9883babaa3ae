//! y = g + N(0, σ²) for every output on its own.
//!
//! ```text
//! E_q[log p(y|g)] = −½ (log 2πσ² + ((y−μ)² + v)/σ²)        log p(y|q) = log N(y; μ, v + σ²)
//! ```

use std::f64::consts::PI;

use super::{Density, Latent, Slopes};

pub(super) struct Gaussian<'a> {
    /// σ²: `[O]`.
    pub(super) noise: &'a [f64],
}

impl Density for Gaussian<'_> {
    fn number(&self) -> u8 {
        0
    }

    fn has_closed_form(&self) -> bool {
        true
    }

    fn classes(&self, _outputs: usize) -> Option<usize> {
        None
    }

    fn expectation(&self, y: &[f64], at: Latent<'_>, slopes: &mut Slopes<'_>) -> f64 {
        let mut value = 0.0;
        for (o, &noise) in self.noise.iter().enumerate() {
            let residual = y[o] - at.mean[o];
            let square = residual * residual + at.variance[o];
            value += -0.5 * ((2.0 * PI * noise).ln() + square / noise);
            slopes.mean[o] = residual / noise;
            slopes.variance[o] = -0.5 / noise;
            slopes.own[o] += 0.5 * (square / noise - 1.0) / noise;
        }
        value
    }

    fn log_densities(&self, y: &[f64], at: Latent<'_>, out: &mut [f64]) {
        for (o, &noise) in self.noise.iter().enumerate() {
            let variance = at.variance[o] + noise;
            out[o] = -0.5 * ((2.0 * PI * variance).ln() + (y[o] - at.mean[o]).powi(2) / variance);
        }
    }
}
