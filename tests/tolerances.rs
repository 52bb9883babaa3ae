//! Every tolerance of the tests, with its reason.

/// Relative error of values in float64 against the goldens: rounding of differently ordered sums at jitter 1e-6.
pub(crate) const EXACT_VALUE: f64 = 1e-9;

/// Error of means in f32 on the device, relative to the largest of their array: the bar of the runtime.
pub(crate) const RUNTIME_MEAN: f64 = 1e-4;

/// Relative error of each variance in f32 on the device: the bar of the runtime.
pub(crate) const RUNTIME_VARIANCE: f64 = 1e-3;

/// A few roundings in f32, relative.
pub(crate) const SINGLE_ROUNDING: f64 = 4e-7;

/// Relative error of a variance with noise of 9e-5 s² in f32. Every projection v·ρ carries a rounding error of
/// |v||ρ|·6e-8, and they add up to about 1e-6 s²: 1.1 % of that noise. An explicit inverse is off by a factor of 100.
pub(crate) const HARD_VARIANCE: f64 = 2e-2;

/// Error of a mean whose weights cancel to 1/1000 of their size, as those of nearly noiseless models do.
pub(crate) const HARD_MEAN: f64 = 5e-4;
