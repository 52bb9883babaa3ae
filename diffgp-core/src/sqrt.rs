//! √x in f32, correctly rounded, digit by digit in integers.
//!
//! Our own because `libm::sqrtf` brings a table and 64-bit products, 480 bytes of flash where the whole runtime has
//! 12 KiB, and hardware square roots cannot be reached from `no_std` without unsafe code. This takes 90 bytes and about
//! 200 instructions on every core; a flow takes one root per step and dimension. The bits are those of any IEEE root.

use crate::rolled::keep_rolled;

/// √x for normal x > 0. Zero for anything below the smallest normal number (also negative ones). An infinity and a NaN
/// stay what they are, so that whoever looks at the result sees them.
#[inline(never)]
pub fn sqrt(x: f32) -> f32 {
    let bits = x.to_bits();
    if !(f32::MIN_POSITIVE.to_bits()..f32::INFINITY.to_bits()).contains(&bits) {
        return if x < f32::MIN_POSITIVE { 0.0 } else { x };
    }
    // x = significand · 2^(exponent − 23) with an even exponent.
    let exponent = (bits >> 23) as i32 - 127;
    let mut rest = (bits & 0x007f_ffff | 0x0080_0000) << (1 + (exponent & 1));
    // The root's binary digits from the first to the 25th, which decides the rounding: a digit is set if the square of
    // the root with it does not exceed the significand. `twice` is twice the root so far, `rest` what is left, shifted.
    let (mut root, mut twice, mut digit) = (0_u32, 0_u32, 1_u32 << 24);
    while digit != 0 {
        keep_rolled();
        let trial = twice + digit;
        if trial <= rest {
            twice = trial + digit;
            rest -= trial;
            root += digit;
        }
        rest += rest;
        digit >>= 1;
    }
    // The root is never half-way between two floats, so the 25th digit rounds.
    let significand = (root + (root & 1)) >> 1;
    f32::from_bits(((126 + (exponent >> 1)) as u32).wrapping_shl(23).wrapping_add(significand))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn every_significand_of_an_even_and_an_odd_exponent_is_correctly_rounded() {
        for bits in 1.0_f32.to_bits()..4.0_f32.to_bits() {
            let x = f32::from_bits(bits);
            assert_eq!(sqrt(x), x.sqrt(), "{x}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn every_exponent_is_correctly_rounded() {
        for bits in (f32::MIN_POSITIVE.to_bits()..f32::INFINITY.to_bits()).step_by(9_973) {
            let x = f32::from_bits(bits);
            assert_eq!(sqrt(x), x.sqrt(), "{x}");
        }
    }

    #[test]
    fn what_has_no_root_has_a_stated_value() {
        for x in [0.0, -0.0, -1.0, 1e-40, f32::NEG_INFINITY] {
            assert_eq!(sqrt(x), 0.0, "{x}");
        }
        assert_eq!(sqrt(f32::INFINITY), f32::INFINITY);
        assert!(sqrt(f32::NAN).is_nan() && sqrt(-f32::NAN).is_nan());
    }
}
