//! Records and tensors of models that are evaluated in integers.

use diffgp_core::blob::{ELEMENT_I8, ELEMENT_I16, FixedRow, KernelRecord, OutputRecord, layout};
use diffgp_core::kernel::KernelKind;

use super::{Body, StoredKernel, StoredOutput};
use crate::export::Bits;

/// A kernel as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredFixedKernel {
    pub(crate) kind: KernelKind,
    pub(crate) variance: f32,
    /// 2⁻ᵖ.
    pub(crate) unit: f32,
    /// Scales, and the least and the largest X of the box: `[D]` each.
    pub(crate) rows: [Vec<i32>; 3],
    pub(crate) spread: u32,
    pub(crate) least: i32,
    /// Interleaved by point, not yet raised: of missing points zero.
    pub(crate) points: Vec<Option<i32>>,
}

/// An output as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredFixedOutput {
    pub(crate) unit: f32,
    pub(crate) weights: Vec<i32>,
    pub(crate) gain: i32,
    pub(crate) low_shift: u32,
    pub(crate) bits: Bits,
    /// Interleaved by direction, likewise.
    pub(crate) directions: Vec<Option<i32>>,
    /// One for every direction, without padding.
    pub(crate) rows: Vec<FixedRow>,
}

/// A kernel for either arithmetic.
#[derive(Clone, Debug)]
pub(crate) enum AnyKernel {
    Single(StoredKernel),
    Fixed(StoredFixedKernel),
}

/// An output for either arithmetic.
#[derive(Clone, Debug)]
pub(crate) enum AnyOutput {
    Single(StoredOutput),
    Fixed(StoredFixedOutput),
}

impl Body {
    /// A kernel with its tensors.
    pub(crate) fn any_kernel(&mut self, kernel: &AnyKernel) {
        match kernel {
            AnyKernel::Single(kernel) => self.stored_kernel(kernel),
            AnyKernel::Fixed(kernel) => self.fixed_kernel(kernel),
        }
    }

    /// An output with its tensors.
    pub(crate) fn any_output(&mut self, output: &AnyOutput) {
        match output {
            AnyOutput::Single(output) => self.stored_output(output),
            AnyOutput::Fixed(output) => self.fixed_output(output),
        }
    }

    /// Whole words of integers. Where they begin.
    fn words(&mut self, values: impl IntoIterator<Item = u32>) -> u32 {
        let at = self.at();
        self.tensors.extend(values.into_iter().flat_map(u32::to_le_bytes));
        at
    }

    /// Integers raised by half of their range, and zeros where there are none. They come in rows of eight: whole words.
    fn raised(&mut self, values: &[Option<i32>], bits: Bits) -> u32 {
        let at = self.at();
        for &value in values {
            match bits {
                Bits::Eight => self.tensors.push(value.map_or(0, |value| (value + (1 << 7)) as u8)),
                _ => self.tensors.extend(value.map_or(0, |value| (value + (1 << 15)) as u16).to_le_bytes()),
            }
        }
        at
    }

    fn fixed_kernel(&mut self, kernel: &StoredFixedKernel) {
        let numbers = kernel.rows.iter().flatten().map(|&number| number as u32);
        let record = KernelRecord {
            kind: kernel.kind.number(),
            point_element: ELEMENT_I16,
            unused: 0,
            variance: kernel.variance,
            unit: kernel.unit,
            scales_at: self.words(numbers.chain([kernel.spread, kernel.least as u32])),
            points_at: self.raised(&kernel.points, Bits::Sixteen),
        };
        self.kernels.extend(record.words());
    }

    fn fixed_output(&mut self, output: &StoredFixedOutput) {
        let rank = output.rows.len();
        let padding = std::iter::repeat_n(0, layout::padded(rank) - rank);
        let weights = output.weights.iter().map(|&weight| weight as u32);
        let record = OutputRecord {
            rank: rank as u16,
            weight_element: ELEMENT_I16,
            direction_element: if output.bits == Bits::Eight { ELEMENT_I8 } else { ELEMENT_I16 },
            unit: output.unit,
            weights_at: self.words(weights.chain([output.gain as u32, output.low_shift])),
            directions_at: self.raised(&output.directions, output.bits),
            coefficients_at: self.words(output.rows.iter().map(|row| row.word()).chain(padding)),
        };
        self.outputs.extend(record.words());
    }
}
