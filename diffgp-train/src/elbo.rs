//! The evidence lower bound and its gradient.

use crate::params::Params;

/// Rows of standardised data on which the bound is estimated.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Inputs, row-major: `[B, D]`.
    pub x: &'a [T],
    /// Targets, standardised, or 0/1 for a Bernoulli likelihood: `[B]`.
    pub y: &'a [T],
    /// N, the rows of the whole training set: the likelihood is weighted by N/B.
    pub total_rows: usize,
}

/// The bound on one batch and its gradient.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// (N/B) Σ E_q[log p(y|g)] − KL_g − KL_f.
    pub elbo: f64,
    /// (N/B) Σᵢ (1/S) Σₛ E_q[log p(yᵢ|g)].
    pub expected_log_likelihood: f64,
    /// KL_g.
    pub kl_predictor: f64,
    /// KL_f, the sum over dimensions.
    pub kl_flow: f64,
    /// ∂elbo/∂(every parameter), in the shape of the parameters; fields that are not learned (T, K, jitter, floor,
    /// Bernoulli's e) hold the values of the parameters they came with.
    pub gradient: Params,
}
