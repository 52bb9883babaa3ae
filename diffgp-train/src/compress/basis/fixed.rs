//! A process in integers: units, shifts and boxes such that no sum of the device overflows.
//!
//! ```text
//! points      n 2⁻ᵖ, p as large as the box around the visited states allows
//! weights     w = W u 2⁻¹⁶,  |w|_H 2²⁰/u < 2³¹ and |W| < 2³¹, since |w·φ| ≤ |w|_H at every state
//! directions  √|c| v = V t,  |V φ 2⁽²⁰⁻ˢ⁾| ≤ √|c| |v|_H 2⁽²⁰⁻ˢ⁾/t < 2³¹; s, one for eight of them, where rounding V and
//!             rounding φ to 20 − s digits together cost least
//! ```

use diffgp_core::blob::FixedRow;
use diffgp_core::fixed::{FEATURE_BITS, MATERN_DIGITS, MATERN_ERROR, SHARE_BITS, STATE_BITS};
use diffgp_core::kernel::KernelKind;
use nalgebra::{DMatrix, DVector};

use super::{Basis, Storage};
use crate::compress::rounding::nearest_plane;
use crate::compress::tensors::KernelTensors;
use crate::export::Bits;
use crate::export::numbers::interleaved;
use crate::export::writer::{StoredFixedKernel, StoredFixedOutput};

/// Why a process cannot be stored for integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotFixed {
    /// Points or states beyond what sixteen bits hold.
    #[error("its inducing points are too many length-scales apart")]
    Points,
    /// A length-scale, deviation or drift beyond the numbers there are for it.
    #[error("{0} is too large")]
    TooLarge(&'static str),
    /// A matrix that is not positive definite in float64.
    #[error("a kernel matrix cannot be factorised")]
    Singular,
}

/// What integers need to know beside the process itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::compress) struct Setting {
    /// dt; zero for a predictor.
    pub(in crate::compress) step: f64,
    /// H8.
    pub(in crate::compress) floor: f64,
    /// s², as it is stored.
    pub(in crate::compress) prior: f64,
}

/// Digits of points behind the point.
const POINT_DIGITS: std::ops::RangeInclusive<i32> = 4..=13;
/// How much wider than the visited states the box is, on either side, as a share of their range.
const MARGIN: f64 = 0.25;
/// The largest sum that is planned for: what rounding adds to it stays below 2³¹.
const LARGEST_SUM: f64 = 2_000_000_000.0;

/// Points in units of 2⁻ᵖ, and that unit; the box of states in the kernel's metric.
pub(super) struct Grid {
    pub(super) points: DMatrix<f64>,
    pub(super) unit: f64,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

/// The finest grid on which distances to all points fit into 32 bits from everywhere in the box.
pub(super) fn grid(kernel: &KernelTensors, points: &DMatrix<f64>, states: &DMatrix<f64>) -> Result<Grid, NotFixed> {
    // Of Matérn kernels 32 bits must reach to where correlations vanish.
    let coarse = |digits: &i32| kernel.kind == KernelKind::Rbf || 2 * digits <= MATERN_DIGITS as i32;
    for digits in POINT_DIGITS.rev().filter(coarse) {
        let unit = f64::from(-digits).exp2();
        let stored = points.map(|value| (value / unit).round());
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for (i, scale) in kernel.scales.iter().enumerate() {
            let of = |pick: fn(f64, f64) -> f64, start: f64| states.column(i).iter().fold(start, |a, &b| pick(a, b));
            let (least, most) = (of(f64::min, f64::INFINITY).min(0.0), of(f64::max, f64::NEG_INFINITY).max(0.0));
            let margin = MARGIN * (most - least);
            low.push(((least - margin) * scale / unit).floor());
            high.push(((most + margin) * scale / unit).ceil());
        }
        let farthest = |row: usize| -> f64 {
            (0..low.len())
                .map(|i| (stored[(row, i)] - low[i]).abs().max((high[i] - stored[(row, i)]).abs()).powi(2))
                .sum()
        };
        let fits = stored.iter().all(|value| value.abs() <= 32767.0)
            && low.iter().chain(&high).all(|value| value.abs() < f64::from(1 << 30))
            && (0..stored.nrows()).all(|row| farthest(row) < 4_294_967_296.0);
        if fits {
            return Ok(Grid { points: stored, unit, low, high });
        }
    }
    Err(NotFixed::Points)
}

impl Basis {
    /// K1 to K6.
    pub(in crate::compress) fn fixed_kernel(&self, setting: Setting) -> Result<StoredFixedKernel, NotFixed> {
        let (rows, columns) = self.stored_points.shape();
        let grid = self.grid.as_ref().ok_or(NotFixed::Points)?;
        // X = x 2²⁴ · S / 2³² in units of 2⁻ᵖ.
        let scale =
            |scale: &f64| whole(scale / self.unit * f64::from(32 - STATE_BITS).exp2(), "a reciprocal length-scale");
        let integer = |value: &f64| *value as i32;
        let deviation = (setting.prior * setting.step).sqrt();
        let least = (setting.floor / setting.prior * f64::from(SHARE_BITS).exp2()).ceil().max(1.0);
        Ok(StoredFixedKernel {
            kind: self.kernel.kind,
            variance: setting.prior as f32,
            unit: self.unit as f32,
            rows: [
                self.kernel.scales.iter().map(scale).collect::<Result<_, _>>()?,
                grid.0.iter().map(integer).collect(),
                grid.1.iter().map(integer).collect(),
            ],
            spread: match deviation * f64::from(STATE_BITS).exp2() {
                spread if spread <= f64::from(1 << 28) => spread.round() as u32,
                _ => return Err(NotFixed::TooLarge("the diffusion of a step")),
            },
            least: whole(least, "the floor of variances beside a kernel's variance")?,
            points: interleaved(rows, columns, |m, i| Some(self.stored_points[(m, i)] as i32)),
        })
    }

    /// O1 to O7.
    pub(in crate::compress) fn fixed_output(
        &self,
        index: usize,
        storage: Storage,
        setting: Setting,
    ) -> Result<StoredFixedOutput, NotFixed> {
        let output = &self.outputs[index];
        let rank = storage.rank.min(output.values.len());
        // w = R′⁻ᵀm′ and √|c_r| v_r = √|c_r| R′⁻ᵀe_r
        let weights = self.factor.tr_solve_lower_triangular(&output.mean).ok_or(NotFixed::Singular)?;
        let directions = self
            .factor
            .tr_solve_lower_triangular(&output.directions.columns(0, rank).into_owned())
            .ok_or(NotFixed::Singular)?;
        let gram = self.kernel.gram(&(&self.stored_points * self.unit));
        let largest = |v: &DVector<f64>| v.dot(&(&gram * v)).max(0.0).sqrt();
        let bits = if storage.directions == Bits::Eight { Bits::Eight } else { Bits::Sixteen };
        let range = bits.largest().unwrap_or(32767.0);

        let mut rounded = Vec::new();
        let mut rows = Vec::new();
        for first in (0..rank).step_by(diffgp_core::blob::layout::BLOCK) {
            let block: Vec<Direction> = (first..rank.min(first + diffgp_core::blob::layout::BLOCK))
                .map(|r| {
                    let v = directions.column(r) * output.values[r].abs().sqrt();
                    Direction { largest: largest(&v), negative: output.values[r] < 0.0, v }
                })
                .collect();
            let shift = self.best_shift(&block, range);
            for direction in &block {
                let (integers, row) = self.round_direction(direction, shift, range)?;
                rounded.push(integers);
                rows.push(row);
            }
        }
        let (weights, unit, low_shift) = round_weights(&weights, largest)?;
        Ok(StoredFixedOutput {
            unit: (unit * (-f64::from(FEATURE_BITS)).exp2()) as f32,
            // unit · 2⁻²⁰ · sum · dt, in Q24 and Q32.
            gain: whole(unit * setting.step * f64::from(STATE_BITS + 32 - FEATURE_BITS).exp2(), "the drift of a step")?,
            weights,
            low_shift,
            bits,
            directions: interleaved(rank, gram.nrows(), |r, m| Some(rounded[r][m])),
            rows,
        })
    }

    /// The mean square error of a direction's y, by feature shift: V rounded in units of t, φ in units of 2⁽ˢ⁻²⁰⁾.
    fn error(&self, direction: &Direction, shift: u32, range: f64) -> f64 {
        let unit = direction.unit(shift, range);
        let planes: f64 = self.metric.diagonal().iter().map(|value| value * value).sum();
        let feature = f64::from(shift as i32 - FEATURE_BITS as i32).exp2();
        (unit * unit * planes + feature * feature * direction.v.norm_squared()) / 12.0
    }

    fn best_shift(&self, block: &[Direction], range: f64) -> u32 {
        let total = |shift: u32| block.iter().map(|direction| self.error(direction, shift, range)).sum::<f64>();
        (0..=FEATURE_BITS - 6).min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0)
    }

    fn round_direction(&self, direction: &Direction, shift: u32, range: f64) -> Result<(Vec<i32>, FixedRow), NotFixed> {
        let mut wanted = direction.unit(shift, range);
        for attempt in 0.. {
            let row = row(wanted, shift, direction.negative).ok_or(NotFixed::TooLarge("a direction of a variance"))?;
            let (integers, clamped) = nearest_plane(&direction.v, &self.metric, unit_of(row), range);
            // What is passed on may exceed the range; a coarser unit makes room. Were it never enough, clamping is still
            // right, only less accurate.
            if !clamped || attempt == 8 {
                return Ok((integers, row));
            }
            wanted *= 1.25;
        }
        unreachable!("the attempts are counted")
    }
}

/// √|c| v of one direction.
struct Direction {
    v: DVector<f64>,
    /// √|c| |v|_H: no |y| is larger.
    largest: f64,
    negative: bool,
}

impl Direction {
    /// The finest unit in which it can be stored and multiplied by features with 20 − s digits.
    fn unit(&self, shift: u32, range: f64) -> f64 {
        let of_sums = self.largest * f64::from(FEATURE_BITS as i32 - shift as i32).exp2() / LARGEST_SUM;
        of_sums.max(self.v.amax() / range)
    }
}

/// t of a row: y in Q30 is Σ V (φ 2^(20−s)) · factor / 2^shift, so t = factor 2^(20 − s − 30 … ) of one stored unit.
pub(in crate::compress) fn unit_of(row: FixedRow) -> f64 {
    // y = sum · factor · 2^(−shift − 30), sum = y/t · 2^(20−s)
    f64::from(row.factor) * f64::from(FEATURE_BITS as i32 - row.feature_shift as i32 - row.shift as i32 - 30).exp2()
}

/// The row whose unit is the smallest that is not below `unit`.
fn row(unit: f64, feature_shift: u32, negative: bool) -> Option<FixedRow> {
    let of = |factor: u32, shift: u32| FixedRow { factor, shift, feature_shift, negative };
    if unit == 0.0 {
        return Some(of(0, 0));
    }
    let exact = unit / unit_of(of(1, 0));
    // factor = exact · 2^shift, with sixteen digits.
    let shift = (15.0 - exact.log2().floor()).clamp(0.0, 31.0) as u32;
    let factor = (exact * f64::from(shift).exp2()).ceil();
    match factor {
        factor if factor <= 65535.0 => Some(of((factor as u32).max(1), shift)),
        _ if shift > 0 => Some(of((factor / 2.0).ceil() as u32, shift - 1)),
        _ => None,
    }
}

/// W in units of 2⁻¹⁶ u, u, and by how much features are shifted for the lower halves.
fn round_weights(
    weights: &DVector<f64>,
    largest: impl Fn(&DVector<f64>) -> f64,
) -> Result<(Vec<i32>, f64, u32), NotFixed> {
    let of_sums = largest(weights) * f64::from(FEATURE_BITS).exp2() / LARGEST_SUM;
    // Never so small that the unit of sums leaves the limits of the format.
    let unit = of_sums.max(weights.amax() / 32766.0).max(1e-20).log2().ceil().exp2();
    // The upper half takes what the sign of the lower one needs.
    let halves = |number: i32| (number + ((number as i16 as i32) & 0x1_0000)) & !0xffff | number & 0xffff;
    let stored: Vec<i32> = weights.iter().map(|w| halves((w / unit * 65536.0).round() as i32)).collect();
    let lower = DVector::from_iterator(stored.len(), stored.iter().map(|&w| f64::from(w as i16)));
    let (sum, errors) = (largest(&lower), lower.lp_norm(1));
    // Features cut off to 20 − s digits are off by less than one unit, and by their own error.
    let fits = |shift: &u32| {
        let digits = f64::from(FEATURE_BITS - shift).exp2();
        sum * digits + errors * (1.0 + MATERN_ERROR * digits) < f64::from(i32::MAX)
    };
    let low_shift = (0..16).find(fits).ok_or(NotFixed::TooLarge("a weight"))?;
    Ok((stored, unit, low_shift))
}

fn whole(value: f64, what: &'static str) -> Result<i32, NotFixed> {
    if value.abs() <= f64::from(i32::MAX) { Ok(value.round() as i32) } else { Err(NotFixed::TooLarge(what)) }
}
