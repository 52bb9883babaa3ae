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
/// Factors of noise and latent variance in a calibrated deviation.
pub const CALIBRATION_FACTOR: RangeInclusive<f32> = 0.0..=1e6;
/// How a calibrated deviation grows with the mean, and how large the exponent of two can be.
pub const TILT: RangeInclusive<f32> = -20.0..=20.0;
pub(super) const STEEPEST_TILT: f32 = 40.0;
/// Variance of a calibrated target in units of its s².
pub const SPREAD: RangeInclusive<f32> = 1e-6..=1e6;
/// Calibrated quantiles.
pub const QUANTILE: RangeInclusive<f32> = 1e-6..=1e3;
/// Least probability of a class in a prediction set.
pub const THRESHOLD: RangeInclusive<f32> = 0.0..=1.0;
/// Errors that the file records.
pub const ERROR: RangeInclusive<f32> = 0.0..=f32::MAX;
/// Bytes of a model id.
pub const MAX_MODEL_ID: usize = 32;
/// Bytes of one name.
pub const MAX_NAME: usize = 255;

/// Whether a value is in a range; a NaN is in none. Once, and not inlined into every check. Not by comparing floats, for
/// which programs that compute with integers alone would need routines.
#[inline(never)]
pub(super) fn within(value: f32, range: &RangeInclusive<f32>) -> bool {
    (place(*range.start())..=place(*range.end())).contains(&place(value))
}

/// Whether these are two numbers, the first not above the second.
pub(super) fn ordered(low: f32, high: f32) -> bool {
    within(low, &(f32::MIN..=high)) && within(high, &(low..=f32::MAX))
}

/// Whether it is 0 or −0. Of a look at the bits here the compiler would make a comparison of floats again.
pub(super) fn is_zero(value: f32) -> bool {
    within(value, &(0.0..=0.0))
}

/// Where a single stands in the order of all of them: both zeros at the same place, NaNs behind the infinities.
#[inline(always)]
fn place(value: f32) -> i32 {
    let bits = value.to_bits() as i32;
    if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::{is_zero, ordered, within};

    const NUMBERS: [f32; 13] = [
        f32::NEG_INFINITY,
        f32::MIN,
        -1.5,
        -1e-40,
        -0.0,
        0.0,
        1e-40,
        f32::MIN_POSITIVE,
        1.0,
        2.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];

    #[test]
    fn comparisons_by_bits_are_those_of_numbers() {
        for low in NUMBERS {
            assert_eq!(is_zero(low), low == 0.0);
            for high in NUMBERS.into_iter().filter(|high| !high.is_nan() && !low.is_nan()) {
                assert_eq!(ordered(low, high), low <= high && low.is_finite() && high.is_finite(), "{low} {high}");
                for value in NUMBERS.into_iter().chain([-f32::NAN]) {
                    assert_eq!(within(value, &(low..=high)), (low..=high).contains(&value), "{value} {low} {high}");
                }
            }
            for nan in [f32::NAN, -f32::NAN] {
                assert!(!ordered(low, nan) && !ordered(nan, low));
            }
        }
    }
}
