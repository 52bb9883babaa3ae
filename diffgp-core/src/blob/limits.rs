//! Limits of the format: what a reader may rely on, whoever wrote the blob.
//!
//! Together with the rule that every tensor lies in the blob in full, they bound the work of a prediction: one step of
//! a flow reads each tensor at most twice, and there are at most [`MAX_STEPS`] steps.

use core::ops::RangeInclusive;

/// D: inputs.
pub const MAX_INPUTS: usize = 64;
/// O: outputs of the predictor, and C: classes.
pub const MAX_OUTPUTS: usize = 32;
/// M_s·max(M_t, 1) and M_g: features of a Gaussian process.
pub const MAX_FEATURES: usize = 1024;
/// K: steps of a flow.
pub const MAX_STEPS: usize = 4096;
/// T of a model with a flow.
pub const FLOW_TIME: RangeInclusive<f32> = 1e-6..=1e3;
/// s², the variance of a kernel.
pub const KERNEL_VARIANCE: RangeInclusive<f32> = 1e-12..=1e12;
/// σ², the variance of the noise, in standardised units.
pub const NOISE: RangeInclusive<f32> = 0.0..=1e6;
/// e of the Bernoulli likelihood.
pub const EPSILON: RangeInclusive<f32> = 0.0..=0.25;
/// Floor of posterior variances.
pub const VARIANCE_FLOOR: RangeInclusive<f32> = 0.0..=1.0;
/// Standard deviation by which an input is divided.
pub const SCALE: RangeInclusive<f32> = 1e-30..=1e30;
/// Standard deviation of the target: the square of a smaller one underflows together with a small variance, that of a
/// larger one overflows together with a large one.
pub const TARGET_SCALE: RangeInclusive<f32> = 1e-15..=1e18;
/// The unit of weights that are stored as integers.
pub const UNIT: RangeInclusive<f32> = 1e-30..=1e30;
/// The unit of inducing points that are stored as integers: its square is a number too.
pub const POINT_UNIT: RangeInclusive<f32> = 1e-15..=1e15;
/// Errors that the file records.
pub const ERROR: RangeInclusive<f32> = 0.0..=f32::MAX;
/// Bytes of a model id.
pub const MAX_MODEL_ID: usize = 32;
/// Bytes of one name.
pub const MAX_NAME: usize = 255;

/// Whether a value is in a range. Once, and not inlined into every check.
#[inline(never)]
pub(super) fn within(value: f32, range: &RangeInclusive<f32>) -> bool {
    range.contains(&value)
}
