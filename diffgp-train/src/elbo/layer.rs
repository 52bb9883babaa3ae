//! A whitened sparse Gaussian process with one or several outputs, on a chunk of rows: forward and backward.
//!
//! Kernel p correlates a row x with the inducing points, a = R⁻¹ ρ(Z,x); output o on top of it has
//!
//! ```text
//! mean = s aᵀm        var = s² (1 + aᵀ W a)        W = L Lᵀ − I
//! ```
//!
//! The flow is such a layer with D outputs, used once per step; the predictor is one with O. Either has one kernel
//! (shared) or one per output. For a spatio-temporal field m and W differ from step to step (see `temporal`) and the
//! rest is the same: every step has a `Field`.
//!
//! Cost per row, in products with an M × M matrix: forward ½ per kernel (R⁻¹ is triangular) and 1 per output (A W);
//! backward ½ per kernel (dA R⁻¹) and ½ per output (G = Aᵀ diag(g) A is symmetric). A W is kept from the forward pass:
//! it is also the gradient of the quadratic form. The gradient of R needs no product over rows at all, because
//! Σ ā aᵀ = Σ (2 g W a + s μ̄ m) aᵀ = 2 W G + m bᵀ with G and b already summed.
//!
//! Matrices over rows are column-major with the rows of the chunk contiguous, so that elementwise loops run over rows
//! and no sum runs across a vector.

mod build;
mod rowwise;
mod sums;

use std::ops::Range;

use diffgp_core::kernel::KernelKind;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use self::rowwise::{add_twice_weighted, amplitude_bar, differences_backward, means, moments, scale, weigh};
pub(super) use self::sums::{Sums, Totals};
use super::correlation::{chain_to_distance, correlate};
use super::real::Real;

/// What the batch work needs of a Gaussian process, rounded to `T`.
pub(super) struct Layer<T> {
    /// D.
    pub(super) inputs: usize,
    /// M, the spatial inducing points.
    pub(super) inducing: usize,
    /// How many outputs there are in all.
    pub(super) outputs: usize,
    kernels: Vec<LayerKernel<T>>,
    /// One for all steps, or one per step.
    fields: Vec<Field<T>>,
    /// Column blocks in which triangular and symmetric products are made.
    blocks: Vec<Range<usize>>,
}

struct LayerKernel<T> {
    kind: KernelKind,
    /// s².
    variance: T,
    /// s.
    deviation: T,
    /// 1/ℓ: `[D]`.
    inverse_scales: Vec<T>,
    /// (Z − centre)/ℓ: `[M][D]`.
    inducing: Vec<T>,
    /// R⁻¹: `[M, M]`, column-major, lower triangular.
    inverse: Vec<T>,
}

struct Field<T> {
    /// W of every output, side by side: `[M, O·M]`, column-major.
    weights: Vec<T>,
    /// m of every output: `[O][M]`.
    means: Vec<T>,
}

/// Where a layer is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Points<'a, T> {
    /// k, which selects the field.
    pub(super) step: usize,
    /// x − centre: `[D][c]`.
    pub(super) x: &'a [T],
    /// c.
    pub(super) rows: usize,
    /// Whether variances are wanted; the drift-only flow has no use for them.
    pub(super) variance: bool,
}

/// What the forward pass gives, and the backward pass needs.
pub(super) struct Activations<'a, T> {
    /// A of every kernel: `[P][M][c]`.
    pub(super) features: &'a mut [T],
    /// A W of every output: `[O][M][c]`.
    pub(super) products: &'a mut [T],
    /// Mean and variance of every output, the variance before its floor.
    pub(super) moments: OutputMoments<'a, T>,
}

/// Mean and variance of every output, or the bound's derivatives by them: `[O][c]` each.
pub(super) struct OutputMoments<'a, T> {
    pub(super) mean: &'a mut [T],
    pub(super) variance: &'a mut [T],
}

/// Buffers that carry nothing from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    /// (x − centre)/ℓ: `[D][c]`.
    scaled: Vec<T>,
    /// ρ or ∂/∂a: `[M][c]`.
    features: Vec<T>,
    /// ∂/∂ρ, then ∂/∂r², of every kernel: `[P][M][c]`.
    distances: Vec<T>,
    /// diag(g) A of one block of columns, every output of a kernel: `[O/P][block][c]`.
    weighted: Vec<T>,
    /// x − centre and 1: `[D+1][c]`.
    extended: Vec<T>,
}

impl<T: Real> Layer<T> {
    /// P.
    pub(super) fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// Outputs on each kernel: O/P.
    fn fan_out(&self) -> usize {
        self.outputs / self.kernels.len()
    }

    fn field(&self, step: usize) -> &Field<T> {
        &self.fields[step.min(self.fields.len() - 1)]
    }

    /// Mean and variance of every output at the points.
    pub(super) fn forward(&self, at: Points<'_, T>, out: &mut Activations<'_, T>, scratch: &mut Scratch<T>) {
        let Points { step, x, rows, variance } = at;
        let (m, fan_out, field) = (self.inducing, self.fan_out(), self.field(step));
        for (p, kernel) in self.kernels.iter().enumerate() {
            scratch.scaled.resize(self.inputs * rows, T::zero());
            scratch.features.resize(m * rows, T::zero());
            scale(x, &kernel.inverse_scales, &mut scratch.scaled, rows);
            let rho = &mut scratch.features[..m * rows];
            correlate(kernel.kind, &scratch.scaled[..self.inputs * rows], &kernel.inducing, rho, rows);

            // A = ρ R⁻ᵀ  [c, M]: column j needs the columns up to j only.
            let features = &mut out.features[p * m * rows..(p + 1) * m * rows];
            let inverse = columns(&kernel.inverse, m);
            for block in &self.blocks {
                matmul(
                    columns_mut(&mut features[block.start * rows..block.end * rows], rows),
                    Accum::Replace,
                    columns(&rho[..block.end * rows], rows),
                    inverse.submatrix(block.start, 0, block.len(), block.end).transpose(),
                    T::one(),
                    Par::Seq,
                );
            }

            let outputs = p * fan_out..(p + 1) * fan_out;
            let products = &mut out.products[outputs.start * m * rows..outputs.end * m * rows];
            if variance {
                // A W  [c, O/P·M]
                matmul(
                    columns_mut(products, rows),
                    Accum::Replace,
                    columns(features, rows),
                    columns(&field.weights[outputs.start * m * m..outputs.end * m * m], m),
                    T::one(),
                    Par::Seq,
                );
            }
            for (i, o) in outputs.enumerate() {
                let mean = &mut out.moments.mean[o * rows..(o + 1) * rows];
                let var = &mut out.moments.variance[o * rows..(o + 1) * rows];
                let weights = &field.means[o * m..(o + 1) * m];
                if variance {
                    let product = &products[i * m * rows..(i + 1) * m * rows];
                    moments(kernel, features, product, weights, mean, var);
                } else {
                    means(kernel, features, weights, mean);
                    var.fill(T::zero());
                }
            }
        }
    }

    /// Adds ∂/∂x to `x_bar`, and what the gradient of the parameters needs to `sums`.
    ///
    /// `kept` is what the forward pass gave at the same points; `bars` are the derivatives by its moments, and are
    /// overwritten.
    pub(super) fn backward(
        &self,
        at: Points<'_, T>,
        kept: &Activations<'_, T>,
        bars: &mut OutputMoments<'_, T>,
        x_bar: &mut [T],
        sums: &mut Sums<T>,
        scratch: &mut Scratch<T>,
    ) {
        let Points { step, x, rows, variance } = at;
        let (m, d, fan_out, field) = (self.inducing, self.inputs, self.fan_out(), self.field(step));
        scratch.scaled.resize(d * rows, T::zero());
        scratch.features.resize(m * rows, T::zero());
        scratch.distances.resize(self.kernels.len() * m * rows, T::zero());
        for (p, kernel) in self.kernels.iter().enumerate() {
            let features = &kept.features[p * m * rows..(p + 1) * m * rows];
            let outputs = p * fan_out..(p + 1) * fan_out;
            let features_bar = &mut scratch.features[..m * rows];
            for o in outputs.clone() {
                let own = o * rows..(o + 1) * rows;
                let (mean_bar, variance_bar) = (&mut bars.mean[own.clone()], &mut bars.variance[own.clone()]);
                // s² appears in the mean as s and in the variance as s²: both parts are known from the moments.
                sums.amplitudes[o] += amplitude_bar(kernel, &kept.moments.mean[own.clone()], mean_bar, 0.5)
                    + amplitude_bar(kernel, &kept.moments.variance[own], variance_bar, 1.0);
                // From here on: s μ̄ and g = s² v̄.
                mean_bar.iter_mut().for_each(|bar| *bar *= kernel.deviation);
                variance_bar.iter_mut().for_each(|bar| *bar *= kernel.variance);
            }

            // Ā = Σ_o s μ̄ mᵀ + 2 g (A W)  [c, M]
            let span = outputs.start * rows..outputs.end * rows;
            matmul(
                columns_mut(features_bar, rows),
                Accum::Replace,
                columns(&bars.mean[span.clone()], rows),
                columns(&field.means[outputs.start * m..outputs.end * m], m).transpose(),
                T::one(),
                Par::Seq,
            );
            if variance {
                let products = &kept.products[outputs.start * m * rows..outputs.end * m * rows];
                add_twice_weighted(products, &bars.variance[span.clone()], features_bar, rows);
            }

            if variance {
                // G = Aᵀ diag(g) A  [M, M] per output: block column by block column, from the diagonal down.
                for (index, block) in self.blocks.iter().enumerate() {
                    let weighted = &mut scratch.weighted;
                    weighted.resize(fan_out * block.len() * rows, T::zero());
                    let part = &features[block.start * rows..block.end * rows];
                    weigh(part, &bars.variance[span.clone()], weighted, rows);
                    matmul(
                        columns_mut(sums.quadratic_mut(self, step, p, index), m - block.start),
                        Accum::Add,
                        columns(&features[block.start * rows..], rows).transpose(),
                        columns(weighted, rows),
                        T::one(),
                        Par::Seq,
                    );
                }
            }
            // b = Aᵀ (s μ̄)  [M] per output
            matmul(
                columns_mut(sums.linear_mut(self, step, p), m),
                Accum::Add,
                columns(features, rows).transpose(),
                columns(&bars.mean[span], rows),
                T::one(),
                Par::Seq,
            );

            // ρ̄ = Ā R⁻¹  [c, M]: column j needs the columns from j on only.
            let distances = &mut scratch.distances[p * m * rows..(p + 1) * m * rows];
            let inverse = columns(&kernel.inverse, m);
            for block in &self.blocks {
                matmul(
                    columns_mut(&mut distances[block.start * rows..block.end * rows], rows),
                    Accum::Replace,
                    columns(&features_bar[block.start * rows..], rows),
                    inverse.submatrix(block.start, block.start, m - block.start, block.len()),
                    T::one(),
                    Par::Seq,
                );
            }
            // E = ∂/∂r² = ρ̄ dρ/dr²
            scale(x, &kernel.inverse_scales, &mut scratch.scaled, rows);
            let scaled = &scratch.scaled[..d * rows];
            chain_to_distance(kernel.kind, scaled, &kernel.inducing, distances, rows);
            differences_backward(kernel, scaled, distances, x_bar, &mut sums.squares[p * d..(p + 1) * d], rows);
        }
        self.points_backward(x, rows, sums, scratch);
    }

    /// From E = ∂/∂r² of all kernels to the sums Eᵀ[x, 1] of which Z̄ is made.
    fn points_backward(&self, x: &[T], rows: usize, sums: &mut Sums<T>, scratch: &mut Scratch<T>) {
        let stacked = self.kernels.len() * self.inducing;
        scratch.extended.resize((self.inputs + 1) * rows, T::one());
        let (points, ones) = scratch.extended.split_at_mut(self.inputs * rows);
        points.copy_from_slice(x);
        ones.fill(T::one());
        matmul(
            columns_mut(sums.distances_mut(self), stacked),
            Accum::Add,
            columns(&scratch.distances[..stacked * rows], rows).transpose(),
            columns(&scratch.extended, rows),
            T::one(),
            Par::Seq,
        );
    }
}

/// A column-major view with `rows` rows.
fn columns<T>(values: &[T], rows: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(values, rows, values.len() / rows)
}

/// A column-major view with `rows` rows.
fn columns_mut<T>(values: &mut [T], rows: usize) -> MatMut<'_, T> {
    let count = values.len() / rows;
    MatMut::from_column_major_slice_mut(values, rows, count)
}
