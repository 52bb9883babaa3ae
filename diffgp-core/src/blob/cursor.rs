//! Walking the descriptors and the tensors that belong to them, one at a time.

use super::descriptor::{ELEMENT_F32, KernelDescriptor, OutputDescriptor, TensorDescriptor};
use super::{layout, limits};
use crate::kernel::KernelKind;

/// A place in the descriptors (H20) and the matching place in the tensors.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    pub(super) descriptors: &'a [u8],
    pub(super) tensors: &'a [f32],
}

/// A kernel as the device evaluates it: ρ from q² = Σᵢ (xᵢ·scalesᵢ − pointsᵢ)².
#[derive(Clone, Copy, Debug)]
pub struct KernelView<'a> {
    /// K1.
    pub kind: KernelKind,
    /// K2: s².
    pub variance: f32,
    /// K3: `[D]`.
    pub scales: &'a [f32],
    /// K4: `[⌈M/8⌉][D][8]`.
    pub points: &'a [f32],
}

/// An output: mean weights·φ, variance s²(1 − Σ_r coefficients_r (directions_r·φ)²).
#[derive(Clone, Copy, Debug)]
pub struct OutputView<'a> {
    /// O2: `[M]`.
    pub weights: &'a [f32],
    /// O3: `[⌈rank/8⌉][M][8]`.
    pub directions: &'a [f32],
    /// O4: `[8⌈rank/8⌉]`.
    pub coefficients: &'a [f32],
}

impl<'a> Cursor<'a> {
    /// The kernel at the cursor, with this many inputs and inducing points; `None` if there is none that is valid.
    pub fn next_kernel(&mut self, inputs: usize, points: usize) -> Option<KernelView<'a>> {
        let descriptor: KernelDescriptor = self.descriptor()?;
        if !limits::KERNEL_VARIANCE.contains(&descriptor.variance) {
            return None;
        }
        Some(KernelView {
            kind: KernelKind::from_number(descriptor.kind)?,
            variance: descriptor.variance,
            scales: self.tensor(descriptor.scales, inputs)?,
            points: self.tensor(descriptor.points, layout::padded(points) * inputs)?,
        })
    }

    /// The output at the cursor, over this many features; `None` if there is none that is valid.
    pub fn next_output(&mut self, features: usize) -> Option<OutputView<'a>> {
        let descriptor: OutputDescriptor = self.descriptor()?;
        let rank = usize::from(descriptor.rank);
        if rank > features {
            return None;
        }
        let padded = layout::padded(rank);
        Some(OutputView {
            weights: self.tensor(descriptor.weights, features)?,
            directions: self.tensor(descriptor.directions, padded * features)?,
            coefficients: self.tensor(descriptor.coefficients, padded)?,
        })
    }

    /// The next `length` singles, without a descriptor.
    pub(super) fn singles(&mut self, length: usize) -> Option<&'a [f32]> {
        let (tensor, rest) = self.tensors.split_at_checked(length)?;
        self.tensors = rest;
        Some(tensor)
    }

    fn tensor(&mut self, descriptor: TensorDescriptor, length: usize) -> Option<&'a [f32]> {
        if descriptor.element != ELEMENT_F32 || descriptor.scale != 1.0 {
            return None;
        }
        self.singles(length)
    }

    fn descriptor<D: serde::Deserialize<'a>>(&mut self) -> Option<D> {
        let (descriptor, rest) = postcard::take_from_bytes(self.descriptors).ok()?;
        self.descriptors = rest;
        Some(descriptor)
    }
}
