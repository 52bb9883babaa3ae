//! Rounds a whitened process, prepared in float64, to the type of the batch work.

use std::ops::Range;

use faer::Mat;

use super::{Field, Layer, LayerKernel};
use crate::elbo::real::Real;
use crate::elbo::whitened::Whitened;
use crate::params::Kernel;

/// Triangular and symmetric products are cut into blocks of about this many columns. Four blocks at M = 100 leave
/// 62 % of the full product and still keep each piece wide enough for the matrix kernels.
const BLOCK: usize = 32;

impl<T: Real> Layer<T> {
    /// The layer of the kernels that `whitened` was made from.
    pub(in crate::elbo) fn new(kernels: &[Kernel], whitened: &Whitened) -> Self {
        let inducing = &whitened.inducing;
        let (m, d) = inducing.shape();
        let outputs = whitened.fields[0].means.len();
        let rounded = |kernel: &Kernel, inverse: &Mat<f64>| LayerKernel {
            kind: kernel.kind,
            variance: T::from_f64(kernel.variance),
            deviation: T::from_f64(kernel.variance.sqrt()),
            inverse_scales: kernel.length_scales.iter().map(|scale| T::from_f64(1.0 / scale)).collect(),
            inducing: (0..m)
                .flat_map(|j| (0..d).map(move |i| (j, i)))
                .map(|(j, i)| T::from_f64(inducing[(j, i)] / kernel.length_scales[i]))
                .collect(),
            inverse: round(inverse),
        };
        Self {
            inputs: d,
            inducing: m,
            outputs,
            kernels: kernels.iter().zip(&whitened.factors).map(|(k, factor)| rounded(k, &factor.inverse)).collect(),
            fields: whitened
                .fields
                .iter()
                .map(|field| Field {
                    weights: field.weights.iter().flat_map(round).collect(),
                    means: field.means.iter().flatten().map(|&mean| T::from_f64(mean)).collect(),
                })
                .collect(),
            blocks: blocks(m),
        }
    }
}

/// M columns in near-equal blocks.
fn blocks(m: usize) -> Vec<Range<usize>> {
    let count = m.div_ceil(BLOCK);
    (0..count).map(|i| i * m / count..(i + 1) * m / count).collect()
}

/// The entries in column-major order.
fn round<T: Real>(matrix: &Mat<f64>) -> Vec<T> {
    matrix.col_iter().flat_map(|column| column.iter().map(|&value| T::from_f64(value))).collect()
}
