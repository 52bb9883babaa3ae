//! The standard normal distribution in f32: quantile and distribution function.
//!
//! One 32-bit word makes one normal variate, by inversion: no rejection (so the time is the same for every word, up
//! to the tail's square root), no state, and a map from words to values that is monotone up to its rounding.
//! `rand_distr` samples in f64 by rejection, which every core without a double-precision unit pays for.
//!
//! Quantile: with u ∈ (−1, 1) and w = −ln(1−u²), Φ⁻¹((1+u)/2) = u·P(w) for w < 5 and u·P(√w) beyond.
//! Distribution: for z ≥ 0, 1 − Φ(z) = exp(−z²/2)·t·P(t) with t = 1/(1 + 0.3 z).
//! The polynomials are minimax fits of relative error: 9.4e-8 (centre), 4.1e-7 (tail, to 2⁻³³), 1.5e-7 (Φ, to z = 14).

use crate::exp2::exp2_neg;

const CENTRE: [f32; 9] = [
    2.123_313_7,
    0.348_802_66,
    -0.005_908_171,
    -0.001_773_010_1,
    3.091_503_2e-4,
    -6.217_991e-6,
    -4.990_595e-6,
    4.861_037e-7,
    4.035_727_5e-8,
];

const TAIL: [f32; 8] = [
    4.717_087_7,
    1.424_626_5,
    0.004_669_937,
    -0.002_850_579_6,
    0.001_409_335_3,
    -0.001_096_935_1,
    8.004_861e-4,
    -2.385_527_8e-4,
];

const UPPER: [f32; 8] =
    [0.119_629_29, 0.120_753_98, 0.099_913_33, 0.128_562_18, -0.053_684_74, 0.206_354_75, -0.157_203_84, 0.035_674_967];

/// Σ cᵢ xⁱ by Horner's rule.
#[inline(always)]
fn polynomial(coefficients: &[f32], x: f32) -> f32 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// Φ⁻¹((1+u)/2) given u ∈ (−1, 1) and `below` = 1 − |u|, passed apart so that the tails keep their precision.
fn symmetric_quantile(u: f32, below: f32) -> f32 {
    // −ln((1−u)(1+u)) = −ln(below (2 − below))
    let w = -libm::logf(below * (2.0 - below));
    if w < 5.0 { u * polynomial(&CENTRE, w - 2.5) } else { u * polynomial(&TAIL, crate::sqrt::sqrt(w) - 3.5) }
}

/// The standard normal variate that a uniform 32-bit word stands for: Φ⁻¹((word + ½)/2³²).
///
/// Increasing in the word up to its error, odd about the middle, and at most 6.34 in magnitude. Relative error below 1e-6.
pub fn from_word(word: u32) -> f32 {
    // Distance from the middle in half steps: |u| = (2m + 1)/2³² with m < 2³¹, and 1 − |u| from what is left.
    let negative = word < 0x8000_0000;
    let m = if negative { 0x7fff_ffff - word } else { word - 0x8000_0000 };
    const SCALE: f32 = 1.0 / 2_147_483_648.0;
    let u = (m as f32 + 0.5) * SCALE;
    let below = ((0x7fff_ffff - m) as f32 + 0.5) * SCALE;
    let z = symmetric_quantile(u, below);
    if negative { -z } else { z }
}

/// z such that |N(0,1)| ≤ z with this probability: 1.96 for 0.95. `None` unless 0 < probability < 1.
///
/// Relative error below 1e-6 up to a probability of 1 − 2⁻²⁴, the largest that f32 holds.
pub fn central_quantile(probability: f32) -> Option<f32> {
    if probability > 0.0 && probability < 1.0 { Some(symmetric_quantile(probability, 1.0 - probability)) } else { None }
}

/// Φ(z) = P(N(0,1) ≤ z), absolute error below 2.5e-7, exactly ½ at zero and monotone up to that error.
///
/// `libm::erfcf` would do, at four times the code.
pub fn cdf(z: f32) -> f32 {
    let a = z.abs();
    if a == 0.0 {
        return 0.5;
    }
    let t = 1.0 / (1.0 + 0.3 * a);
    // exp(−z²/2) = 2^(−z² log₂e / 2)
    let upper = exp2_neg(a * a * (0.5 * core::f32::consts::LOG2_E)) * t * polynomial(&UPPER, t);
    if z < 0.0 { upper } else { 1.0 - upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ in double precision through libm's erfc: independent of the polynomials above.
    fn exact_cdf(z: f64) -> f64 {
        0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2)
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn quantile_inverts_the_exact_distribution_in_relative_error() {
        // Error of z to first order: (Φ(z) − p) / φ(z), taken in the lower half where p keeps its precision.
        let mut worst = 0.0_f64;
        for i in 0..2_000_000_u64 {
            // Words spread evenly and, through the shift, over the tail's octaves as well.
            let word = ((i * 1_073) as u32 & 0x7fff_ffff) >> (i % 31);
            let p = (f64::from(word) + 0.5) / 4_294_967_296.0;
            let z = f64::from(from_word(word));
            let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * core::f64::consts::PI);
            let error = (exact_cdf(z) - p) / density;
            worst = worst.max((error / z).abs());
        }
        assert!(worst < 1e-6, "worst relative error {worst:e}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn words_map_to_an_odd_increasing_function() {
        let mut last = f32::NEG_INFINITY;
        for i in 0..=65_536_u64 {
            let word = (i * 65_535).min(u64::from(u32::MAX)) as u32;
            let z = from_word(word);
            // Neighbouring words may round to the same value or, by one unit in the last place, the wrong way.
            assert!(z > last - 1e-6 * last.abs(), "word {word}: {z} after {last}");
            assert_eq!(z, -from_word(u32::MAX - word));
            last = z;
        }
        assert!((from_word(0) + 6.338).abs() < 0.01, "{}", from_word(0));
    }

    #[test]
    fn central_quantiles_are_the_ones_in_every_table() {
        for (probability, z) in [(0.5, 0.674_489_75), (0.9, 1.644_853_6), (0.95, 1.959_964), (0.99, 2.575_829_3)] {
            let found = central_quantile(probability).unwrap();
            assert!((found - z).abs() < 2e-6 * z, "{probability}: {found}");
        }
        for outside in [0.0, 1.0, -0.5, 1.5, f32::NAN] {
            assert_eq!(central_quantile(outside), None);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn distribution_agrees_with_erfc() {
        let mut worst = 0.0_f64;
        for i in -140_000..=140_000_i32 {
            let z = i as f32 * 1e-4;
            worst = worst.max((f64::from(cdf(z)) - exact_cdf(f64::from(z))).abs());
        }
        assert!(worst < 2.5e-7, "worst error {worst:e}");
        assert_eq!(cdf(0.0), 0.5);
        assert!(cdf(f32::MAX) == 1.0 && cdf(-f32::MAX) < 1e-37);
    }
}
