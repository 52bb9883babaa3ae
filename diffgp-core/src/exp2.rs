//! 2⁻ᵈ for d ≥ 0 in f32: the exponential of every kernel.
//!
//! Method: n = round(d), f = n − d ∈ [−½, ½], 2ᶠ by a polynomial of degree 6 with p(0) = 1, then n is subtracted from
//! the exponent bits. No table, no branch, no conversion between float and integer.
//! Accuracy: relative error below 1.1e-7 for d ≤ 126, exact at integers; beyond, the result stays at 2⁻¹²⁶.
//! `libm::exp2f` needs software doubles, which none of our smaller boards has; this takes about 22 instructions on
//! Cortex-M4F, and the same bits come out everywhere because only IEEE single operations are used.

/// Bound of the relative error of [`exp2_neg`] for 0 ≤ d ≤ 126: rounding; the polynomial's
/// own error is 3e-9. Degree 5 would save two instructions and triple the error of ill-conditioned means.
#[cfg(test)]
const EXP2_NEG_ERROR: f32 = 1.1e-7;

/// Below 2⁻¹²⁶ lie the subnormal numbers.
const LARGEST: u32 = 126.0_f32.to_bits();

/// 1.5·2²³: adding it rounds to an integer and leaves that integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// Minimax coefficients of 2ᶠ − 1 on [−½, ½] (relative error 3e-9), f¹ first.
#[expect(clippy::approx_constant, reason = "the first coefficient of the fit is close to ln 2, not ln 2 itself")]
const C: [f32; 6] = [0.693_147_2, 0.240_226_48, 0.055_503_6, 0.009_618_506, 0.001_339_080_6, 1.532_646_1e-4];

/// 2⁻ᵈ for d ≥ 0, clamped at 2⁻¹²⁶. A negative or NaN argument gives 2⁻¹²⁶ as well, never a panic.
#[inline(always)]
pub fn exp2_neg(d: f32) -> f32 {
    // Non-negative floats are ordered like their bits: an integer minimum clamps, and costs nothing in soft float.
    let d = f32::from_bits(d.to_bits().min(LARGEST));
    let shifted = ROUND - d;
    let f = (ROUND - shifted) - d;
    let p = (((((C[5] * f + C[4]) * f + C[3]) * f + C[2]) * f + C[1]) * f + C[0]) * f + 1.0;
    // The low bits of `shifted` hold −n: moved into the exponent they multiply by 2⁻ⁿ.
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn error_stays_below_the_stated_bound_on_every_1000th_float() {
        let mut worst = 0.0_f64;
        for bits in (0..=LARGEST).step_by(1000) {
            let d = f32::from_bits(bits);
            let exact = libm::exp2(-f64::from(d));
            worst = worst.max((f64::from(exp2_neg(d)) - exact).abs() / exact);
        }
        assert!(worst < f64::from(EXP2_NEG_ERROR), "worst relative error {worst:e}");
        assert!(worst > 0.3 * f64::from(EXP2_NEG_ERROR), "the stated bound is far from the truth: {worst:e}");
    }

    #[test]
    fn integers_are_exact() {
        for n in 0..=126_u8 {
            assert_eq!(f64::from(exp2_neg(f32::from(n))), libm::exp2(-f64::from(n)));
        }
    }

    #[test]
    fn outside_the_range_the_result_is_the_smallest_normal_number() {
        for d in [126.5, 1e6, f32::MAX, f32::INFINITY, f32::NAN, -1.0] {
            assert_eq!(exp2_neg(d), f32::MIN_POSITIVE, "{d}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn it_never_increases() {
        let mut last = 1.0;
        for i in 0..200_000_u32 {
            let value = exp2_neg(i as f32 * 1e-4);
            assert!(value <= last * (1.0 + EXP2_NEG_ERROR), "at {i}");
            last = value;
        }
    }
}
