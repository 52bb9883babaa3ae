//! KL(N(m, L Lᵀ) ‖ N(0, I)) = ½ (|m|² + ‖L‖² − M − Σᵢ log L_ii²) of a whitened posterior.
//!
//! Its gradient, m and L − diag(1/L_ii), is subtracted where the gradient of the bound is put together.

use crate::params::Posterior;

/// The divergence of q(v) from its prior.
pub fn divergence(posterior: &Posterior) -> f64 {
    let logarithms: f64 = posterior.factor.diagonal().iter().map(|l| (l * l).ln()).sum();
    let m = posterior.mean.len() as f64;
    0.5 * (posterior.mean.norm_squared() + posterior.factor.norm_squared() - m - logarithms)
}
