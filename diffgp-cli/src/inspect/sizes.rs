//! What an output and its kernel take, in either arithmetic.

use diffgp_core::blob::{Elements, FixedOutput, FixedRow, FixedRows};
use diffgp_core::kernel::KernelKind;
use diffgp_infer::Model;

/// Of one output and the kernel that it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) kind: KernelKind,
    pub(super) kernel_bytes: usize,
    pub(super) point_bits: u32,
    pub(super) mean_bytes: usize,
    pub(super) weight_bits: u32,
    pub(super) variance_bytes: usize,
    pub(super) direction_bits: u32,
    /// Directions of the variance, without those that only fill a block.
    pub(super) rank: usize,
}

impl Sizes {
    /// Of the flow at step k < K, of the predictor at its end, k = K.
    pub(super) fn of(model: &Model<'_>, step: usize, index: usize) -> Option<Self> {
        if model.is_fixed() { Self::of_integers(model, step, index) } else { Self::of_singles(model, step, index) }
    }

    fn of_singles(model: &Model<'_>, step: usize, index: usize) -> Option<Self> {
        let (kernel, output) = model.blob().part(step, index)?;
        let before = index.checked_sub(1).and_then(|before| model.blob().part(step, before));
        let directions = match before {
            Some((_, before)) if begin_together(before.directions, output.directions) => 0,
            _ => output.directions.bytes(),
        };
        Some(Self {
            kind: kernel.kind,
            kernel_bytes: 4 * kernel.scales.len() + kernel.points.elements.bytes(),
            point_bits: kernel.points.elements.bits(),
            mean_bytes: output.weights.elements.bytes(),
            weight_bits: output.weights.elements.bits(),
            variance_bytes: directions + 4 * output.coefficients.len(),
            direction_bits: output.directions.bits(),
            rank: output.coefficients.iter().rposition(|&c| c != 0.0).map_or(0, |last| last + 1),
        })
    }

    fn of_integers(model: &Model<'_>, step: usize, index: usize) -> Option<Self> {
        let (kernel, output) = model.blob().fixed_part(step, index)?;
        // Three rows and two words; two words behind the weights.
        Some(Self {
            kind: kernel.kind,
            kernel_bytes: 4 * (3 * kernel.scales.len() + 2) + size_of_val(kernel.points),
            point_bits: 16,
            mean_bytes: 4 * (output.weights.len() + 2),
            weight_bits: 32,
            variance_bytes: output.directions.bytes() + size_of_val(output.rows),
            direction_bits: match output.directions {
                FixedRows::U16(_) => 16,
                FixedRows::U8(_) => 8,
            },
            rank: rank(&output),
        })
    }
}

/// Whether two outputs have the same directions, which the file then holds once.
fn begin_together(first: Elements<'_>, second: Elements<'_>) -> bool {
    let start = |elements: Elements<'_>| match elements {
        Elements::F32(values) => values.as_ptr().cast::<u8>(),
        Elements::I16(values) => values.as_ptr().cast(),
        Elements::I8(values) => values.as_ptr().cast(),
    };
    start(first) == start(second) && second.bytes() > 0
}

fn rank(output: &FixedOutput<'_>) -> usize {
    let rows = output.rows.as_flattened();
    rows.iter().rposition(|&word| FixedRow::read(word).factor != 0).map_or(0, |last| last + 1)
}
