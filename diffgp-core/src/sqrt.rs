//! √x in f32, correctly rounded: with floating-point hardware by Newton's method, elsewhere digit by digit in integers.
//!
//! Our own because `libm::sqrtf` brings a table and 64-bit products, 480 bytes of flash where the whole runtime has
//! 12 KiB, and hardware square roots cannot be reached from `no_std` without unsafe code. A flow takes one root per step
//! and dimension, a Matérn kernel one per inducing point. The bits are those of any IEEE root.

use crate::rolled::keep_rolled;

/// Where products of floats are instructions. Not all that there are: the digits are right everywhere.
const HARDWARE: bool = cfg!(any(target_abi = "eabihf", target_arch = "x86_64", target_arch = "aarch64"));

/// √x for normal x > 0. Zero for anything below the smallest normal number (also negative ones). An infinity and a NaN
/// stay what they are, so that whoever looks at the result sees them.
#[inline(never)]
pub fn sqrt(x: f32) -> f32 {
    let bits = x.to_bits();
    if !(f32::MIN_POSITIVE.to_bits()..f32::INFINITY.to_bits()).contains(&bits) {
        return if x < f32::MIN_POSITIVE { 0.0 } else { x };
    }
    // x = m · 2^exponent with an even exponent and m in [1, 4).
    let biased = bits >> 23;
    let odd = !biased & 1;
    let significand = if HARDWARE { newton(bits & 0x007f_ffff, odd) } else { digits(bits & 0x007f_ffff, odd) };
    f32::from_bits(((biased - odd + 127) >> 1 << 23) + (significand - (1 << 23)))
}

/// The significand of √m, 24 bits, for m = (1 + fraction·2⁻²³)·2^odd.
/// On a Cortex-M4F it takes 190 instructions less than the digits.
#[inline(always)]
fn newton(fraction: u32, odd: u32) -> u32 {
    let m = f32::from_bits(fraction | (127 + odd) << 23);
    // 1/√m to 4 %, from halving the exponent; y ← y (3 − m y²)/2 squares the error: 2e-3, 5e-6, rounding.
    let mut y = f32::from_bits(0x5f37_59df - (m.to_bits() >> 1));
    let half = 0.5 * m;
    y *= 1.5 - half * y * y;
    y *= 1.5 - half * y * y;
    y *= 1.5 - half * y * y;
    let mut root = (m * y * 8_388_608.0) as u32;
    // Within a few units of the last place, m·2⁴⁶ − root² fits into 32 bits, so it may be computed modulo 2³². The root
    // is the right one when it is in (−root, root].
    let square = (fraction | 0x0080_0000) << (23 + odd);
    let mut rest = square.wrapping_sub(root.wrapping_mul(root)) as i32;
    while rest > root as i32 {
        rest -= 2 * root as i32 + 1;
        root += 1;
    }
    while rest <= -(root as i32) {
        root -= 1;
        rest += 2 * root as i32 + 1;
    }
    root
}

/// The same from integers alone: 25 times a handful of instructions on every core.
#[inline(always)]
fn digits(fraction: u32, odd: u32) -> u32 {
    let mut rest = (fraction | 0x0080_0000) << (1 + odd);
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
    (root + 1) >> 1
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn every_significand_of_an_even_and_an_odd_exponent_is_correctly_rounded_either_way() {
        for bits in 1.0_f32.to_bits()..4.0_f32.to_bits() {
            let (x, fraction) = (f32::from_bits(bits), bits & 0x007f_ffff);
            let odd = u32::from(x >= 2.0);
            let expected = x.sqrt().to_bits() & 0x007f_ffff | 0x0080_0000;
            assert_eq!((newton(fraction, odd), digits(fraction, odd)), (expected, expected), "{x}");
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
