//! The predictor's mean, adapted to where a changed flow ends.
//!
//! Fewer steps or a coarser field carry an input somewhere else, and the predictor should still say what the original
//! said. With a = R⁻¹ρ(Z,x) averaged over the paths of a row and f the original's mean prediction for it, the whitened
//! mean m of the predictor becomes m + δ, where δ minimises
//!
//! ```text
//! Σᵢ (fᵢ − s āᵢᵀ(m + δ))²/σ² + |δ|²
//! ```
//!
//! It learns from the original, not from targets: fitted to the targets again, the predictor would also fit their noise
//! again, which cost more than it gained where training had been stopped early for that reason. Its variance stays.

use nalgebra::{DMatrix, DVector};

use super::tensors::KernelTensors;
use crate::export::tables::Output;

/// An output on a kernel of the predictor, for the ends of the same number of paths from every row (consecutive rows of
/// `ends`), the original's standardised means and the noise. `None` if a matrix cannot be factorised.
pub(super) fn adapt(
    kernel: &KernelTensors,
    output: &Output,
    ends: &DMatrix<f64>,
    means: &[f64],
    noise: f64,
) -> Option<Output> {
    let size = kernel.points.nrows();
    let paths = ends.nrows() / means.len();
    let factor = kernel.whitening(&kernel.points)?;
    let s = kernel.variance.sqrt();
    let mut precision = DMatrix::identity(size, size);
    let mut moment = DVector::zeros(size);
    // In pieces: all features of all paths would be large.
    for (chunk, means) in means.chunks(1024).enumerate() {
        let states = ends.rows(chunk * 1024 * paths, means.len() * paths).into_owned();
        let features = kernel.features(&kernel.points, &states);
        let average = DMatrix::from_fn(size, means.len(), |m, n| {
            (0..paths).map(|path| features[(m, n * paths + path)]).sum::<f64>() / paths as f64
        });
        let missing = DVector::from_column_slice(means) - average.tr_mul(&output.weights);
        let a = factor.solve_lower_triangular(&average)?;
        precision += &a * a.transpose() * (s * s / noise);
        moment += &a * missing * (s / noise);
    }
    let delta = precision.cholesky()?.solve(&moment);
    let weights = &output.weights + factor.tr_solve_lower_triangular(&delta)? * s;
    Some(Output { weights, ..output.clone() })
}
