//! 2⁻ᵈ for d ≥ 0: the exponential of every kernel.
//!
//! Method: d = n + i/64 + f/64 with integers n and i and 0 ≤ f < 1; 2^(−i/64) from a table, 2^(−f/64) = 1 − f (a − b f) with the
//! minimax a and b (error 7e-9), then a shift by n. Three products, 256 bytes of table.
//! Accuracy: the absolute error is below [`EXP2_ERROR`] at every argument, which a test looks at one by one.

/// Bound of the absolute error of [`exp2`]: half a unit of Q20 is 4.8e-7.
pub const EXP2_ERROR: f64 = 7.6e-7;

/// 2^(−i/64) in Q24.
const TABLE: [u32; 64] = [
    16_777_216, 16_596_492, 16_417_715, 16_240_863, 16_065_917, 15_892_855, 15_721_658, 15_552_304, 15_384_775,
    15_219_050, 15_055_111, 14_892_937, 14_732_511, 14_573_813, 14_416_824, 14_261_526, 14_107_901, 13_955_931,
    13_805_598, 13_656_884, 13_509_772, 13_364_245, 13_220_286, 13_077_877, 12_937_002, 12_797_645, 12_659_789,
    12_523_418, 12_388_516, 12_255_067, 12_123_055, 11_992_466, 11_863_283, 11_735_492, 11_609_078, 11_484_025,
    11_360_319, 11_237_946, 11_116_891, 10_997_140, 10_878_679, 10_761_494, 10_645_571, 10_530_897, 10_417_458,
    10_305_242, 10_194_234, 10_084_422, 9_975_792, 9_868_333, 9_762_032, 9_656_875, 9_552_851, 9_449_948, 9_348_154,
    9_247_455, 9_147_842, 9_049_301, 8_951_823, 8_855_394, 8_760_003, 8_665_641, 8_572_295, 8_479_954,
];

/// a and b in Q22.
const A: u32 = 45_426;
const B: u32 = 245;

/// 2⁻ᵈ in Q20, for d with so many binary digits behind the point: 8 to 30.
#[inline(always)]
pub fn exp2(d: u32, digits: u32) -> u32 {
    let n = d >> (digits & 31);
    let whole = within_octave(d << (32_u32.wrapping_sub(digits) & 31));
    // Six sixteenths, not half: what was cut off made the result larger, never smaller.
    ((whole >> n.min(31)) + 6) >> 4
}

/// 2⁻ᶠ in Q24 for 0 ≤ f < 1 in Q32.
#[inline(always)]
pub(super) fn within_octave(fraction: u32) -> u32 {
    // f in Q16, and f (a − b f) in Q22.
    let f = (fraction << 6) >> 16;
    let missing = (f * (A - ((B * f) >> 16))) >> 16;
    let size = TABLE[(fraction >> 26) as usize];
    size - (((size >> 8) * missing) >> 14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn every_argument_is_within_the_stated_error() {
        // With 22 digits behind the point nothing is cut off: these are all arguments that differ, up to 2⁻²³.
        let (mut worst, mut at) = (0.0_f64, 0);
        for fraction in 0..1_u32 << 22 {
            let mut exact = libm::exp2(-f64::from(fraction) / f64::from(1 << 22));
            for n in 0..24 {
                let d = n << 22 | fraction;
                let error = (f64::from(exp2(d, 22)) / f64::from(1 << 20) - exact).abs();
                if error > worst {
                    (worst, at) = (error, d);
                }
                exact *= 0.5;
            }
        }
        assert!(worst < EXP2_ERROR, "error {worst:e} at {at:#x}");
        assert!(worst > 0.8 * EXP2_ERROR, "the stated bound is far from the truth: {worst:e}");
    }

    #[test]
    fn digits_beyond_the_22nd_are_cut_off() {
        for digits in 8..=30 {
            for d in [0, 1, 77, 1 << 20, 0x1234_5678, u32::MAX] {
                let cut = if digits > 22 {
                    d >> (digits - 22)
                } else {
                    u32::try_from(u64::from(d) << (22 - digits)).unwrap_or(u32::MAX)
                };
                assert_eq!(exp2(d, digits), exp2(cut, 22), "{d:#x} with {digits} digits");
            }
        }
    }

    #[test]
    fn one_is_exact_and_far_away_there_is_nothing() {
        for digits in 8..=30 {
            assert_eq!(exp2(0, digits), 1 << 20);
        }
        for d in [25 << 24, 40 << 24, u32::MAX] {
            assert_eq!(exp2(d, 24), 0);
        }
        // Whatever the digits: no panic.
        for digits in 0..=64 {
            let _ = exp2(u32::MAX, digits);
        }
    }
}
