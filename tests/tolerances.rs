//! Every tolerance of the tests, with its reason.

/// Error of means in f32 on the device, relative to the largest of their array: the bar of the runtime.
pub(crate) const RUNTIME_MEAN: f64 = 1e-4;

/// Relative error of each variance in f32 on the device: the bar of the runtime.
pub(crate) const RUNTIME_VARIANCE: f64 = 1e-3;

/// Error of class probabilities in f32 on the device: that of means, of which they are functions with a slope of at most ½.
pub(crate) const RUNTIME_PROBABILITY: f64 = 1e-4;

/// A few roundings in f32, relative.
pub(crate) const SINGLE_ROUNDING: f64 = 4e-7;

/// Relative error of a variance with noise of 9e-5 s² in f32. Every projection v·ρ carries a rounding error of
/// |v||ρ|·6e-8, and they add up to about 1e-6 s²: 1.1 % of that noise. An explicit inverse is off by a factor of 100.
pub(crate) const HARD_VARIANCE: f64 = 2e-2;

/// Error of a mean whose weights cancel to 1/1000 of their size, as those of nearly noiseless models do.
pub(crate) const HARD_MEAN: f64 = 5e-4;

/// Values against the goldens, relative to the largest magnitude of the array. Both sides are float64 with a jitter of
/// 1e-6: condition numbers near 1e6 leave nine to ten digits.
pub(crate) const GOLDEN_VALUE: f64 = 1e-9;

/// Gradients against the goldens, relative to the largest magnitude of the array: the backward pass of a Cholesky
/// factor squares its condition number.
pub(crate) const GOLDEN_GRADIENT: f64 = 1e-7;

/// Nats per row that a flow must gain over none on the step function, where a sparse Gaussian process rings: 0.20 for
/// the seed of the test; 0.11, 0.24 and 1.64 for three others.
pub(crate) const STEP_GAIN: f64 = 0.05;

/// RMSE on concrete, split 0, after 100 iterations without a flow: 5.81 was seen; the target's deviation is 16.6.
pub(crate) const CONCRETE_RMSE: f64 = 7.5;

/// Step of the differences that gradients are checked with. The stencil is of fourth order, but a Matérn 5/2 kernel has
/// a kink in its fifth derivative where points coincide: a step of 1e-3 leaves 1.5e-6 at one nearly coinciding pair.
pub(crate) const DIFFERENCE_STEP: f64 = 2e-4;

/// Gradients against differences, relative to the largest of their group: rounding leaves about 1e-16·(bound)/h, near
/// 1e-10 of the larger groups.
pub(crate) const DIFFERENCE: f64 = 2e-7;

/// The bound against an unwhitened evaluation with explicit inverses of matrices of condition 1e5.
pub(crate) const NAIVE_VALUE: f64 = 1e-8;

/// A sparse process at the data against the exact one. The jitter of 1e-8 or 1e-10 shifts results by about j/σ² and
/// leaves matrices of condition 1e9, whose inverses in the test lose as much again.
pub(crate) const EXACT_PROCESS: f64 = 1e-6;

/// The same rows added up in another order, float64.
pub(crate) const REORDERED: f64 = 1e-10;

/// The bound in float32 against float64: rounding of 6e-8 through ten steps and a jitter of 1e-5.
pub(crate) const SINGLE_VALUE: f64 = 1e-5;

/// Gradients in float32 against float64, relative to the largest of the array: R⁻¹ has entries up to 1/√jitter = 300.
pub(crate) const SINGLE_GRADIENT: f64 = 1e-2;

/// The same after five steps, with whatever offset of the inputs: 1e-6 seen. Relative to zero instead of the inducing
/// points, an offset of 32 cost 8e-4 of a length-scale's gradient and one of 128 cost 1e-2.
pub(crate) const SINGLE_OFFSET: f64 = 1e-5;

/// Gradients of length-scales of 0.01 among inputs of the order of one: 1.2e-4 seen. A state rounded to float32 is off by
/// 6e-6 of such a length-scale, and R⁻¹ multiplies that. From sums of x² and x it was 1.2e-3 and more.
pub(crate) const SINGLE_SHORT_SCALE: f64 = 3e-4;

/// The bound of a trained model in float32 against float64, in nats per row, where the flow hardly stretches (ℓ_f = 4,
/// a jitter of 1e-5): 4.3e-6 was the largest of 20 noises.
pub(crate) const TRAINED_SINGLE_VALUE: f64 = 1e-5;

/// The same where the flow pulls a step apart, as a multiple of what the float64 bound moves when every correlation
/// ρ(Z,x) is off by 2⁻²⁴; root mean squares over 20 noises. R⁻¹ multiplies that rounding by up to √(s²/jitter) ≈ 100 in
/// the flow, each of five steps by up to 2, and of 300 rows the one at the step, 3.6σ off, makes up most of the result:
/// 9e-5 nats per row, of either sign. Rounded states alone move the bound by 1e-8, the predictor's correlations by 7e-7.
/// Float32 also rounds the distances, the exponential, R⁻¹ and the sums: 0.7 to 3.2 were seen.
pub(crate) const ROUNDED_CORRELATIONS: f64 = 5.0;

/// Its gradients, relative to the largest of the array: at the end of training they are small differences of large
/// terms, divided by a noise variance that has become small.
pub(crate) const TRAINED_SINGLE_GRADIENT: f64 = 1e-2;

/// Compressed models, device against the same stored numbers in float64, standardised: 6e-7 seen. Every product and sum
/// is off by up to 6e-8 of its size, and terms several times the result cancel.
pub(crate) const COMPACT_MEAN: f64 = 5e-6;
/// The same for variances of the order of 0.1: 3e-8 seen.
pub(crate) const COMPACT_VARIANCE: f64 = 1e-6;
/// The same for the predictor of a step function: 6e-6 seen. Sixteen points on a line are nearly dependent, and weights
/// of hundreds cancel to a mean of one.
pub(crate) const COMPACT_PREDICTOR: f64 = 2e-5;

/// The log-likelihood of validation rows after a few iterations, on one instruction set against another, relative. Sums
/// in float32 are rounded otherwise, and every iteration multiplies that: between AVX2 and plain x86-64 (emulated) 8e-6
/// were seen, after eight iterations. What changes a recipe moves it more, or is left to machines that know their bytes.
pub(crate) const OTHER_INSTRUCTION_SET: f64 = 1e-3;

/// Means of a model in integers against singles, in deviations of the target: points and states are rounded to 2⁻¹² or 2⁻¹³
/// of a length-scale, and ten steps of a flow multiply what that does to one. 1.3e-3 seen, for inputs that fill the whole
/// box of their ranges.
pub(crate) const FIXED_MEAN: f64 = 2e-3;
/// Variances with noise, relative, likewise: 3.1e-3 seen.
pub(crate) const FIXED_VARIANCE: f64 = 5e-3;
/// Means of one model with fixed-point numbers or singles at its ends, in deviations of the target: an input is rounded to f32
/// or to Q24, and ten steps multiply that.
pub(crate) const RAW_MEAN: f64 = 2e-4;
/// Variances with noise, relative, likewise.
pub(crate) const RAW_VARIANCE: f64 = 2e-4;
/// Class probabilities, likewise: 1.4e-4 seen.
pub(crate) const FIXED_PROBABILITY: f64 = 5e-4;

/// Shares of s² in float64, where a factor is computed from its square: with a jitter of 1e-6 the square has a condition
/// number of up to 1e6 or so, which leaves ten digits.
pub(crate) const WIDENING: f64 = 1e-9;

/// What targets with common directions may differ by from directions of their own, as a share of s²: training sums G in f32,
/// so that closed forms agree to that (`COMMON` of the export).
pub(crate) const COMMON_DIRECTIONS: f64 = 1e-5;
