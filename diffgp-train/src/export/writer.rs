//! Bytes of a blob: the writing side of `diffgp_core::blob`.

use diffgp_core::blob::{
    CHECKSUM_BYTES, FORMAT_VERSION, Header, KernelDescriptor, MAGIC, OutputDescriptor, PRELUDE_BYTES, TensorDescriptor,
    checksum, layout,
};
use nalgebra::DMatrix;
use serde::Serialize;

use super::tables::Output;
use crate::params::Kernel;

/// Descriptors and tensors, collected in the order in which the device walks them.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) descriptors: Vec<u8>,
    tensors: Vec<f32>,
}

impl Body {
    /// Numbers without a descriptor (T1 to T5).
    pub(super) fn singles(&mut self, values: impl IntoIterator<Item = f32>) {
        self.tensors.extend(values);
    }

    /// K1 to K4 with their tensors.
    pub(super) fn kernel(&mut self, kernel: &Kernel, inducing: &DMatrix<f64>) {
        self.descriptor(&KernelDescriptor {
            kind: kernel.kind.number(),
            variance: kernel.variance as f32,
            scales: TensorDescriptor::F32,
            points: TensorDescriptor::F32,
        });
        let c = kernel.kind.distance_scale();
        // The device multiplies its input by the rounded scale, so the points are multiplied by that as well.
        let scales: Vec<f32> = kernel.length_scales.iter().map(|l| (c / l) as f32).collect();
        let points =
            DMatrix::from_fn(inducing.nrows(), inducing.ncols(), |m, i| inducing[(m, i)] * f64::from(scales[i]));
        self.singles(scales);
        self.interleaved(&points);
    }

    /// O1 to O4 with their tensors.
    pub(super) fn output(&mut self, output: &Output) {
        let rank = output.coefficients.len();
        self.descriptor(&OutputDescriptor {
            rank: rank as u16,
            weights: TensorDescriptor::F32,
            directions: TensorDescriptor::F32,
            coefficients: TensorDescriptor::F32,
        });
        self.singles(output.weights.iter().map(|&w| w as f32));
        self.interleaved(&output.directions.transpose());
        let coefficients = output.coefficients.iter().map(|&c| c as f32);
        self.singles(coefficients.chain(std::iter::repeat_n(0.0, layout::padded(rank) - rank)));
    }

    /// Rows in blocks of eight, zero-padded.
    fn interleaved(&mut self, matrix: &DMatrix<f64>) {
        let (rows, columns) = matrix.shape();
        let mut values = vec![0.0; layout::padded(rows) * columns];
        for row in 0..rows {
            for column in 0..columns {
                values[layout::position(row, column, columns)] = matrix[(row, column)] as f32;
            }
        }
        self.singles(values);
    }

    fn descriptor(&mut self, descriptor: &impl Serialize) {
        let mut buffer = [0; 64];
        let bytes = postcard::to_slice(descriptor, &mut buffer).expect("a descriptor is shorter than 64 bytes");
        self.descriptors.extend_from_slice(bytes);
    }

    /// The tensors as they lie in the blob.
    pub(super) fn tensor_bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.tensors.iter().flat_map(|value| value.to_le_bytes())
    }

    /// The finished blob.
    pub(super) fn finish(&self, header: &Header<'_>) -> Vec<u8> {
        let mut buffer = vec![0; 256 + header.model_id.len() + header.descriptors.len() + header.names.len()];
        let encoded = postcard::to_slice(header, &mut buffer).expect("scalars take less than 256 bytes");
        let padded = encoded.len().next_multiple_of(4);
        let total = PRELUDE_BYTES + padded + 4 * self.tensors.len() + CHECKSUM_BYTES;
        let mut blob = Vec::with_capacity(total);
        blob.extend_from_slice(&MAGIC);
        for word in [FORMAT_VERSION, total as u32, encoded.len() as u32] {
            blob.extend_from_slice(&word.to_le_bytes());
        }
        blob.extend_from_slice(encoded);
        blob.resize(PRELUDE_BYTES + padded, 0);
        blob.extend(self.tensor_bytes());
        let crc = checksum(&blob);
        blob.extend_from_slice(&crc.to_le_bytes());
        blob
    }
}
