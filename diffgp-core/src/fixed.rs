//! Arithmetic in integers, for cores without floating-point hardware: 2⁻ᵈ, Matérn correlations, roots and normal variates.
//!
//! A number in Qn is an integer that stands for itself times 2⁻ⁿ. Every function gives the same bits everywhere, because it
//! uses integer additions, products and shifts only. `docs/integers.md` says how a model is evaluated with them.

mod exp2;
mod matern;
mod normal;
mod root;
mod single;

pub use exp2::{EXP2_ERROR, exp2};
pub use matern::{MATERN_DIGITS, MATERN_ERROR, matern};
pub use normal::normal_from_word;
pub use root::{ROOT_ERROR, root};
pub use single::{Single, saturated};

/// Φ⁻¹, states and steps: Q24.
pub const STATE_BITS: u32 = 24;
/// Correlations: Q20.
pub const FEATURE_BITS: u32 = 20;
/// Shares of the variance that directions explain: Q28.
pub const SHARE_BITS: u32 = 28;

/// A single in Q24, to the nearest below; what is beyond ±128 becomes the nearest that there is, and a NaN zero.
#[inline(never)]
pub fn state_from_single(x: f32) -> i32 {
    (x * 16_777_216.0) as i32
}

/// A number in Q24 as a single, rounded once.
#[inline(always)]
pub fn single_from_state(x: i32) -> f32 {
    let bits = (x as f32).to_bits();
    // A power of two is subtracted from the exponent, which is never small enough to underflow.
    f32::from_bits(if x == 0 { bits } else { bits - (STATE_BITS << 23) })
}

/// Σᵢ cᵢ tⁱ by Horner's rule for t in Q32, −½ ≤ t < ½, in the format of the coefficients.
#[inline(never)]
fn polynomial(coefficients: &[i32], t: i32) -> i32 {
    let step = |sum: i32, &c: &i32| (((i64::from(sum) * i64::from(t)) >> 32) as i32).wrapping_add(c);
    coefficients.iter().rev().fold(0, step)
}

/// m − 3/2 in Q32 for m in Q31, 1 ≤ m < 2.
#[inline(always)]
fn centred(m: u32) -> i32 {
    (m.wrapping_sub(3 << 30) << 1) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_singles_are_each_other() {
        for x in [0.0, 1.0, -1.0, 0.5, -127.5, 3.25, 1.0 / 16_777_216.0, -1.0 / 16_777_216.0] {
            assert_eq!(single_from_state(state_from_single(x)), x);
        }
        assert_eq!(state_from_single(1e9), i32::MAX);
        assert_eq!(state_from_single(-1e9), i32::MIN);
        assert_eq!(state_from_single(f32::NAN), 0);
        for x in [i32::MAX, i32::MIN, 12_345_678, -987_654_321] {
            assert_eq!(single_from_state(x), (f64::from(x) / 16_777_216.0) as f32);
        }
    }
}
