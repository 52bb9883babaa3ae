//! A Gaussian process in fewer or coarser inducing points, ready to be cut and rounded.
//!
//! In the new points Z′, with R′R′ᵀ = ρ(Z′,Z′) + jI and a′ = R′⁻¹ρ(Z′,x), a function w·ρ(Z,x) becomes m′·a′ with
//! m′ = R′⁻¹ρ(Z′,Z) w, its projection, corrected by least squares at the states that the model visits. The directions
//! of the variance are such functions too, so that 1 − variance/s² = a′ᵀA a′ with a symmetric A. With
//! Σ = E[a′a′ᵀ] + λI = F Fᵀ over those states, FᵀAF = UΛUᵀ gives directions e_r = F⁻ᵀu_r in the order in which they
//! matter there: leaving out the last of them changes the mean variance by s² times the sum of their Λ. Those with
//! positive Λ can only widen a variance, anywhere.

pub(super) mod fixed;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

use super::CompressError;
use super::tensors::{KernelTensors, Process};
use crate::export::Bits;
use crate::export::numbers::{Numbers, interleaved};
use crate::export::writer::{StoredKernel, StoredOutput};

/// λ: how much states that were never visited count. Small, or space is spent on them; not zero, or anything goes there.
const ELSEWHERE: f64 = 1e-5;

/// A process in new points.
pub(super) struct Basis {
    kernel: KernelTensors,
    /// K4 in units of `unit`, a power of two: `[M′, D]`.
    stored_points: DMatrix<f64>,
    unit: f64,
    point_bits: Bits,
    /// The box in which distances fit into 32 bits, in units of the points, for integer arithmetic.
    grid: Option<(Vec<f64>, Vec<f64>)>,
    /// R′, lower triangular.
    factor: DMatrix<f64>,
    /// L = R′F, the metric of rounding.
    metric: DMatrix<f64>,
    pub(super) outputs: Vec<BasisOutput>,
}

/// An output in whitened coordinates.
pub(super) struct BasisOutput {
    /// m′.
    mean: DVector<f64>,
    /// Λ_r, by falling size.
    pub(super) values: Vec<f64>,
    /// e_r in columns.
    directions: DMatrix<f64>,
}

/// How the numbers of an output are stored, and how many directions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) weights: Bits,
    pub(super) directions: Bits,
    pub(super) rank: usize,
}

impl Basis {
    /// The process in its `count` most telling points, rounded to `point_bits` or, for integer arithmetic, to the grid that
    /// suits it, judged at `states` (one in a row).
    pub(super) fn new(
        process: &Process,
        states: &DMatrix<f64>,
        count: usize,
        point_bits: Bits,
        fixed: bool,
    ) -> Result<Self, CompressError> {
        let order = telling_points(process, states, count);
        let chosen = process.kernel.points.select_rows(&order);
        let (stored_points, unit, grid) = if fixed {
            let grid = fixed::grid(&process.kernel, &chosen, states)?;
            (grid.points, grid.unit, Some((grid.low, grid.high)))
        } else {
            let (points, unit) = round_points(&chosen, point_bits);
            (points, unit, None)
        };
        let basis =
            Self::on_points(process, states, (stored_points, unit), point_bits).ok_or(CompressError::Singular)?;
        Ok(Self { grid, ..basis })
    }

    /// On these points, in units. `None` if a matrix cannot be factorised, which jitter and λ prevent for finite tensors.
    fn on_points(
        process: &Process,
        states: &DMatrix<f64>,
        (stored_points, unit): (DMatrix<f64>, f64),
        point_bits: Bits,
    ) -> Option<Self> {
        let kernel = &process.kernel;
        let original = &kernel.points;
        let features = kernel.features(original, states);
        let weight = 1.0 / states.nrows().max(1) as f64;
        let points = &stored_points * unit;

        let factor = kernel.whitening(&points)?;
        // a′ at the states [M′, N], Σ and F.
        let whitened = factor.solve_lower_triangular(&kernel.features(&points, states))?;
        let mut sigma = &whitened * whitened.transpose() * weight;
        for i in 0..sigma.nrows() {
            sigma[(i, i)] += ELSEWHERE;
        }
        let sigma = sigma.cholesky()?;
        let project = factor.solve_lower_triangular(&kernel.between(&points, original))?;
        let transfer = Transfer { project, features, whitened, sigma, weight };
        let spread = transfer.sigma.l();
        let outputs = process
            .outputs
            .iter()
            .map(|output| {
                let mean = transfer.apply(&DMatrix::from_columns(&[output.weights.column(0)]));
                // E C Eᵀ, seen from the states: UΛUᵀ = FᵀE C EᵀF.
                let seen = spread.transpose() * transfer.apply(&output.directions);
                let explained = &seen * DMatrix::from_diagonal(&output.coefficients) * seen.transpose();
                let eigen = SymmetricEigen::new(explained);
                let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
                order.sort_by(|&i, &j| eigen.eigenvalues[j].abs().total_cmp(&eigen.eigenvalues[i].abs()));
                Some(BasisOutput {
                    mean: mean.column(0).into_owned(),
                    values: order.iter().map(|&r| eigen.eigenvalues[r]).collect(),
                    directions: spread.tr_solve_lower_triangular(&eigen.eigenvectors.select_columns(&order))?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let metric = &factor * &spread;
        Some(Self { kernel: kernel.clone(), stored_points, unit, point_bits, grid: None, factor, metric, outputs })
    }

    /// The kernel.
    pub(super) fn stored_kernel(&self) -> StoredKernel {
        let (rows, columns) = self.stored_points.shape();
        let points = match self.point_bits {
            Bits::ThirtyTwo => Numbers::Singles(interleaved(rows, columns, |m, i| self.stored_points[(m, i)] as f32)),
            bits => Numbers::Integers {
                bits,
                values: interleaved(rows, columns, |m, i| self.stored_points[(m, i)] as i32),
                unit: self.unit as f32,
            },
        };
        StoredKernel {
            kind: self.kernel.kind,
            variance: self.kernel.variance as f32,
            // Exact, because the unit is a power of two.
            scales: self.kernel.scales.iter().map(|scale| (scale / self.unit) as f32).collect(),
            points,
        }
    }

    /// O1 to O4.
    pub(super) fn stored_output(&self, index: usize, storage: Storage) -> Option<StoredOutput> {
        let output = &self.outputs[index];
        let features = self.stored_points.nrows();
        let rank = storage.rank.min(output.values.len());
        // w = R′⁻ᵀm′ and v_r = R′⁻ᵀe_r
        let weights = self.factor.tr_solve_lower_triangular(&output.mean)?;
        let directions = self.factor.tr_solve_lower_triangular(&output.directions.columns(0, rank).into_owned())?;
        let weights = match storage.weights.largest() {
            None => Numbers::Singles(weights.iter().map(|&w| w as f32).collect()),
            Some(largest) => {
                let (values, unit) = super::rounding::round(&weights, &self.metric, largest);
                Numbers::Integers { bits: storage.weights, values, unit: (unit as f32).max(f32::MIN_POSITIVE) }
            }
        };
        let mut coefficients: Vec<f32> = output.values[..rank].iter().map(|&value| value as f32).collect();
        let directions = match storage.directions.largest() {
            None => Numbers::Singles(interleaved(rank, features, |r, m| directions[(m, r)] as f32)),
            Some(largest) => {
                let mut rows = Vec::with_capacity(rank);
                for (r, coefficient) in coefficients.iter_mut().enumerate() {
                    let direction = directions.column(r).into_owned();
                    let (integers, unit) = super::rounding::round(&direction, &self.metric, largest);
                    // The direction's unit goes into its coefficient.
                    *coefficient = (output.values[r] * unit * unit) as f32;
                    rows.push(integers);
                }
                let values = interleaved(rank, features, |r, m| rows[r][m]);
                Numbers::Integers { bits: storage.directions, values, unit: 1.0 }
            }
        };
        Some(StoredOutput { weights, directions, coefficients })
    }
}

/// From functions w·ρ(Z,x), one in a column, to m′·a′(x).
struct Transfer {
    /// R′⁻¹ρ(Z′,Z).
    project: DMatrix<f64>,
    /// ρ(Z,X).
    features: DMatrix<f64>,
    /// R′⁻¹ρ(Z′,X).
    whitened: DMatrix<f64>,
    sigma: Cholesky<f64, Dyn>,
    weight: f64,
}

impl Transfer {
    fn apply(&self, functions: &DMatrix<f64>) -> DMatrix<f64> {
        let projected = &self.project * functions;
        // What is missing at the states: [N, functions].
        let missing = self.features.tr_mul(functions) - self.whitened.tr_mul(&projected);
        projected + self.sigma.solve(&(&self.whitened * missing * self.weight))
    }
}

/// The points that together tell most at the states, the most telling first.
fn telling_points(process: &Process, states: &DMatrix<f64>, count: usize) -> Vec<usize> {
    let (kernel, original) = (&process.kernel, &process.kernel.points);
    let features = kernel.features(original, states);
    let weight = 1.0 / states.nrows().max(1) as f64;
    let energy = &features * features.transpose() * weight + kernel.gram(original) * ELSEWHERE;
    pivots(energy, count)
}

/// The first pivots of a pivoted Cholesky factorisation: the features that together tell most.
fn pivots(mut matrix: DMatrix<f64>, count: usize) -> Vec<usize> {
    let size = matrix.nrows();
    let mut left: Vec<usize> = (0..size).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count.min(size) {
        let position = (0..left.len())
            .max_by(|&a, &b| matrix[(left[a], left[a])].total_cmp(&matrix[(left[b], left[b])]))
            .expect("points are left");
        let pivot = left.swap_remove(position);
        chosen.push(pivot);
        let diagonal = matrix[(pivot, pivot)];
        if diagonal <= 0.0 {
            continue;
        }
        // The Schur complement of what is left.
        for &i in &left {
            let share = matrix[(i, pivot)] / diagonal;
            for &j in &left {
                matrix[(i, j)] -= share * matrix[(pivot, j)];
            }
        }
    }
    chosen
}

/// Points as they are stored, and their unit: a power of two, so that the length-scales stay what they are.
fn round_points(points: &DMatrix<f64>, bits: Bits) -> (DMatrix<f64>, f64) {
    let Some(largest) = bits.largest() else { return (points.clone(), 1.0) };
    let peak = points.amax();
    if peak == 0.0 {
        return (points.clone(), 1.0);
    }
    let unit = (peak / largest).log2().ceil().exp2();
    (points.map(|value| (value / unit).round().clamp(-largest, largest)), unit)
}
