//! Kernels and outputs of models that are evaluated in integers (H4 = 1): the records of the others, with other tensors.
//!
//! `docs/integers.md` says what the numbers mean. Whatever they are, a device that shifts by them as told here and adds
//! modulo 2³² cannot come to harm: their limits are for numbers that make sense.

use zerocopy::{FromBytes, IntoBytes};

use super::layout::{self, BLOCK};
use super::limits::{self, within};
use super::tensor::padding_is_zero;
use super::view::{Walk, padding};
use super::{Blob, ELEMENT_I8, ELEMENT_I16};
use crate::fixed::{FEATURE_BITS, MATERN_DIGITS};
use crate::kernel::KernelKind;

/// A kernel: ρ from q² = 2⁻²ᵖ Σᵢ (Xᵢ − nᵢ)², with Xᵢ the product of the state in Q24 and the scale in Q32, rounded.
#[derive(Clone, Copy, Debug)]
pub struct FixedKernel<'a> {
    /// K1.
    pub kind: KernelKind,
    /// K3: s².
    pub variance: f32,
    /// 2p: the binary digits of q² behind the point; K4 is 2⁻ᵖ.
    pub digits: u32,
    /// K5: c/ℓ for states in Q24 and points in units of 2⁻ᵖ, in Q32: `[D]`.
    pub scales: &'a [i32],
    /// K5: the least X at which no q² overflows: `[D]`.
    pub low: &'a [i32],
    /// K5: the largest: `[D]`.
    pub high: &'a [i32],
    /// K5: s √dt in Q24; of the predictor, zero.
    pub spread: u32,
    /// K5: the least share of s² that a variance can be, in Q28.
    pub least: i32,
    /// K6, plus 2¹⁵: `[⌈M/8⌉][D][8]`.
    pub points: &'a [[u16; BLOCK]],
}

/// An output: mean unit · Σ w φ, and for the variance s²(1 − Σ_r ± y_r²) what makes y_r.
#[derive(Clone, Copy, Debug)]
pub struct FixedOutput<'a> {
    /// O4: of the sum.
    pub unit: f32,
    /// O5: the halves h and l of w = h + 2⁻¹⁶ l, both with a sign, h above: `[M]`.
    pub weights: &'a [i32],
    /// O5: by how much features are shifted before the lower halves of the weights multiply them.
    pub low_shift: u32,
    /// O5: what a step adds to a state in Q24, for the sum, in Q32; of the predictor, zero.
    pub gain: i32,
    /// O6, plus half of their range: `[⌈rank/8⌉][M][8]`.
    pub directions: FixedRows<'a>,
    /// O7: how sums become y_r: `[⌈rank/8⌉][8]`.
    pub rows: &'a [[u32; BLOCK]],
}

/// Directions of sixteen or eight bits, interleaved.
#[derive(Clone, Copy, Debug)]
pub enum FixedRows<'a> {
    /// Of sixteen, plus 2¹⁵.
    U16(&'a [[u16; BLOCK]]),
    /// Of eight, plus 2⁷.
    U8(&'a [[u8; BLOCK]]),
}

/// A word of O7: y = sum · factor / 2^shift in Q30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedRow {
    /// Bits 0 to 15.
    pub factor: u32,
    /// Bits 16 to 20.
    pub shift: u32,
    /// Bits 21 to 25: by how much features are shifted before directions multiply them; the same in all rows of a block.
    pub feature_shift: u32,
    /// Bit 31: whether y² is taken from the share that is explained.
    pub negative: bool,
}

impl FixedRow {
    /// As it is stored.
    pub fn word(self) -> u32 {
        self.factor & 0xffff
            | (self.shift & 31) << 16
            | (self.feature_shift & 31) << 21
            | u32::from(self.negative) << 31
    }

    /// What is stored in this word.
    #[inline(always)]
    pub fn read(word: u32) -> Self {
        Self {
            factor: word & 0xffff,
            shift: (word >> 16) & 31,
            feature_shift: (word >> 21) & 31,
            negative: word >> 31 != 0,
        }
    }

    /// Whether no bit is set that has no meaning, and shifts leave something.
    fn is_valid(word: u32) -> bool {
        Self::read(word).word() == word && Self::read(word).feature_shift <= FEATURE_BITS
    }
}

/// p of a unit 2⁻ᵖ of points.
const UNIT_DIGITS: core::ops::RangeInclusive<u32> = 4..=15;
/// The largest s √dt: 16.
const MAX_SPREAD: u32 = 1 << 28;
/// The largest shift of features for the lower halves of weights.
const MAX_LOW_SHIFT: u32 = 15;
/// Words of K5 behind its three rows.
const KERNEL_WORDS: usize = 2;
/// Words of O5 behind the weights.
const OUTPUT_WORDS: usize = 2;

/// p of the unit 2⁻ᵖ, if it is one.
fn unit_digits(unit: f32) -> Option<u32> {
    let digits = 127_u32.checked_sub(unit.to_bits() >> 23)?;
    (unit.to_bits() << 9 == 0 && UNIT_DIGITS.contains(&digits)).then_some(digits)
}

fn integers(words: &[f32]) -> Option<&[i32]> {
    <[i32]>::ref_from_bytes(words.as_bytes()).ok()
}

impl<'a> Blob<'a> {
    /// An output and its kernel, its own or the shared one, of a model that is evaluated in integers: of the flow at step
    /// k < K, of the predictor at its end, k = K.
    pub fn fixed_part(&self, step: usize, output: usize) -> Option<(FixedKernel<'a>, FixedOutput<'a>)> {
        Some((self.fixed_kernel_of(step, output)?, self.fixed_output_of(step, output)?))
    }

    /// The kernel alone. Views go where the caller wants them, without a copy.
    #[inline(never)]
    pub fn fixed_kernel_of(&self, step: usize, output: usize) -> Option<FixedKernel<'a>> {
        let place = self.place(step, output)?;
        if self.header().is_fixed() { self.fixed_kernel(place.kernel, place.points) } else { None }
    }

    /// The output alone.
    #[inline(never)]
    pub fn fixed_output_of(&self, step: usize, output: usize) -> Option<FixedOutput<'a>> {
        let place = self.place(step, output)?;
        if self.header().is_fixed() { self.fixed_output(place.output, place.features) } else { None }
    }

    #[inline(never)]
    fn fixed_kernel(&self, index: usize, points: usize) -> Option<FixedKernel<'a>> {
        let record = self.kernel_record(index)?;
        let inputs = usize::from(self.header().inputs);
        let numbers = integers(self.words(record.scales_at, 3 * inputs + KERNEL_WORDS)?)?;
        let (scales, rest) = numbers.split_at_checked(inputs)?;
        let (low, rest) = rest.split_at_checked(inputs)?;
        let (high, rest) = rest.split_at_checked(inputs)?;
        let &[spread, least] = rest else { return None };
        let words = self.words(record.points_at, layout::padded(points) * inputs / 2)?;
        Some(FixedKernel {
            kind: KernelKind::from_number(record.kind)?,
            variance: record.variance,
            digits: 2 * unit_digits(record.unit)?,
            scales,
            low,
            high,
            spread: spread as u32,
            least,
            points: <[[u16; BLOCK]]>::ref_from_bytes(words.as_bytes()).ok()?,
        })
    }

    #[inline(never)]
    fn fixed_output(&self, index: usize, features: usize) -> Option<FixedOutput<'a>> {
        let record = self.output_record(index)?;
        let (weights, rest) =
            integers(self.words(record.weights_at, features + OUTPUT_WORDS)?)?.split_at_checked(features)?;
        let &[gain, low_shift] = rest else { return None };
        let blocks = layout::padded(record.rank.into()) / BLOCK;
        // A row of eight is four words, or two.
        let words = |per_row: usize| self.words(record.directions_at, blocks * features * per_row);
        let rows = self.words(record.coefficients_at, blocks * BLOCK)?;
        Some(FixedOutput {
            unit: record.unit,
            weights,
            gain,
            low_shift: low_shift as u32 & 31,
            directions: match record.direction_element {
                ELEMENT_I16 => FixedRows::U16(<[[u16; BLOCK]]>::ref_from_bytes(words(4)?.as_bytes()).ok()?),
                ELEMENT_I8 => FixedRows::U8(<[[u8; BLOCK]]>::ref_from_bytes(words(2)?.as_bytes()).ok()?),
                _ => return None,
            },
            rows: <[[u32; BLOCK]]>::ref_from_bytes(rows.as_bytes()).ok()?,
        })
    }
}

impl FixedOutput<'_> {
    /// How often the features are rounded anew: where a block has another shift than the one before.
    pub fn roundings(&self) -> usize {
        let mut shifts = self.rows.iter().filter_map(|rows| rows.first()).map(|&row| FixedRow::read(row).feature_shift);
        let Some(mut before) = shifts.next() else { return 0 };
        1 + shifts.filter(|&shift| core::mem::replace(&mut before, shift) != shift).count()
    }
}

impl FixedRows<'_> {
    /// Bytes that they take.
    pub fn bytes(self) -> usize {
        match self {
            Self::U16(rows) => size_of_val(rows),
            Self::U8(rows) => size_of_val(rows),
        }
    }
}

impl Walk<'_, '_> {
    /// As of other models, with the tensors of these: K5 has three rows and two words, K6 is of 16 bits.
    #[inline(never)]
    pub(super) fn fixed_kernel(&mut self, index: usize, points: usize) -> Option<()> {
        let record = self.blob.kernel_record(index)?;
        let view = self.blob.fixed_kernel(index, points)?;
        let inputs = view.scales.len();
        self.integers(record.scales_at, 4 * (3 * inputs + KERNEL_WORDS), || {
            let ordered = view.low.iter().zip(view.high).all(|(low, high)| low <= high);
            ordered && view.least >= 0 && view.spread <= MAX_SPREAD && view.scales.iter().all(|&scale| scale >= 0)
        })?;
        self.rows(record.points_at, view.points.as_flattened().as_bytes(), 2, padding(points), inputs)?;
        // Of Matérn kernels 32 bits must reach to where correlations vanish.
        let reaches = view.kind == KernelKind::Rbf || view.digits <= MATERN_DIGITS;
        let known = reaches && record.point_element == ELEMENT_I16 && record.unused == 0;
        (known && within(record.variance, &limits::KERNEL_VARIANCE)).then_some(())
    }

    /// O5 has two words more, O7 is of integers.
    #[inline(never)]
    pub(super) fn fixed_output(&mut self, index: usize, features: usize) -> Option<()> {
        let record = self.blob.output_record(index)?;
        let view = self.blob.fixed_output(index, features)?;
        let rank = usize::from(record.rank);
        self.integers(record.weights_at, 4 * (features + OUTPUT_WORDS), || view.low_shift <= MAX_LOW_SHIFT)?;
        let (bytes, size) = match view.directions {
            FixedRows::U16(rows) => (rows.as_flattened().as_bytes(), 2),
            FixedRows::U8(rows) => (rows.as_flattened().as_bytes(), 1),
        };
        self.rows(record.directions_at, bytes, size, padding(rank), features)?;
        let rows = view.rows.as_flattened();
        self.sound &= rows.iter().all(|&word| FixedRow::is_valid(word));
        self.rows(record.coefficients_at, rows.as_bytes(), 4, padding(rank), 1)?;
        let known = record.weight_element == ELEMENT_I16 && within(record.unit, &limits::UNIT);
        (known && rank <= features).then_some(())
    }

    /// Rows of eight, of which the last `padding` of the last block are zero.
    #[inline(never)]
    fn rows(&mut self, at: u32, bytes: &[u8], size: usize, padding: usize, columns: usize) -> Option<()> {
        self.integers(at, bytes.len(), || padding_is_zero(bytes, size, padding, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let row = FixedRow { factor: 54_321, shift: 7, feature_shift: 20, negative: true };
        assert_eq!(FixedRow::read(row.word()), row);
        assert!(FixedRow::is_valid(row.word()) && FixedRow::is_valid(0));
        assert!(!FixedRow::is_valid(1 << 30), "a bit without a meaning");
        assert!(!FixedRow::is_valid(FixedRow { feature_shift: 21, ..row }.word()));
    }

    #[test]
    fn units_are_powers_of_two_within_their_limits() {
        for digits in 4..=15 {
            assert_eq!(unit_digits(libm::exp2f(-(digits as f32))), Some(digits));
        }
        for other in [1.0, 0.125, 1.0 / 65_536.0, 1.5 / 4096.0, -1.0 / 4096.0, 0.0, f32::NAN, f32::INFINITY] {
            assert_eq!(unit_digits(other), None, "{other}");
        }
    }
}
