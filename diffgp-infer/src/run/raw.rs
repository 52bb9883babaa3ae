//! Predictions without a float: fixed-point numbers in, integers between, fixed-point numbers out.
//!
//! ```text
//! x₀        = (x − mean) · scale                              in Q24
//! mean      = m₁ + Σ_s (m_s − m₁) / S                         in Q24
//! variance  = Σ_s v_s / S + Σ_s (m_s − m₁)² / S − (Σ_s (m_s − m₁) / S)²       in Q32
//! ```
//!
//! m_s and v_s are mean and variance of the predictor at the end of path s, standardised; m₁ is that of the first path, so that
//! the squares are small.

use diffgp_core::blob::TargetRecord;
use diffgp_core::device::keep_rolled;
use diffgp_core::fixed::{SHARE_BITS, STATE_BITS, Single, root, saturated};
use diffgp_core::noise::Noise;

use super::Course;
use crate::error::Error;
use crate::fixed;
use crate::model::{Likelihood, Model};
use crate::prediction::OutOfRange;
use crate::workspace::{Column, Scratch, Sizes};

/// Binary digits of variances behind the point.
const VARIANCE_BITS: i32 = 32;
/// Those that a state has more than differences of means before they are squared.
const COARSER: i32 = STATE_BITS as i32 - VARIANCE_BITS / 2;

/// What a path draws: what there is of [`Noise`] without floats.
pub(crate) trait Normals {
    fn begin_path(&mut self, path: u32);
    fn normal(&mut self) -> i32;
}

/// A source of which nothing but integers is asked, nor linked.
pub(crate) struct Integers<'n, N>(pub(crate) &'n mut N);

impl<N: Noise> Normals for Integers<'_, N> {
    fn begin_path(&mut self, path: u32) {
        self.0.begin_path(path);
    }

    fn normal(&mut self) -> i32 {
        self.0.fixed_normal()
    }
}

/// A prediction in fixed-point numbers: see [`Model::predict_raw`].
#[derive(Clone, Copy, Debug)]
pub struct RawPrediction<'w> {
    model: &'w Model<'w>,
    columns: &'w [Column],
    paths: u32,
    out_of_range: OutOfRange,
}

/// One target of a [`RawPrediction`], with the error bar of the model as it was trained: Gaussian, without calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawOutput {
    /// Standardised, in Q24.
    mean: i64,
    /// Of g, standardised, in Q32.
    variance: u64,
    target: TargetRecord,
}

impl RawPrediction<'_> {
    /// One target.
    #[inline(never)]
    pub fn output(&self, index: usize) -> Option<RawOutput> {
        let [first, a, b, c, d, e, f] = self.columns.get(index)?.map(f32::to_bits);
        let quotient = |sum: [u32; 2]| quotient(whole(sum), self.paths);
        // Of the magnitude, and with the sign again.
        let sum = whole([a, b]) as i64;
        let size = quotient(halves(sum.unsigned_abs())) as i64;
        let difference = if sum < 0 { -size } else { size };
        let scatter = quotient([c, d]).saturating_sub(square(difference));
        Some(RawOutput {
            mean: difference + i64::from(first as i32),
            variance: quotient([e, f]).wrapping_add(scatter),
            target: self.model.blob().target(index),
        })
    }

    /// All targets.
    pub fn outputs(&self) -> impl Iterator<Item = RawOutput> + '_ {
        (0..self.columns.len()).map_while(|index| self.output(index))
    }

    /// Inputs outside the range seen in training.
    pub fn out_of_range(&self) -> OutOfRange {
        self.out_of_range
    }
}

impl RawOutput {
    /// The mean with so many binary digits behind the point, in the target's units; the nearest number if it does not fit.
    pub fn mean(&self, digits: u32) -> i32 {
        let (scale, mean) = (Single::new(self.target.scale), Single::new(self.target.mean));
        let digits = digits.min(64) as i32;
        scale.affine(self.mean, digits - STATE_BITS as i32, mean, digits)
    }

    /// The variance of a new observation, likewise in the square of those units.
    #[inline(never)]
    pub fn variance(&self, digits: u32) -> u64 {
        let scale = Single::new(self.target.scale).squared();
        scale.times(self.observed() as i64 & i64::MAX, digits.min(64) as i32 - VARIANCE_BITS).unsigned_abs()
    }

    /// The standard deviation of a new observation, likewise.
    pub fn std_dev(&self, digits: u32) -> u32 {
        let variance = self.observed().max(1);
        let zeros = variance.leading_zeros() & !1;
        // √(m 2^(32 − zeros − 32)), and the root is in Q13.
        let root = root(((variance << zeros) >> 32) as u32);
        let places = digits.min(64) as i32 - 13 - (zeros / 2) as i32;
        let deviation = Single::new(self.target.scale).times(root.into(), places);
        u32::try_from(deviation).unwrap_or(u32::MAX)
    }

    /// With the noise, standardised, in Q32.
    fn observed(&self) -> u64 {
        self.variance.wrapping_add(Single::new(self.target.noise).times(1, VARIANCE_BITS).unsigned_abs())
    }
}

/// Adds the end of path s to what is kept of an output in the words of a [`Column`]: m₁ in Q24, and in two words each, the
/// lower half first, Σ (m_s − m₁) in Q24, Σ (m_s − m₁)² and Σ v_s in Q32.
#[inline(never)]
fn add_path(column: &mut Column, path: u32, mean: i32, variance: u64) {
    let [first, sums @ ..] = fixed::words(column) else { return };
    let ([of_difference, of_square, of_variance], _) = sums.as_chunks_mut::<2>() else { return };
    if path == 0 {
        *first = mean as u32;
    }
    let difference = i64::from(mean) - i64::from(*first as i32);
    add(of_difference, difference as u64);
    add(of_square, square(difference));
    add(of_variance, variance);
}

/// Modulo 2⁶⁴.
#[inline(never)]
fn add(sum: &mut [u32; 2], number: u64) {
    *sum = halves(whole(*sum).wrapping_add(number));
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Of a difference in Q24, in Q32.
fn square(difference: i64) -> u64 {
    let size = (difference.unsigned_abs() + (1 << (COARSER - 1))) >> COARSER;
    size.saturating_mul(size)
}

/// ⌊x / d⌋ digit by digit: a division of 64 bits would be a larger part of a small program.
#[inline(never)]
fn quotient(x: u64, d: u32) -> u64 {
    let (mut rest, mut quotient) = (0_u64, x);
    for _ in 0..64 {
        keep_rolled();
        rest = rest << 1 | quotient >> 63;
        quotient <<= 1;
        if rest >= u64::from(d) {
            rest -= u64::from(d);
            quotient |= 1;
        }
    }
    quotient
}

impl<'w> Course<'w> {
    /// A whole prediction in fixed-point numbers.
    #[inline(never)]
    pub(crate) fn run_raw(
        model: &'w Model<'w>,
        (x, digits): (&[i32], u32),
        paths: u32,
        mut noise: Option<&mut dyn Normals>,
        scratch: Option<Scratch<'w>>,
    ) -> Result<RawPrediction<'w>, Error> {
        let Sizes { inputs, features, outputs } = model.sizes();
        if !model.is_fixed() || model.likelihood() != Likelihood::Gaussian {
            return Err(Error::NotRaw);
        }
        if x.len() != inputs {
            return Err(Error::InputLength { expected: inputs, found: x.len() });
        }
        if paths == 0 {
            return Err(Error::NoPaths);
        }
        let mut scratch = scratch.ok_or(Error::Capacity { inputs, features, outputs })?;
        let out_of_range = standardise(model, x, digits.min(64) as i32, &mut scratch).ok_or(Error::NotFinite)?;
        for column in &mut *scratch.outputs {
            keep_rolled();
            *column = Column::default();
        }
        let paths = if model.steps() == 0 { 1 } else { paths };
        let mut course =
            Self { model, scratch, out_of_range, paths, sampled: noise.is_some(), path: 0, step: 0, index: 0 };
        for path in 0..paths {
            if let Some(noise) = &mut noise {
                noise.begin_path(path);
            }
            course.path_raw(path, &mut noise).ok_or(Error::NotFinite)?;
        }
        Ok(RawPrediction { model, columns: course.scratch.outputs, paths, out_of_range })
    }

    /// One path and what the predictor says of its end.
    fn path_raw(&mut self, path: u32, noise: &mut Option<&mut dyn Normals>) -> Option<()> {
        self.restart_fixed()?;
        self.step = 0;
        while self.step < self.model.steps() {
            match noise {
                Some(noise) => self.move_dimension_fixed(Some(&mut || noise.normal()))?,
                None => self.move_dimension_fixed(None)?,
            }
        }
        for index in 0..self.model.outputs() {
            let answer = self.answer_fixed(index, false, true)?;
            let mean = saturated(Single::new(answer.unit).times(answer.sum.into(), STATE_BITS as i32));
            let places = VARIANCE_BITS - SHARE_BITS as i32;
            let variance = Single::new(answer.prior).times(answer.share.into(), places).unsigned_abs();
            let column = self.scratch.outputs.get_mut(index)?;
            add_path(column, path, mean, variance);
        }
        Some(())
    }
}

/// x₀ in Q24, and which values lie outside the ranges seen in training, both to the nearest.
#[inline(never)]
fn standardise(model: &Model<'_>, x: &[i32], digits: i32, scratch: &mut Scratch<'_>) -> Option<OutOfRange> {
    let (mut out_of_range, mut bit) = (0, 1_u64);
    let (rows, _) = scratch.input_rows(x.len())?;
    for (index, (start, &x)) in fixed::integers(rows.start).iter_mut().zip(x).enumerate() {
        keep_rolled();
        let input = model.blob().input(index)?;
        let scale = Single::new(input.scale);
        let of_value = scale.times(x.into(), STATE_BITS as i32 - digits);
        let of_mean = scale.times_single(Single::new(input.mean), STATE_BITS as i32);
        *start = saturated(of_value - of_mean);
        let edge = |edge: f32| Single::new(edge).times(1, digits);
        if i64::from(x) < edge(input.low) || i64::from(x) > edge(input.high) {
            out_of_range |= bit;
        }
        bit <<= 1;
    }
    Some(OutOfRange::of_bits(out_of_range))
}
