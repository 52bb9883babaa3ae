//! H20: descriptors of kernels (K1 to K4) and outputs (O1 to O4), each followed in the blob by its tensors.

use serde::Serialize;

use super::fields::Fields;

/// Element type of a tensor of IEEE singles.
pub const ELEMENT_F32: u8 = 0;
/// Element type of a tensor of sixteen-bit integers. 1 (f16) is reserved.
pub const ELEMENT_I16: u8 = 2;
/// Element type of a tensor of eight-bit integers.
pub const ELEMENT_I8: u8 = 3;

/// How the elements of one tensor are stored; its shape follows from the header.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TensorDescriptor {
    /// Element type.
    pub element: u8,
    /// By which stored numbers are multiplied; 1 for f32.
    pub scale: f32,
}

impl TensorDescriptor {
    /// IEEE singles, as they are.
    pub const F32: Self = Self { element: ELEMENT_F32, scale: 1.0 };

    #[inline(always)]
    fn read(fields: &mut Fields<'_>) -> Self {
        let [element, scale @ ..] = fields.array::<5>();
        Self { element, scale: f32::from_le_bytes(scale) }
    }
}

/// A kernel and its inducing points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KernelDescriptor {
    /// K1: number of the [`crate::kernel::KernelKind`].
    pub kind: u8,
    /// K2: s².
    pub variance: f32,
    /// K3: c/(ℓ t), by which inputs are multiplied, t the scale of the points: `[D]`.
    pub scales: TensorDescriptor,
    /// K4: c Z/ℓ, interleaved by inducing point: `[⌈M/8⌉][D][8]`.
    pub points: TensorDescriptor,
}

/// One output of a Gaussian process: mean w·φ and variance s²(1 − Σ_r c_r (v_r·φ)²) of features φ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutputDescriptor {
    /// O1: how many directions the variance has.
    pub rank: u16,
    /// O2: w: `[M]`.
    pub weights: TensorDescriptor,
    /// O3: v_r, interleaved by direction: `[⌈rank/8⌉][M][8]`.
    pub directions: TensorDescriptor,
    /// O4: c_r of either sign: `[8⌈rank/8⌉]`.
    pub coefficients: TensorDescriptor,
}

impl KernelDescriptor {
    /// Field by field, in the order of the struct.
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            kind: fields.byte(),
            variance: fields.single(),
            scales: TensorDescriptor::read(fields),
            points: TensorDescriptor::read(fields),
        }
    }
}

impl OutputDescriptor {
    /// Field by field, in the order of the struct.
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            rank: fields.short(),
            weights: TensorDescriptor::read(fields),
            directions: TensorDescriptor::read(fields),
            coefficients: TensorDescriptor::read(fields),
        }
    }
}
