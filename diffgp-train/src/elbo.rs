//! The evidence lower bound and its exact gradient.
//!
//! ```text
//! elbo = (N/B) Σᵢ (1/S) Σₛ E_q[log p(yᵢ | g(x_K^{i,s}))] − KL_g − KL_f
//! x_{k+1} = x_k + μ(x_k) dt + √(max(Σ(x_k), floor) dt) ε_k
//! ```
//!
//! The gradient is derived by hand (`docs/derivations.md`) with respect to the plain parameters, positive ones not
//! transformed. PathRows are evaluated in `T`; Cholesky factors, M × M algebra, KL terms and the gradients of parameters in
//! float64.
//!
//! The S·B rows are cut into chunks of 64; a worker carries a chunk through all steps and back on its own. Chunks form
//! a number of lanes that depends on the model and the batch only, each lane adds up its chunks in order, and lanes are
//! added in order: results are the same, bit for bit, for any number of threads.
//!
//! Nothing depends on where the origin of the inputs lies, only on differences of states and inducing points. Both are
//! taken relative to a centre among the inducing points, so that float32 keeps these differences for inputs far from zero.
//!
//! Cost: B·S·K·M²·(2D·½ + 2D·1 + 2P·½ + 2P·½) operations in matrix products, i.e. 1½ products with an M × M matrix per
//! row, step and dimension and one per kernel. Memory: `docs/cost.md`.

mod chunk;
pub(crate) mod correlation;
pub(crate) mod dense;
mod gradient;
pub mod kl;
mod lanes;
mod layer;
mod predict;
mod prepared;
mod real;
mod temporal;
#[cfg(test)]
mod tests;
mod whitened;
mod workspace;

use rayon::prelude::*;

pub(crate) use self::predict::path_ends;
pub use self::predict::{LatentMoments, Trace, predict_latent, trace};
pub use self::real::Real;
pub(crate) use self::workspace::Workspace;

use self::chunk::{Chunk, LaneSums, PathRows};
use self::gradient::ProcessBars;
use self::lanes::LaneTotals;
use self::prepared::Prepared;
use crate::exchange::ExchangeError;
use crate::gradient::{FlowGradient, Gradient};
use crate::params::Params;
use crate::threads::Threads;

/// PathRows of standardised data on which the bound is estimated.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Inputs, row-major: `[B, D]`.
    pub x: &'a [T],
    /// Targets, row-major: one standardised number per Gaussian output, `[B, O]`, or the class, `[B]`.
    pub y: &'a [T],
    /// N, the rows of the whole training set: the likelihood is weighted by N/B.
    pub total_rows: usize,
}

/// The bound on one batch and its gradient.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// (N/B) Σ E_q[log p(y|g)] − KL_g − KL_f.
    pub elbo: f64,
    /// (N/B) Σᵢ (1/S) Σₛ E_q[log p(yᵢ|g)].
    pub expected_log_likelihood: f64,
    /// KL_g, the sum over outputs.
    pub kl_predictor: f64,
    /// KL_f, the sum over dimensions.
    pub kl_flow: f64,
    /// ∂elbo/∂(every learned parameter).
    pub gradient: Gradient,
    /// The largest absolute jitter that a Cholesky factor needed, when the model's own was too small.
    pub jitter_raised: Option<f64>,
}

/// Why the bound could not be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElboError {
    /// A Cholesky factorisation failed even with a much larger jitter.
    #[error("the {matrix} is not positive definite, even with a jitter of {jitter:e}: are all parameters finite?")]
    NotPositiveDefinite {
        /// Which matrix.
        matrix: &'static str,
        /// The last jitter tried, relative to the kernel's variance.
        jitter: f64,
    },
    /// Two arrays that belong together have different sizes.
    #[error("{array} has {found} numbers where the model and the batch need {expected}")]
    Shape {
        /// Which array.
        array: &'static str,
        /// Its length.
        found: usize,
        /// The length that would fit.
        expected: usize,
    },
    /// The processes that evaluate it together have lost each other.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

/// The bound on a batch, estimated with S = `paths` sample paths, and its gradient.
///
/// `noise` holds standard normal numbers ε, `[S, K, B, D]` row-major; `None` evaluates the drift-only flow.
pub fn value_and_gradient<T: Real>(
    params: &Params,
    batch: &Batch<'_, T>,
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
) -> Result<Evaluation, ElboError> {
    let size = batch.x.len() / params.inputs().max(1);
    check_length("y", batch.y.len(), size * params.likelihood.targets())?;
    let weight = batch.total_rows as f64 / (size * paths) as f64;
    let prepared = threads.pool.install(|| Prepared::<T>::new(params, batch.x, paths, noise))?;
    let rows = PathRows { x: batch.x, noise, batch: size };
    let lanes = prepared.lanes(size * paths);
    let own = &lanes[threads.exchange().share(lanes.len())];
    let one = |chunks: &Vec<Chunk>| lane(&prepared, rows, batch.y, chunks, weight, threads);
    let sums: Vec<LaneSums<T>> = threads.pool.install(|| own.par_iter().map(one).collect());
    // Outside the pool: a worker that waits for another process would keep others waiting.
    let totals = LaneTotals::of(&prepared.model, &sums, threads)?;
    Ok(threads.pool.install(|| assemble(params, &prepared, &totals, weight)))
}

/// The chunks of one lane, one after the other.
fn lane<T: Real>(
    prepared: &Prepared<T>,
    rows: PathRows<'_, T>,
    y: &[T],
    chunks: &[Chunk],
    weight: f64,
    threads: &Threads,
) -> LaneSums<T> {
    let mut sums = LaneSums::new(&prepared.model);
    let slots = prepared.model.flow.as_ref().map_or(1, |flow| flow.slots);
    workspace::with(threads, |work| {
        for &chunk in chunks {
            prepared.model.forward(rows, chunk, slots, work);
            prepared.model.backward(rows, y, chunk, weight, work, &mut sums);
        }
    });
    sums
}

/// Turns the sums of all lanes into the gradient.
fn assemble<T: Real>(params: &Params, prepared: &Prepared<T>, totals: &LaneTotals, weight: f64) -> Evaluation {
    let flow = params.flow.as_ref().zip(prepared.flow.as_ref()).zip(totals.flow.as_ref());
    let flow = flow.map(|((flow, whitened), totals)| {
        let times = prepared.times.as_ref();
        let bars = ProcessBars::new(&flow.field, params.jitter, whitened, times, totals);
        FlowGradient {
            temporal: times.zip(flow.temporal.as_ref()).map(|(times, at)| times.backward(at, &bars.times)),
            field: bars.gradient,
        }
    });
    let predictor =
        ProcessBars::new(&params.predictor, params.jitter, &prepared.predictor, None, &totals.predictor).gradient;

    let expected_log_likelihood = weight * totals.log_density;
    let kl_predictor = params.predictor.posteriors.iter().map(kl::divergence).sum::<f64>();
    let kl_flow = params.flow.iter().flat_map(|flow| &flow.field.posteriors).map(kl::divergence).sum::<f64>();
    Evaluation {
        elbo: expected_log_likelihood - kl_predictor - kl_flow,
        expected_log_likelihood,
        kl_predictor,
        kl_flow,
        gradient: Gradient { flow, predictor, noise: totals.noise.iter().map(|sum| weight * sum).collect() },
        jitter_raised: prepared.jitter_raised,
    }
}

/// An error that names the array unless its length is the one expected.
fn check_length(array: &'static str, found: usize, expected: usize) -> Result<(), ElboError> {
    if found == expected { Ok(()) } else { Err(ElboError::Shape { array, found, expected }) }
}
