//! Matérn correlations from q²:
//!
//! ```text
//! ν = 3/2   (1 + q) e⁻ᑫ           ν = 5/2   (1 + q + q²/3) e⁻ᑫ           e⁻ᑫ = 2^(−q log₂e) = 2⁻ⁿ 2⁻ᶠ
//! ```
//!
//! Method: the root of q² by [`root`](super::root()), the polynomial in Q23, times 2⁻ᶠ in Q31, then a shift by n.
//! Accuracy: the absolute error is below [`MATERN_ERROR`], which a test looks at argument by argument.

use super::exp2::within_octave;
use super::root;
use crate::kernel::KernelKind;

/// Bound of the absolute error of [`matern`]: half a unit of Q20 is 4.8e-7, and the error of the root comes on top.
pub const MATERN_ERROR: f64 = 1.02e-6;

/// Digits of q² behind the point, at most: with more, 32 bits would not reach to where correlations vanish.
pub const MATERN_DIGITS: u32 = 22;

/// log₂e − 1 in Q32.
const LOG2_E_LESS_1: u32 = 1_901_360_723;
/// ⅓ in Q32.
const THIRD: u32 = 1_431_655_765;

/// ρ in Q20 from q² with so many binary digits behind the point: an even number from 8 to [`MATERN_DIGITS`].
#[inline(never)]
pub fn matern(kind: KernelKind, square: u32, digits: u32) -> u32 {
    if square == 0 {
        return 1 << 20;
    }
    // Beyond q² = 512 correlations are less than half a unit.
    let square = square.min((1 << ((digits + 9) & 31)) - 1);
    // q² = m 2⁻²ᵏ with k ≥ 11
    let zeros = square.leading_zeros() & !1;
    let m = square << (zeros & 31);
    let k = (zeros + digits) >> 1;
    // q and d = q log₂e in Q24, 1 + q and q²/3 in Q23.
    let q = root(m) >> (k.wrapping_sub(11) & 31);
    let d = q + high_product(q, LOG2_E_LESS_1);
    let mut polynomial = (1 << 23) + (q >> 1);
    if kind == KernelKind::Matern52 {
        polynomial += (high_product(m, THIRD) << 1) >> ((2 * k).wrapping_sub(22) & 31);
    }
    // In Q22, before it is shifted.
    let size = high_product(polynomial, within_octave(d << 8) << 7);
    // A quarter, not half: what was cut off made the result larger, never smaller.
    ((size >> (d >> 24).min(31)) + 1) >> 2
}

/// The upper half of a product.
#[inline(always)]
fn high_product(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{MATERN_DIGITS, MATERN_ERROR, matern};
    use crate::kernel::KernelKind::{self, Matern32, Matern52};

    fn error(kind: KernelKind, square: u32, digits: u32) -> f64 {
        let q2 = f64::from(square) * libm::exp2(-f64::from(digits));
        let c = kind.distance_scale();
        (f64::from(matern(kind, square, digits)) / f64::from(1 << 20) - kind.correlation_f64(q2 / (c * c))).abs()
    }

    /// The largest error of all these arguments, with 22 digits behind the point.
    fn worst(kind: KernelKind, squares: impl Iterator<Item = u32>) -> (f64, u32) {
        squares
            .map(|square| (error(kind, square, MATERN_DIGITS), square))
            .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn arguments_of_sixteen_digits_and_others_are_within_the_stated_error() {
        for kind in [Matern32, Matern52] {
            let short = (0..16).flat_map(|shift| (0..1_u32 << 16).map(move |square| square << shift >> 1));
            let long = (0..1_u32 << 22).map(|i| i.wrapping_mul(2_654_435_761) >> (i % 31));
            let worst = worst(kind, short.chain(long));
            assert!(worst.0 < MATERN_ERROR, "{kind:?}: {worst:?}");
            assert!(worst.0 > 0.8 * MATERN_ERROR, "the stated bound is far from the truth: {worst:?}");
        }
    }

    #[test]
    #[ignore = "minutes: cargo test --release -p diffgp-core every_argument -- --ignored"]
    fn every_argument_is_within_the_stated_error() {
        for kind in [Matern32, Matern52] {
            let worst = worst(kind, 0..=512 << MATERN_DIGITS);

            assert!(worst.0 < MATERN_ERROR, "{kind:?}: {worst:?}");
        }
    }

    #[test]
    fn fewer_digits_are_zeros_behind_the_last() {
        for kind in [Matern32, Matern52] {
            for digits in (8..MATERN_DIGITS).step_by(2) {
                for square in [1, 2, 77, 1000, 65_535, 130_000] {
                    let same = matern(kind, square << (MATERN_DIGITS - digits), MATERN_DIGITS);
                    assert_eq!(matern(kind, square, digits), same, "{square} with {digits} digits");
                }
            }
        }
    }

    #[test]
    fn one_is_exact_and_nothing_is_larger_and_far_away_there_is_nothing() {
        for kind in [Matern32, Matern52] {
            for digits in (8..=MATERN_DIGITS).step_by(2) {
                assert_eq!(matern(kind, 0, digits), 1 << 20);
                assert!((0..4096).all(|square| matern(kind, square, digits) <= 1 << 20), "{kind:?} {digits}");
                assert_eq!(matern(kind, u32::MAX, digits), 0);
            }
            // Whatever the digits: no panic.
            for digits in 0..=64 {
                let _ = matern(kind, u32::MAX, digits);
                let _ = matern(kind, 1, digits);
            }
        }
    }
}
