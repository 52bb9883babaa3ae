//! Bytes of a blob: the writing side of `diffgp_core::blob`.

use diffgp_core::blob::{
    CHECKSUM_BYTES, FORMAT_VERSION, Header, KernelDescriptor, MAGIC, OutputDescriptor, PRELUDE_BYTES, TensorDescriptor,
    checksum, layout,
};
use diffgp_core::kernel::KernelKind;
use nalgebra::DMatrix;
use serde::Serialize;

use super::numbers::{Numbers, interleaved};
use super::tables::Output;
use crate::params::Kernel;

/// Descriptors and tensors, collected in the order in which the device walks them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) descriptors: Vec<u8>,
    pub(crate) tensors: Vec<u8>,
}

/// A kernel as it is stored: K1 to K4.
#[derive(Clone, Debug)]
pub(crate) struct StoredKernel {
    pub(crate) kind: KernelKind,
    pub(crate) variance: f32,
    pub(crate) scales: Vec<f32>,
    /// Interleaved by point.
    pub(crate) points: Numbers,
}

/// An output as it is stored: O1 to O4.
#[derive(Clone, Debug)]
pub(crate) struct StoredOutput {
    pub(crate) weights: Numbers,
    /// Interleaved by direction.
    pub(crate) directions: Numbers,
    /// One for every direction, without padding.
    pub(crate) coefficients: Vec<f32>,
}

impl StoredKernel {
    /// Singles, as training gives them.
    fn new(kernel: &Kernel, inducing: &DMatrix<f64>) -> Self {
        let c = kernel.kind.distance_scale();
        // The device multiplies its input by the rounded scale, so the points are multiplied by that as well.
        let scales: Vec<f32> = kernel.length_scales.iter().map(|l| (c / l) as f32).collect();
        let (rows, columns) = inducing.shape();
        let points = interleaved(rows, columns, |m, i| (inducing[(m, i)] * f64::from(scales[i])) as f32);
        Self { kind: kernel.kind, variance: kernel.variance as f32, scales, points: Numbers::Singles(points) }
    }
}

impl StoredOutput {
    /// Singles.
    pub(crate) fn new(output: &Output) -> Self {
        let (features, rank) = output.directions.shape();
        let directions = interleaved(rank, features, |r, m| output.directions[(m, r)] as f32);
        Self {
            weights: Numbers::Singles(output.weights.iter().map(|&w| w as f32).collect()),
            directions: Numbers::Singles(directions),
            coefficients: output.coefficients.iter().map(|&c| c as f32).collect(),
        }
    }
}

impl Body {
    /// Numbers without a descriptor (T1 to T5).
    pub(crate) fn singles(&mut self, values: impl IntoIterator<Item = f32>) {
        Numbers::Singles(values.into_iter().collect()).write(&mut self.tensors);
    }

    /// K1 to K4 with their tensors, as training gives them.
    pub(super) fn kernel(&mut self, kernel: &Kernel, inducing: &DMatrix<f64>) {
        self.stored_kernel(&StoredKernel::new(kernel, inducing));
    }

    /// O1 to O4 with their tensors, as training gives them.
    pub(super) fn output(&mut self, output: &Output) {
        self.stored_output(&StoredOutput::new(output));
    }

    /// K1 to K4 with their tensors.
    pub(crate) fn stored_kernel(&mut self, kernel: &StoredKernel) {
        self.descriptor(&KernelDescriptor {
            kind: kernel.kind.number(),
            variance: kernel.variance,
            scales: TensorDescriptor::F32,
            points: kernel.points.descriptor(),
        });
        self.singles(kernel.scales.iter().copied());
        kernel.points.write(&mut self.tensors);
    }

    /// O1 to O4 with their tensors.
    pub(crate) fn stored_output(&mut self, output: &StoredOutput) {
        let rank = output.coefficients.len();
        self.descriptor(&OutputDescriptor {
            rank: rank as u16,
            weights: output.weights.descriptor(),
            directions: output.directions.descriptor(),
            coefficients: TensorDescriptor::F32,
        });
        output.weights.write(&mut self.tensors);
        output.directions.write(&mut self.tensors);
        let padding = std::iter::repeat_n(0.0, layout::padded(rank) - rank);
        self.singles(output.coefficients.iter().copied().chain(padding));
    }

    fn descriptor(&mut self, descriptor: &impl Serialize) {
        let mut buffer = [0; 64];
        let bytes = postcard::to_slice(descriptor, &mut buffer).expect("a descriptor is shorter than 64 bytes");
        self.descriptors.extend_from_slice(bytes);
    }

    /// The finished blob, with H22 if there is a certificate.
    pub(crate) fn finish(&self, header: &Header<'_>, certificate: &[u8]) -> Vec<u8> {
        let strings = header.model_id.len() + header.descriptors.len() + header.names.len() + certificate.len();
        let mut buffer = vec![0; 256 + strings];
        let fields = postcard::to_slice(header, &mut buffer).expect("scalars take less than 256 bytes").len();
        let behind = match certificate {
            [] => 0,
            _ => postcard::to_slice(certificate, &mut buffer[fields..]).expect("there is room for it").len(),
        };
        let encoded = &buffer[..fields + behind];
        let padded = encoded.len().next_multiple_of(4);
        let total = PRELUDE_BYTES + padded + self.tensors.len() + CHECKSUM_BYTES;
        let mut blob = Vec::with_capacity(total);
        blob.extend_from_slice(&MAGIC);
        for word in [FORMAT_VERSION, total as u32, encoded.len() as u32] {
            blob.extend_from_slice(&word.to_le_bytes());
        }
        blob.extend_from_slice(encoded);
        blob.resize(PRELUDE_BYTES + padded, 0);
        blob.extend_from_slice(&self.tensors);
        let crc = checksum(&blob);
        blob.extend_from_slice(&crc.to_le_bytes());
        blob
    }
}
