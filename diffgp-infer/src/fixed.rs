//! A sparse Gaussian process evaluated in integers at one input: features φ, sum w·φ, share 1 − Σ_r ± y_r² of the variance.
//!
//! Preconditions: lengths as in the blob format; the parser has checked them. Sums are taken modulo 2³² and shifts are
//! masked, so that no number in a file can do harm; that sums of sensible files do not wrap is for whoever makes them to
//! check. Modular sums do not depend on their order: every core may have its own loops, and the bits are the same.
//! `docs/integers.md` has the formats and what they cost in accuracy.

mod correlations;
mod explained;
mod lanes;
mod step;

pub(crate) use correlations::correlations;
pub(crate) use explained::share;
pub(crate) use step::{add, diffusion, drift};

use diffgp_core::blob::FixedOutput;
use diffgp_core::device::keep_rolled;
use diffgp_core::fixed::SHARE_BITS;

/// Σ w φ in the unit of the output, from the upper and the lower halves of the weights, both with a sign:
///
/// ```text
/// w = 2¹⁶ h + l        Σ h φ + 2^(s−16) Σ l (φ / 2ˢ)
/// ```
#[inline(never)]
pub(crate) fn weighted_sum(output: &FixedOutput<'_>, features: &[u32]) -> i32 {
    let shift = output.low_shift & 15;
    let (mut upper, mut lower) = (0_u32, 0_u32);
    for (&weight, &feature) in output.weights.iter().zip(features) {
        keep_rolled();
        upper = upper.wrapping_add(((weight >> 16) as u32).wrapping_mul(feature));
        lower = lower.wrapping_add((weight as i16 as u32).wrapping_mul(feature >> shift));
    }
    (upper as i32).wrapping_add(lower as i32 >> (16 - shift))
}

/// A sum in the unit of its output as a single.
pub(crate) fn mean(unit: f32, sum: i32) -> f32 {
    unit * sum as f32
}

/// A share of s² as a variance.
pub(crate) fn variance(prior: f32, share: i32) -> f32 {
    const UNIT: f32 = 1.0 / (1_u32 << SHARE_BITS) as f32;
    prior * UNIT * share as f32
}

/// A row of the workspace as integers: its bits.
pub(crate) fn integers(row: &mut [f32]) -> &mut [i32] {
    use zerocopy::{FromBytes, IntoBytes};
    <[i32]>::mut_from_bytes(row.as_mut_bytes()).unwrap_or_default()
}

/// The same without a sign.
pub(crate) fn words(row: &mut [f32]) -> &mut [u32] {
    use zerocopy::{FromBytes, IntoBytes};
    <[u32]>::mut_from_bytes(row.as_mut_bytes()).unwrap_or_default()
}
