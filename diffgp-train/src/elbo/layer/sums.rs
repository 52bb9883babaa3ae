//! Sums over rows from which the gradient of a layer's parameters is made.
//!
//! Per field and kernel G = Σ g a aᵀ (lower block triangle) and b = Σ s μ̄ a for every output, then Eᵀ[x, 1] for all
//! kernels. They are kept in `T` while a lane of chunks is worked on and added up in float64, lane after lane
//! ([`lanes`](crate::elbo::lanes)): as one row of numbers, amplitudes and squares first.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::Layer;
use crate::elbo::lanes::Part;
use crate::elbo::real::Real;

/// The sums of one lane.
#[derive(Clone, Debug)]
pub(in crate::elbo) struct Sums<T> {
    /// G, b and Eᵀ[x, 1], in the order of [`Layout`].
    values: Vec<T>,
    /// ∂/∂s² through the moments, per output.
    pub(in crate::elbo) amplitudes: Vec<f64>,
    /// Σ E ((x − z)/ℓ)² over rows and inducing points, per kernel and input: `[P][D]`.
    pub(in crate::elbo) squares: Vec<f64>,
}

/// The sums of all lanes.
pub(in crate::elbo) struct Totals {
    /// G per field and output: `[F][O]` of symmetric `[M, M]`.
    pub(in crate::elbo) quadratic: Vec<Vec<Mat<f64>>>,
    /// b per field and output: `[F][O][M]`.
    pub(in crate::elbo) linear: Vec<Vec<Vec<f64>>>,
    /// Eᵀ[x, 1]: `[P·M, D+1]`.
    pub(in crate::elbo) distances: Mat<f64>,
    /// ∂/∂s² through the moments, per output.
    pub(in crate::elbo) amplitudes: Vec<f64>,
    /// Σ E ((x − z)/ℓ)² over rows and inducing points, per kernel and input: `[P][D]`.
    pub(in crate::elbo) squares: Vec<f64>,
}

/// Numbers of entries, from which every offset follows.
struct Layout {
    quadratic: usize,
    linear: usize,
    distances: usize,
}

impl<T: Real> Layer<T> {
    fn layout(&self) -> Layout {
        let m = self.inducing;
        let lower: usize = self.blocks.iter().map(|block| (m - block.start) * block.len()).sum();
        Layout {
            quadratic: self.fan_out() * lower,
            linear: self.fan_out() * m,
            distances: self.kernels.len() * m * (self.inputs + 1),
        }
    }

    /// How many numbers [`Sums`] holds.
    pub(in crate::elbo) fn sums_len(&self) -> usize {
        let layout = self.layout();
        self.fields.len() * self.kernels.len() * (layout.quadratic + layout.linear) + layout.distances
    }

    /// Where G of (field, kernel, block) lies; all outputs of the kernel side by side.
    fn quadratic_range(&self, field: usize, kernel: usize, block: usize) -> Range<usize> {
        let (m, layout) = (self.inducing, self.layout());
        let entries = |block: &Range<usize>| self.fan_out() * (m - block.start) * block.len();
        let before: usize = self.blocks[..block].iter().map(entries).sum();
        let start = (field * self.kernels.len() + kernel) * (layout.quadratic + layout.linear) + before;
        start..start + entries(&self.blocks[block])
    }

    /// Where b of (field, kernel) lies.
    fn linear_range(&self, field: usize, kernel: usize) -> Range<usize> {
        let layout = self.layout();
        let start = (field * self.kernels.len() + kernel) * (layout.quadratic + layout.linear) + layout.quadratic;
        start..start + layout.linear
    }

    /// How many numbers the total of all lanes holds.
    pub(in crate::elbo) fn total_len(&self) -> usize {
        self.outputs + self.kernels.len() * self.inputs + self.sums_len()
    }

    /// What the numbers of all lanes, added up, stand for.
    pub(in crate::elbo) fn total(&self, numbers: &[f64]) -> Totals {
        let (amplitudes, numbers) = numbers.split_at(self.outputs);
        let (squares, values) = numbers.split_at(self.kernels.len() * self.inputs);
        let fields = 0..self.fields.len();
        let stacked = self.kernels.len() * self.inducing;
        let distances = &values[values.len() - self.layout().distances..];
        Totals {
            quadratic: fields.clone().map(|f| self.symmetric_sums(f, values)).collect(),
            linear: fields.map(|f| self.linear_sums(f, values)).collect(),
            distances: Mat::from_fn(stacked, self.inputs + 1, |row, column| distances[column * stacked + row]),
            amplitudes: amplitudes.to_vec(),
            squares: squares.to_vec(),
        }
    }

    fn symmetric_sums(&self, field: usize, values: &[f64]) -> Vec<Mat<f64>> {
        let (m, fan_out) = (self.inducing, self.fan_out());
        let one = |o: usize| {
            let mut full = Mat::zeros(m, m);
            for (index, block) in self.blocks.iter().enumerate() {
                let height = m - block.start;
                let part = &values[self.quadratic_range(field, o / fan_out, index)];
                let part = &part[(o % fan_out) * height * block.len()..][..height * block.len()];
                for (j, column) in block.clone().zip(part.chunks_exact(height)) {
                    for i in j..m {
                        full[(i, j)] = column[i - block.start];
                        full[(j, i)] = column[i - block.start];
                    }
                }
            }
            full
        };
        (0..self.outputs).into_par_iter().map(one).collect()
    }

    fn linear_sums(&self, field: usize, values: &[f64]) -> Vec<Vec<f64>> {
        let (m, fan_out) = (self.inducing, self.fan_out());
        let one = |o: usize| values[self.linear_range(field, o / fan_out)][(o % fan_out) * m..][..m].to_vec();
        (0..self.outputs).map(one).collect()
    }
}

impl<T: Real> Sums<T> {
    /// Zero.
    pub(in crate::elbo) fn new(layer: &Layer<T>) -> Self {
        Self {
            values: vec![T::zero(); layer.sums_len()],
            amplitudes: vec![0.0; layer.outputs],
            squares: vec![0.0; layer.kernels.len() * layer.inputs],
        }
    }

    /// All numbers, in the order in which [`Layer::total`] takes them.
    pub(in crate::elbo) fn parts(&self) -> [Part<'_, T>; 3] {
        [Part::Double(&self.amplitudes), Part::Double(&self.squares), Part::Real(&self.values)]
    }

    /// G of the outputs of a kernel, one block of columns: `[M − start, O/P·block]`.
    pub(super) fn quadratic_mut(&mut self, layer: &Layer<T>, step: usize, kernel: usize, block: usize) -> &mut [T] {
        &mut self.values[layer.quadratic_range(step.min(layer.fields.len() - 1), kernel, block)]
    }

    /// b of the outputs of a kernel: `[M, O/P]`.
    pub(super) fn linear_mut(&mut self, layer: &Layer<T>, step: usize, kernel: usize) -> &mut [T] {
        &mut self.values[layer.linear_range(step.min(layer.fields.len() - 1), kernel)]
    }

    /// Eᵀ[x, 1]: `[P·M, D+1]`.
    pub(super) fn distances_mut(&mut self, layer: &Layer<T>) -> &mut [T] {
        let start = self.values.len() - layer.layout().distances;
        &mut self.values[start..]
    }
}
