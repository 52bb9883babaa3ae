//! Every tolerance of the tests, with its reason.

/// Values against the goldens, relative to the largest magnitude of the array. Both sides are float64 with a jitter of
/// 1e-6: condition numbers near 1e6 leave nine to ten digits.
pub(crate) const GOLDEN_VALUE: f64 = 1e-9;

/// Gradients against the goldens, relative to the largest magnitude of the array: the backward pass of a Cholesky
/// factor squares its condition number.
pub(crate) const GOLDEN_GRADIENT: f64 = 1e-7;
