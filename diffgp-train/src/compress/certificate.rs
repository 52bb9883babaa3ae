//! What compression can change at most, anywhere: not only where it was measured.
//!
//! Let Z_J hold the points of both models and ρ(Z_J,Z_J) + δI = F Fᵀ. The features of both are rows of F b(x) with
//! |b(x)|² = φᵀ(FFᵀ)⁻¹φ ≤ ρ(x,x) = 1. So, with tensors as they are stored and rows filled up with zeros,
//!
//! ```text
//! |mean′ − mean|       ≤ |Fᵀ(w′ − w)|
//! variance′ − variance = s² bᵀΔb,   Δ = Fᵀ(V C Vᵀ − V′C′V′ᵀ)F,   between s² min(λ_min, 0) and s² max(λ_max, 0)
//! ```
//!
//! at every state x. What the device adds by computing in single precision is bounded on top (`single_precision`).
//! The bound is of one evaluation of the field. After K steps an error of the drift has grown by up to (1 + L T/K)^K with
//! L the field's Lipschitz constant, which says nothing for trained fields; what happens to predictions is measured.

use diffgp_core::blob::Blob;
use diffgp_core::kernel::KernelKind;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use serde::{Deserialize, Serialize};

use super::tensors::{KernelTensors, Process, Rounding, Tensors};
use crate::export::tables::Output;

/// Unit roundoff of single precision.
const U: f64 = 5.960_464_477_539_063e-8;

/// How far one output of the compressed model can be from the original's, at any state, in standardised units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Of the mean, either way.
    pub mean: f32,
    /// By how much the variance can be too small.
    pub narrower: f32,
    /// By how much the variance can be too large.
    pub wider: f32,
}

impl Bound {
    fn worst(self, other: Self) -> Self {
        Self {
            mean: self.mean.max(other.mean),
            narrower: self.narrower.max(other.narrower),
            wider: self.wider.max(other.wider),
        }
    }
}

/// H27 of a compressed model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Bytes of the model that was compressed.
    pub original_bytes: u32,
    /// Its checksum.
    pub original_checksum: u32,
    /// Its steps.
    pub original_steps: u16,
    /// Whether the predictor's mean was adapted to another flow: then its bound is against the adapted one.
    pub adapted: bool,
    /// For every dimension of the flow, the worst over its tables.
    pub flow: Vec<Bound>,
    /// For the predictor, the worst over its outputs.
    pub predictor: Bound,
}

impl Certificate {
    /// From the bytes of a model; `None` if it was not compressed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(Blob::parse(bytes).ok()?.header().certificate).ok()
    }

    /// What a certificate adds to a file with so many outputs in its flow, at most: three singles for each of them and
    /// for the predictor, the other fields, lengths and padding.
    pub(super) fn most_bytes(outputs: usize) -> usize {
        64 + 12 * (1 + outputs)
    }

    /// As it is stored.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut buffer = vec![0; Self::most_bytes(self.flow.len())];
        let length = postcard::to_slice(self, &mut buffer).expect("there is room for it").len();
        buffer.truncate(length);
        buffer
    }
}

/// Bounds for every dimension of the flow, the worst over tables, and for the predictor, the worst over outputs. Both models have the same
/// number of tables.
pub(super) fn bounds(original: &Tensors, compressed: &Tensors, inputs: usize) -> (Vec<Bound>, Bound) {
    let mut flow = vec![Bound::default(); if original.flow.is_empty() { 0 } else { inputs }];
    for (kernel, (before, after)) in original.flow.iter().zip(&compressed.flow).enumerate() {
        for (index, bound) in process_bounds(before, after).into_iter().enumerate() {
            let d = original.dimension(kernel, index, inputs);
            flow[d] = flow[d].worst(bound);
        }
    }
    let predictor = original.predictor.iter().zip(&compressed.predictor);
    let predictor = predictor.flat_map(|(before, after)| process_bounds(before, after));
    (flow, predictor.fold(Bound::default(), Bound::worst))
}

fn process_bounds(before: &Process, after: &Process) -> Vec<Bound> {
    let kernel = &before.kernel;
    let (old, new) = (kernel.points.nrows(), after.kernel.points.nrows());
    let mut points = kernel.points.clone().resize_vertically(old + new, 0.0);
    points.rows_mut(old, new).copy_from(&after.kernel.points);
    let eigen = SymmetricEigen::new(kernel.gram(&points));
    // δ covers the rounding of the eigenvalues.
    let shift = 1e-13 + 2.0 * (-eigen.eigenvalues.min()).max(0.0);
    let roots = eigen.eigenvalues.map(|value| (value.max(0.0) + shift).sqrt());
    let factor = eigen.eigenvectors * DMatrix::from_diagonal(&roots);
    let from_old = |matrix: &DMatrix<f64>| factor.rows(0, old).tr_mul(matrix);
    let from_new = |matrix: &DMatrix<f64>| factor.rows(old, new).tr_mul(matrix);
    // s′² differs from s² only if the variance was given up.
    let (prior, new_prior) = (kernel.variance, after.kernel.variance);
    let one = |(index, (before, output)): (usize, (&Output, &Output))| {
        let rounding = after.rounding.get(index);
        let mean = from_new(&column(&output.weights)) - from_old(&column(&before.weights));
        let (e, e_new) = (from_old(&before.directions), from_new(&output.directions));
        let delta = quadratic(&e, &before.coefficients) * prior - quadratic(&e_new, &output.coefficients) * new_prior;
        let values = delta.symmetric_eigenvalues();
        let device = match rounding {
            None => single_precision(kernel, &points, output, &e_new),
            Some(rounding) => integers(kernel, output, from_new(&column(&output.weights)).norm(), &e_new, rounding),
        };
        let shift = new_prior - prior;
        Bound {
            mean: up(mean.norm() + device.mean),
            narrower: up((-shift - values.min().min(0.0)).max(0.0) + new_prior * device.variance),
            wider: up((shift + values.max().max(0.0)).max(0.0) + new_prior * device.variance),
        }
    };
    before.outputs.iter().zip(&after.outputs).enumerate().map(one).collect()
}

fn column(vector: &DVector<f64>) -> DMatrix<f64> {
    DMatrix::from_columns(&[vector.column(0)])
}

fn quadratic(directions: &DMatrix<f64>, coefficients: &DVector<f64>) -> DMatrix<f64> {
    directions * DMatrix::from_diagonal(coefficients) * directions.transpose()
}

/// Rounded up to single precision.
fn up(value: f64) -> f32 {
    let single = value as f32;
    if f64::from(single) < value { single.next_up() } else { single }
}

/// What the device's arithmetic adds to one evaluation: absolute for the mean, as a share of s² for the variance.
struct Arithmetic {
    mean: f64,
    variance: f64,
}

/// First-order rounding analysis of `diffgp_infer::gp` with every rounding at its worst, and one per cent for the
/// higher orders.
fn single_precision(
    kernel: &KernelTensors,
    points: &DMatrix<f64>,
    output: &Output,
    whitened: &DMatrix<f64>,
) -> Arithmetic {
    let features = output.weights.len() as f64;
    let eta = feature_error(kernel, points);
    // One rounding per product and sum, the first of all sums being the longest.
    let sum = (features + 2.0) * U;
    let mean = output.weights.lp_norm(1) * (eta + sum);
    let mut variance = 0.0;
    let mut explained = 0.0;
    for (r, c) in output.coefficients.iter().enumerate() {
        let error = output.directions.column(r).lp_norm(1) * (eta + sum);
        let norm = whitened.column(r).norm();
        variance += c.abs() * (2.0 * norm + error) * error;
        explained += c.abs() * norm * norm;
    }
    let directions = output.coefficients.len() as f64;
    variance += (directions + 3.0) * U * explained + 3.0 * U * (1.0 + explained);
    Arithmetic { mean: 1.01 * mean, variance: 1.01 * variance }
}

/// The same of integers, from what the file says of each sum. A state that is off by δ in the kernel's metric moves b by
/// |δb| ≤ √(2 − 2ρ(δ)) ≤ √(2 ln 2) δ (RBF; Matérn ν = 3/2: δ, ν = 5/2: δ/√3), a mean by |w|_H |δb| and bᵀAb by 2 ‖A‖ |δb|.
fn integers(
    kernel: &KernelTensors,
    output: &Output,
    norm: f64,
    whitened: &DMatrix<f64>,
    rounding: &Rounding,
) -> Arithmetic {
    let steepest = match kernel.kind {
        KernelKind::Rbf => (2.0 * std::f64::consts::LN_2).sqrt(),
        KernelKind::Matern32 => 1.0,
        KernelKind::Matern52 => (1.0_f64 / 3.0).sqrt(),
    };
    let moved = steepest * rounding.input;
    let form = quadratic(whitened, &output.coefficients).symmetric_eigenvalues();
    let mut variance = 2.0 * form.amax() * moved + rounding.share;
    for (r, error) in rounding.directions.iter().enumerate() {
        variance += output.coefficients[r].abs() * (2.0 * whitened.column(r).norm() + error) * error;
    }
    // A single is made of the sum in the end.
    let (mean, variance) = (rounding.mean + norm * (moved + 2.0 * U), variance + 2.0 * U);
    Arithmetic { mean: 1.01 * mean, variance: 1.01 * variance }
}

/// The largest error of a correlation that the device computes, over all distances q from a point z:
///
/// ```text
/// |δ(q²)| ≤ 2 q u |x| + (D + 3) u q²,  |x| ≤ q + |z|        |δρ| ≤ |dρ/dq²| |δ(q²)| + ε ρ
/// ```
fn feature_error(kernel: &KernelTensors, points: &DMatrix<f64>) -> f64 {
    let farthest = points.row_iter().map(|row| row.norm()).fold(0.0, f64::max);
    let inputs = points.ncols() as f64;
    // The errors that `diffgp_core::kernel` states and tests; its larger one, where ρ < 2e-3, is smaller than this at q = 0.
    let epsilon = if kernel.kind == KernelKind::Rbf { 1.1e-7 } else { 1.1e-6 };
    let error = |q: f64| {
        let squared = 2.0 * q * U * (q + farthest) + (inputs + 3.0) * U * q * q;
        let (rho, slope) = match kernel.kind {
            KernelKind::Rbf => {
                let rho = (-q * q).exp2();
                (rho, std::f64::consts::LN_2 * rho)
            }
            KernelKind::Matern32 => ((1.0 + q) * (-q).exp(), 0.5 * (-q).exp()),
            KernelKind::Matern52 => ((1.0 + q + q * q / 3.0) * (-q).exp(), (1.0 + q) * (-q).exp() / 6.0),
        };
        slope * squared + epsilon * rho
    };
    (0..=4000).map(|i| error(f64::from(i) * 0.01)).fold(0.0, f64::max)
}
