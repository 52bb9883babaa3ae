//! Every tolerance of the tests, with its reason.

/// Relative error of values in float64 against the goldens: rounding of differently ordered sums at jitter 1e-6.
pub(crate) const EXACT_VALUE: f64 = 1e-9;

/// Error of means in f32 on the device, relative to the largest of their array: the bar of the runtime.
pub(crate) const RUNTIME_MEAN: f64 = 1e-4;

/// Relative error of each variance in f32 on the device: the bar of the runtime.
pub(crate) const RUNTIME_VARIANCE: f64 = 1e-3;

/// A few roundings in f32, relative.
pub(crate) const SINGLE_ROUNDING: f64 = 4e-7;
