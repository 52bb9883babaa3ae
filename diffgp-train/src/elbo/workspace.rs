//! The memory of one worker.
//!
//! For a chunk of c rows and E evaluations of the field (one or two per step, as the scheme has it): the E+1 states, mean
//! and variance of every evaluation, and its features A and products A W, `E·(P + D)·M·c` numbers. When those exceed
//! [`BUDGET`] only one evaluation's are kept, and the backward pass computes each again from its state: one more forward
//! pass, memory independent of E.

use std::sync::PoisonError;

use super::correlation::LANES;
use super::layer::{Layer, Scratch};
use super::real::Real;
use crate::threads::Threads;

/// Rows that one worker carries through all steps together: enough for the matrix kernels, few enough that a batch of
/// a few hundred rows feeds several workers.
pub(super) const CHUNK: usize = 64;

/// Bytes of features and products that one worker keeps.
pub(super) const BUDGET: usize = 64 << 20;

/// Buffers for one chunk, kept from chunk to chunk.
#[derive(Debug, Default)]
pub struct Workspace<T> {
    /// x − centre where the field is evaluated, then x_K: `[E+1][D][c]`.
    pub(super) states: Vec<T>,
    /// μ and Σ of every evaluation: `[E][D][c]` each.
    pub(super) drift: Vec<T>,
    pub(super) diffusion: Vec<T>,
    /// A and A W of the flow: `[slots][P][M][c]`, `[slots][D][M][c]`.
    pub(super) flow_features: Vec<T>,
    pub(super) flow_products: Vec<T>,
    /// A and A W of the predictor: `[P_g][M_g][c]`, `[O][M_g][c]`.
    pub(super) features: Vec<T>,
    pub(super) products: Vec<T>,
    /// Mean and variance of g: `[O][c]` each.
    pub(super) mean: Vec<T>,
    pub(super) variance: Vec<T>,
    /// Derivatives by a step's (or the predictor's) mean and variance: `[max(D, O)][c]` each.
    pub(super) mean_bar: Vec<T>,
    pub(super) variance_bar: Vec<T>,
    /// And by the state: `[D][c]`.
    pub(super) state_bar: Vec<T>,
    /// That of the step's end while its midpoint is dealt with: `[D][c]`.
    pub(super) waiting_bar: Vec<T>,
    pub(super) scratch: Scratch<T>,
}

impl<T: Real> Workspace<T> {
    /// Gives every buffer the length that `rows` rows, E evaluations and `slots` kept ones need.
    pub(super) fn fit(&mut self, flow: Option<(&Layer<T>, usize)>, slots: usize, predictor: &Layer<T>, rows: usize) {
        let (d, zero) = (predictor.inputs, T::zero());
        let evaluations = flow.map_or(0, |(_, evaluations)| evaluations);
        self.states.resize((evaluations + 1) * d * rows, zero);
        self.drift.resize(evaluations * d * rows, zero);
        self.diffusion.resize(evaluations * d * rows, zero);
        if let Some((layer, _)) = flow {
            self.flow_features.resize(slots * layer.kernels() * layer.inducing * rows, zero);
            self.flow_products.resize(slots * layer.outputs * layer.inducing * rows, zero);
        }
        self.features.resize(predictor.kernels() * predictor.inducing * rows, zero);
        self.products.resize(predictor.outputs * predictor.inducing * rows, zero);
        for buffer in [&mut self.mean, &mut self.variance] {
            buffer.resize(predictor.outputs * rows, zero);
        }
        for buffer in [&mut self.mean_bar, &mut self.variance_bar] {
            buffer.resize(d.max(predictor.outputs) * rows, zero);
        }
        self.state_bar.resize(d * rows, zero);
        self.waiting_bar.resize(d * rows, zero);
    }
}

/// How many evaluations' features and products a worker keeps: all, or one.
pub(super) fn slots<T: Real>(layer: &Layer<T>, evaluations: usize) -> usize {
    let one = (layer.kernels() + layer.outputs) * layer.inducing * CHUNK * size_of::<T>();
    if evaluations * one <= BUDGET { evaluations } else { 1 }
}

/// Rows of a chunk, padded for the vector loops.
pub(super) fn padded(rows: usize) -> usize {
    rows.next_multiple_of(LANES)
}

/// Lends a workspace to `work`, taken from those that earlier evaluations left.
pub(super) fn with<T: Real, R>(threads: &Threads, work: impl FnOnce(&mut Workspace<T>) -> R) -> R {
    // A worker that panicked left the list itself intact.
    let list = || T::workspaces(threads).lock().unwrap_or_else(PoisonError::into_inner);
    let free = list().pop();
    let mut workspace = free.unwrap_or_default();
    let result = work(&mut workspace);
    list().push(workspace);
    result
}
