//! Walking the descriptors and the tensors that belong to them, one at a time.

use super::descriptor::{KernelDescriptor, OutputDescriptor, TensorDescriptor};
use super::error::ParseError;
use super::fields::Fields;
use super::tensor::{Elements, Tensor};
use super::view::Trust;
use super::{layout, limits};
use crate::kernel::KernelKind;

/// A place in the descriptors (H20) and the matching place in the tensors.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    pub(super) descriptors: &'a [u8],
    pub(super) tensors: &'a [f32],
}

/// A kernel as the device evaluates it: ρ from q² = t² Σᵢ (xᵢ·scalesᵢ − nᵢ)², n the stored numbers of the points and t
/// their scale.
#[derive(Clone, Copy, Debug)]
pub struct KernelView<'a> {
    /// K1.
    pub kind: KernelKind,
    /// K2: s².
    pub variance: f32,
    /// K3: `[D]`.
    pub scales: &'a [f32],
    /// K4: `[⌈M/8⌉][D][8]`.
    pub points: Tensor<'a>,
}

/// An output: mean weights·φ, variance s²(1 − Σ_r coefficients_r (directions_r·φ)²).
#[derive(Clone, Copy, Debug)]
pub struct OutputView<'a> {
    /// O2: `[M]`.
    pub weights: Tensor<'a>,
    /// O3: `[⌈rank/8⌉][M][8]`, each direction in a unit of its own, which its coefficient makes up for.
    pub directions: Elements<'a>,
    /// O4: `[8⌈rank/8⌉]`.
    pub coefficients: &'a [f32],
}

impl KernelView<'_> {
    /// Whether every number of the tensors is finite.
    pub(super) fn finite(&self) -> bool {
        Elements::F32(self.scales).finite() && self.points.elements.finite()
    }
}

impl OutputView<'_> {
    /// Whether every number of the tensors is finite.
    pub(super) fn finite(&self) -> bool {
        self.weights.elements.finite() && self.directions.finite() && Elements::F32(self.coefficients).finite()
    }
}

impl<'a> Cursor<'a> {
    /// The kernel at the cursor, with this many inputs and inducing points; `None` if there is none that is valid.
    pub fn next_kernel(&mut self, inputs: usize, points: usize) -> Option<KernelView<'a>> {
        let mut fields = Fields::new(self.descriptors);
        let descriptor = KernelDescriptor::read(&mut fields);
        self.descriptors = fields.rest()?;
        if !limits::KERNEL_VARIANCE.contains(&descriptor.variance)
            || !limits::POINT_SCALE.contains(&descriptor.points.scale)
        {
            return None;
        }
        Some(KernelView {
            kind: KernelKind::from_number(descriptor.kind)?,
            variance: descriptor.variance,
            scales: self.described_singles(descriptor.scales, inputs)?,
            points: self.tensor(descriptor.points, layout::padded(points).checked_mul(inputs)?)?,
        })
    }

    /// The output at the cursor, over this many features; `None` if there is none that is valid.
    pub fn next_output(&mut self, features: usize) -> Option<OutputView<'a>> {
        let mut fields = Fields::new(self.descriptors);
        let descriptor = OutputDescriptor::read(&mut fields);
        self.descriptors = fields.rest()?;
        let rank = usize::from(descriptor.rank);
        if rank > features || descriptor.directions.scale != 1.0 {
            return None;
        }
        let padded = layout::padded(rank);
        Some(OutputView {
            weights: self.tensor(descriptor.weights, features)?,
            directions: self.tensor(descriptor.directions, padded.checked_mul(features)?)?.elements,
            coefficients: self.described_singles(descriptor.coefficients, padded)?,
        })
    }

    /// Walks past this many kernels: whether all their numbers are finite, which is not looked at if they are trusted.
    pub(super) fn pass_kernels(
        &mut self,
        count: usize,
        inputs: usize,
        points: usize,
        trust: Trust,
    ) -> Result<bool, ParseError> {
        let mut finite = true;
        for _ in 0..count {
            let Some(kernel) = &self.next_kernel(inputs, points) else { return Err(ParseError::Descriptor) };
            finite &= trust == Trust::Bytes || kernel.finite();
        }
        Ok(finite)
    }

    /// The same for outputs.
    pub(super) fn pass_outputs(&mut self, count: usize, features: usize, trust: Trust) -> Result<bool, ParseError> {
        let mut finite = true;
        for _ in 0..count {
            let Some(output) = &self.next_output(features) else { return Err(ParseError::Descriptor) };
            finite &= trust == Trust::Bytes || output.finite();
        }
        Ok(finite)
    }

    /// The next `length` singles, without a descriptor.
    pub(super) fn singles(&mut self, length: usize) -> Option<&'a [f32]> {
        let (tensor, rest) = self.tensors.split_at_checked(length)?;
        self.tensors = rest;
        Some(tensor)
    }

    /// A tensor of singles.
    fn described_singles(&mut self, descriptor: TensorDescriptor, length: usize) -> Option<&'a [f32]> {
        if descriptor == TensorDescriptor::F32 { self.singles(length) } else { None }
    }

    fn tensor(&mut self, descriptor: TensorDescriptor, length: usize) -> Option<Tensor<'a>> {
        let (tensor, rest) = Tensor::take(self.tensors, descriptor, length)?;
        self.tensors = rest;
        Some(tensor)
    }
}
