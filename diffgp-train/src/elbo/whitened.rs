//! A sparse Gaussian process in whitened form, prepared in float64: what every row needs, computed once per evaluation.
//!
//! R = chol(ρ(Z,Z) + (jitter/s²) I) per kernel, W = L Lᵀ − I and m per output. Cost: a few M³ per kernel and output.
//! ρ(Z,Z) is built from explicit differences: its diagonal is exactly 1.

use faer::Mat;
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::ElboError;
use super::correlation::correlate;
use super::dense::{Factor, product, view};
use super::temporal::TimeFeatures;
use super::workspace::padded;
use crate::params::{Kernel, Posterior, Process};

/// Z, R, W and m of a Gaussian process.
pub(super) struct Whitened {
    /// Z − centre: `[M, D]`.
    pub(super) inducing: DMatrix<f64>,
    /// R and R⁻¹ per kernel.
    pub(super) factors: Vec<Factor>,
    /// One for all steps, or one per step of a spatio-temporal flow.
    pub(super) fields: Vec<ExactField>,
}

/// The outputs' posteriors as functions of the spatial features.
pub(super) struct ExactField {
    /// W per output: symmetric `[M, M]`.
    pub(super) weights: Vec<Mat<f64>>,
    /// m per output: `[M]`.
    pub(super) means: Vec<Vec<f64>>,
}

impl Whitened {
    /// Factorises and prepares; `inducing` is Z − centre, and `times` holds the temporal features of every step of a
    /// spatio-temporal flow.
    pub(super) fn new(
        Process { kernels, posteriors, .. }: &Process,
        inducing: DMatrix<f64>,
        jitter: f64,
        times: Option<&TimeFeatures>,
        matrix: &'static str,
    ) -> Result<Self, ElboError> {
        let factor = |kernel: &Kernel| Factor::new(&correlations(kernel, &inducing), jitter / kernel.variance, matrix);
        let factors = kernels.par_iter().map(factor).collect::<Result<Vec<_>, _>>()?;
        let covariances: Vec<Mat<f64>> = posteriors.par_iter().map(covariance).collect();
        let fields = match times {
            None => vec![ExactField {
                weights: covariances.into_iter().map(|covariance| minus_identity(covariance, 1.0)).collect(),
                means: posteriors.iter().map(|q| q.mean.as_slice().to_vec()).collect(),
            }],
            Some(times) => {
                let field = |step: usize| ExactField {
                    weights: covariances
                        .iter()
                        .map(|s| minus_identity(times.contract(step, s), times.squared_norm(step)))
                        .collect(),
                    means: posteriors.iter().map(|q| times.contract_mean(step, q.mean.as_slice())).collect(),
                };
                (0..times.steps()).into_par_iter().map(field).collect()
            }
        };
        Ok(Self { inducing, factors, fields })
    }

    /// The largest absolute jitter in use, when any factor had to raise its own.
    pub(super) fn raised(&self, jitter: f64) -> Option<f64> {
        let raise = self.factors.iter().map(|factor| factor.raise).fold(1.0, f64::max);
        (raise > 1.0).then_some(jitter * raise)
    }
}

/// S = L Lᵀ.
pub(super) fn covariance(posterior: &Posterior) -> Mat<f64> {
    let factor = view(&posterior.factor);
    product(factor, factor.transpose())
}

/// Inducing points divided by the length-scales, in both orders that the vector loops read.
pub(super) struct Scaled {
    /// `[D][c]`, c = M padded with zeros.
    pub(super) by_input: Vec<f64>,
    /// `[M][D]`.
    pub(super) by_point: Vec<f64>,
    /// c.
    pub(super) rows: usize,
}

impl Scaled {
    pub(super) fn new(kernel: &Kernel, inducing: &DMatrix<f64>) -> Self {
        let (m, d) = inducing.shape();
        let rows = padded(m);
        let (mut by_input, mut by_point) = (vec![0.0; d * rows], vec![0.0; m * d]);
        for (i, scale) in kernel.length_scales.iter().enumerate() {
            for j in 0..m {
                by_input[i * rows + j] = inducing[(j, i)] / scale;
                by_point[j * d + i] = by_input[i * rows + j];
            }
        }
        Self { by_input, by_point, rows }
    }
}

/// ρ(Z,Z): `[M, M]`.
fn correlations(kernel: &Kernel, inducing: &DMatrix<f64>) -> Mat<f64> {
    let m = inducing.nrows();
    let scaled = Scaled::new(kernel, inducing);
    let mut rho = vec![0.0; m * scaled.rows];
    correlate(kernel.kind, &scaled.by_input, &scaled.by_point, &mut rho, scaled.rows);
    Mat::from_fn(m, m, |i, j| rho[j * scaled.rows + i])
}

fn minus_identity(mut matrix: Mat<f64>, weight: f64) -> Mat<f64> {
    for i in 0..matrix.nrows() {
        matrix[(i, i)] -= weight;
    }
    matrix
}
