//! The calibration of error bars: what rows that the model was not trained on say about its deviations and quantiles.
//!
//! For a real target with standardised mean m, latent variance v and noise σ², the calibrated deviation is s, and a
//! central interval of probability p has the half width s h(u), u = Φ⁻¹((1 + p)/2):
//!
//! ```text
//! s² = (a σ² + b v) 2^(c m + d m²)      m clamped to the range of the rows that calibrated
//! h                                     through (0, 0) and (u_j, q_j), j = 1 … 8, straight between and beyond
//! ```
//!
//! h(u) = u is a Gaussian. The variance of a target is s² E[h(|N(0,1)|)²], the last factor being stored.

use super::fields::Description;
use super::limits::{self, within};
use crate::exp2::exp2_neg;

/// Probabilities of the stored quantiles.
pub const CALIBRATED_LEVELS: [f32; 8] = [0.25, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 0.999];
/// u_j of them: Φ⁻¹((1 + p)/2).
pub const CALIBRATED_DEVIATIONS: [f32; 8] =
    [0.318_639_36, 0.674_489_75, 0.934_589_3, 1.281_551_6, 1.644_853_6, 1.959_964, 2.575_829_3, 3.290_526_7];
/// Probability of the prediction sets of a classifier.
pub const CLASS_SET_LEVEL: f32 = 0.9;

/// Where the residuals of a calibration come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CalibrationSource {
    /// Rows that took no part in training at all: intervals hold their share on the average over such rows.
    Fresh,
    /// Rows that chose among models, but that none was fitted to.
    Validation,
    /// Rows that one of several models, trained the same way, was not fitted to.
    CrossFitted,
}

impl CalibrationSource {
    /// As it is stored.
    pub const fn number(self) -> u32 {
        match self {
            Self::Fresh => 0,
            Self::Validation => 1,
            Self::CrossFitted => 2,
        }
    }

    /// What is stored as this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Fresh),
            1 => Some(Self::Validation),
            2 => Some(Self::CrossFitted),
            _ => None,
        }
    }

    /// One word, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Validation => "validation",
            Self::CrossFitted => "cross-fitted",
        }
    }
}

/// How the bars of a real target are calibrated, for predictions along the drift or for sampled ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationRecord {
    /// C3: a.
    pub noise_factor: f32,
    /// C4: b.
    pub latent_factor: f32,
    /// C5: c.
    pub slope: f32,
    /// C6: d.
    pub curvature: f32,
    /// C7: least m.
    pub low: f32,
    /// C8: largest m.
    pub high: f32,
    /// C9: E[h(|N(0,1)|)²].
    pub spread: f32,
    /// C10: q_j.
    pub quantiles: [f32; 8],
}

impl CalibrationRecord {
    /// Words of one.
    pub const WORDS: usize = 15;

    /// Fields of the calibration, as the documentation lists them.
    pub const FIELDS: &'static [Description] = &[
        Description { number: "C1", name: "rows", stored: "u32", limits: "at least 1" },
        Description {
            number: "C2",
            name: "source",
            stored: "u32",
            limits: "0 (fresh rows), 1 (validation rows) or 2 (cross-fitted)",
        },
        Description { number: "C3", name: "noise_factor", stored: "f32", limits: "0 to 1e6; C3 + C4 at least 1e-6" },
        Description { number: "C4", name: "latent_factor", stored: "f32", limits: "0 to 1e6" },
        Description {
            number: "C5",
            name: "slope",
            stored: "f32",
            limits: "−20 to 20; the exponent of two at most 40 in size",
        },
        Description { number: "C6", name: "curvature", stored: "f32", limits: "−20 to 20" },
        Description { number: "C7", name: "low", stored: "f32", limits: "finite, at most C8" },
        Description { number: "C8", name: "high", stored: "f32", limits: "finite" },
        Description { number: "C9", name: "spread", stored: "f32", limits: "1e-6 to 1e6" },
        Description { number: "C10", name: "quantiles", stored: "f32 × 8", limits: "1e-6 to 1e3, ascending" },
        Description { number: "C11", name: "threshold", stored: "f32", limits: "0 to 1" },
    ];

    /// As it is stored.
    pub fn words(self) -> [u32; Self::WORDS] {
        let [q1, q2, q3, q4, q5, q6, q7, q8] = self.quantiles;
        let Self { noise_factor, latent_factor, slope, curvature, low, high, spread, .. } = self;
        [noise_factor, latent_factor, slope, curvature, low, high, spread, q1, q2, q3, q4, q5, q6, q7, q8]
            .map(f32::to_bits)
    }

    /// What is stored in these words.
    #[inline(always)]
    pub fn read(words: [u32; Self::WORDS]) -> Self {
        let [noise_factor, latent_factor, slope, curvature, low, high, spread, quantiles @ ..] =
            words.map(f32::from_bits);
        Self { noise_factor, latent_factor, slope, curvature, low, high, spread, quantiles }
    }

    /// Whether it is within its limits.
    pub(super) fn is_valid(self) -> bool {
        let factors = [self.noise_factor, self.latent_factor];
        let tilts = [self.slope, self.curvature];
        let mut before = *limits::QUANTILE.start();
        let mut ascending = true;
        for quantile in self.quantiles {
            ascending &= within(quantile, &limits::QUANTILE) && before <= quantile;
            before = quantile;
        }
        factors.iter().all(|&factor| within(factor, &limits::CALIBRATION_FACTOR))
            && self.noise_factor + self.latent_factor >= *limits::SPREAD.start()
            && tilts.iter().all(|&tilt| within(tilt, &limits::TILT))
            && self.low.is_finite()
            && self.high.is_finite()
            && self.low <= self.high
            && self.steepest() <= limits::STEEPEST_TILT
            && within(self.spread, &limits::SPREAD)
            && ascending
    }

    /// The largest that c m + d m² can be, of either sign.
    fn steepest(&self) -> f32 {
        let largest = self.low.abs().max(self.high.abs());
        (self.slope.abs() + self.curvature.abs() * largest) * largest
    }

    /// s² of a prediction with this standardised mean, latent variance and noise.
    pub fn square(&self, mean: f32, latent_variance: f32, noise: f32) -> f32 {
        // NaN cannot come here; a mean beyond the range counts as its end.
        let m = if mean < self.low {
            self.low
        } else if mean > self.high {
            self.high
        } else {
            mean
        };
        let tilt = self.slope * m + self.curvature * (m * m);
        let factor = if tilt < 0.0 { exp2_neg(-tilt) } else { 1.0 / exp2_neg(tilt) };
        (self.noise_factor * noise + self.latent_factor * latent_variance) * factor
    }

    /// h(u), for u ≥ 0.
    pub fn half_width(&self, u: f32) -> f32 {
        half_width(&self.quantiles, u)
    }
}

/// h(u) of these q_j, for u ≥ 0.
pub fn half_width(quantiles: &[f32; 8], u: f32) -> f32 {
    let (mut from, mut at) = (0.0, 0.0);
    let (mut slope, mut base) = (0.0, (0.0, 0.0));
    for (to, &q) in CALIBRATED_DEVIATIONS.into_iter().zip(quantiles) {
        if from <= u {
            slope = (q - at) / (to - from);
            base = (from, at);
        }
        (from, at) = (to, q);
    }
    let (from, at) = base;
    at + slope * (u - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::central_quantile;

    const RECORD: CalibrationRecord = CalibrationRecord {
        noise_factor: 0.5,
        latent_factor: 2.0,
        slope: -0.25,
        curvature: 0.125,
        low: -2.0,
        high: 3.0,
        spread: 1.5,
        quantiles: [0.1, 0.5, 0.7, 1.0, 1.7, 2.5, 4.0, 8.0],
    };

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(CalibrationRecord::read(RECORD.words()), RECORD);
        assert!(RECORD.is_valid());
    }

    #[test]
    fn the_knots_are_quantiles_of_a_normal() {
        for (level, u) in CALIBRATED_LEVELS.into_iter().zip(CALIBRATED_DEVIATIONS) {
            assert!((central_quantile(level).unwrap() - u).abs() < 3e-6 * u, "{level}");
        }
    }

    #[test]
    fn half_widths_pass_through_the_knots_and_are_straight_between_and_beyond() {
        for (u, q) in CALIBRATED_DEVIATIONS.into_iter().zip(RECORD.quantiles) {
            assert!((RECORD.half_width(u) - q).abs() < 1e-6, "{u}");
        }
        assert_eq!(RECORD.half_width(0.0), 0.0);
        let [.., a, b] = CALIBRATED_DEVIATIONS;
        assert!((RECORD.half_width(0.5 * (a + b)) - 6.0).abs() < 1e-5);
        assert!((RECORD.half_width(b + (b - a)) - 12.0).abs() < 1e-5);
        let identity = CalibrationRecord { quantiles: CALIBRATED_DEVIATIONS, ..RECORD };
        for u in [0.01, 0.5, 1.0, 2.2, 3.0, 6.0] {
            assert!((identity.half_width(u) - u).abs() < 1e-6 * (1.0 + u), "{u}");
        }
    }

    #[test]
    fn squares_by_hand() {
        // 0.5·4 + 2·3 = 8; m = 2: −0.5 + 0.5 = 0.
        assert_eq!(RECORD.square(2.0, 3.0, 4.0), 8.0);
        // m = −2: 0.5 + 0.5 = 1, and beyond the range the same.
        assert_eq!([RECORD.square(-2.0, 3.0, 4.0), RECORD.square(-50.0, 3.0, 4.0)], [16.0, 16.0]);
        // m = 1: −0.125.
        assert!((RECORD.square(1.0, 3.0, 4.0) - 8.0 * libm::exp2f(-0.125)).abs() < 1e-6);
    }

    #[test]
    fn what_is_out_of_its_limits_is_refused() {
        let mut descending = RECORD.quantiles;
        descending.swap(3, 4);
        let bad = [
            CalibrationRecord { noise_factor: -0.1, ..RECORD },
            CalibrationRecord { latent_factor: f32::NAN, ..RECORD },
            CalibrationRecord { noise_factor: 0.0, latent_factor: 0.0, ..RECORD },
            CalibrationRecord { slope: 21.0, ..RECORD },
            CalibrationRecord { curvature: f32::INFINITY, ..RECORD },
            CalibrationRecord { low: 3.5, ..RECORD },
            CalibrationRecord { high: 30.0, ..RECORD },
            CalibrationRecord { high: f32::INFINITY, ..RECORD },
            CalibrationRecord { spread: 0.0, ..RECORD },
            CalibrationRecord { quantiles: descending, ..RECORD },
            CalibrationRecord { quantiles: [0.0; 8], ..RECORD },
        ];
        assert!(bad.iter().all(|record| !record.is_valid()));
    }

    #[test]
    fn sources_have_numbers() {
        for number in 0..3 {
            assert_eq!(CalibrationSource::from_number(number).map(CalibrationSource::number), Some(number));
        }
        assert_eq!(CalibrationSource::from_number(3), None);
    }
}
