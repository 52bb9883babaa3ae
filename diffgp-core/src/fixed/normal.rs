//! The standard normal variate of a word, in integers: the map of [`crate::normal::from_word`].
//!
//! ```text
//! b = P(|ε| > z),  L = −log₂ b,  z = z(L)
//! ```
//!
//! L is the number of leading zeros of b and the logarithm of what follows, by a polynomial. z(L) is smooth: like a root,
//! it has its singularity at L = −1, so that one polynomial for every octave of L + 1 is enough.

use super::{centred, polynomial};

/// log₂ m in Q25 for 1 ≤ m < 2, by m − 3/2; error 2.4e-6.
const LOG2: [i32; 7] = [19_628_084, 32_273_351, -10_757_988, 4_755_493, -2_375_548, 1_473_291, -824_383];

/// z in Q26 for 2ʲ ≤ L + 1 < 2ʲ⁺¹, by (L + 1)/2ʲ − 3/2; error 1.5e-6 up to L = 31.
const DEVIATES: [[i32; 7]; 6] = [
    [25_215_793, 44_239_814, -9_853_503, 3_836_610, -1_783_680, 1_043_055, -563_492],
    [77_198_640, 56_492_619, -11_805_319, 4_486_734, -2_058_224, 1_191_176, -639_613],
    [144_544_084, 74_124_831, -14_586_448, 5_396_281, -2_436_284, 1_392_128, -741_891],
    [234_015_595, 99_521_427, -18_605_746, 6_699_271, -2_971_988, 1_673_289, -883_693],
    [355_321_576, 136_013_105, -24_440_319, 8_590_260, -3_746_193, 2_076_679, -1_085_885],
    [522_280_815, 188_251_364, -32_889_418, 11_340_813, -4_873_516, 2_663_205, -1_379_247],
];

/// The standard normal variate that a uniform word stands for, Φ⁻¹((word + ½)/2³²), in Q24. Absolute error below 6e-6.
#[inline(never)]
pub fn normal_from_word(word: u32) -> i32 {
    let negative = word < 0x8000_0000;
    let from_the_end = if negative { word } else { !word };
    // b in Q32, an odd number: never zero.
    let below = from_the_end << 1 | 1;
    let zeros = below.leading_zeros();
    // L + 1 in Q25, from 1 to 33.
    let octaves = (zeros + 2) << 25;
    let level = octaves.wrapping_sub(polynomial(&LOG2, centred(below << zeros)) as u32);
    let zeros = level.leading_zeros();
    let deviates = DEVIATES.get(6_u32.wrapping_sub(zeros) as usize).unwrap_or(&DEVIATES[0]);
    // Where b is next to one, the error of the logarithm may lead below z = 0, or L + 1 below one.
    let z = if zeros > 6 { 0 } else { polynomial(deviates, centred(level << zeros)).max(0) };
    let z = (z + 2) >> 2;
    if negative { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::from_word;

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn words_stand_for_the_same_variates_as_in_single_precision() {
        let mut worst = 0.0_f64;
        for i in 0..4_000_000_u64 {
            // Words spread evenly and, through the shift, over the tail's octaves as well.
            let word = ((i * 1_073) as u32 & 0x7fff_ffff) >> (i % 31);
            let z = f64::from(normal_from_word(word)) / 16_777_216.0;
            // That one is within 1e-6 of the exact quantile, relative.
            worst = worst.max((z - f64::from(from_word(word))).abs());
        }
        assert!(worst < 1.2e-5, "{worst:e}");
    }

    #[test]
    fn it_is_odd() {
        for word in (0..0x8000_0000_u32).step_by(1_000_003) {
            assert_eq!(normal_from_word(word), -normal_from_word(!word));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn the_moments_are_those_of_the_normal_distribution() {
        // Evenly spread words: no noise, only the error of the map and of the sum over cells.
        let n = 1_u32 << 22;
        let [mut second, mut fourth] = [0.0_f64; 2];
        for i in 0..n {
            let z = f64::from(normal_from_word(i << 10 | 512)) / 16_777_216.0;
            second += z * z;
            fourth += z * z * z * z;
        }
        let (second, fourth) = (second / f64::from(n), fourth / f64::from(n));
        assert!((second - 1.0).abs() < 2e-5, "{second}");
        assert!((fourth - 3.0).abs() < 3e-4, "{fourth}");
    }
}
