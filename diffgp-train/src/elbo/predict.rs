//! The model at given rows, without a gradient: moments of g, and the states and fields on the way.

use rayon::prelude::*;

use super::ElboError;
use super::chunk::{Chunk, PathRows};
use super::prepared::{Prepared, chunks};
use super::real::Real;
use super::workspace::{Workspace, with};
use crate::params::Params;
use crate::threads::Threads;

/// g at the end of every path, without the likelihood's noise.
#[derive(Clone, Debug, PartialEq)]
pub struct LatentMoments<T> {
    /// The mean of g: `[S, B, O]`.
    pub mean: Vec<T>,
    /// The variance of g, at least the floor: `[S, B, O]`.
    pub variance: Vec<T>,
}

/// What happened on the way: states, and the fields that moved them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace<T> {
    /// x_k: `[S, K+1, B, D]`.
    pub path: Vec<T>,
    /// μ(x_k, t_k), or at the midpoint: `[S, K, B, D]`.
    pub drift: Vec<T>,
    /// Diagonal of Σ at the same place, before the floor: `[S, K, B, D]`; zero for the drift-only flow.
    pub diffusion_variance: Vec<T>,
    /// The predictor at the end of the path.
    pub latent: LatentMoments<T>,
}

/// Mean and variance of g at the rows `x` (`[B, D]`) at the end of S = `paths` paths.
///
/// `noise` as for [`value_and_gradient`](super::value_and_gradient).
pub fn predict_latent<T: Real>(
    params: &Params,
    x: &[T],
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
) -> Result<LatentMoments<T>, ElboError> {
    let parts = each_chunk(params, x, paths, noise, threads, |prepared, chunk, work| latent(prepared, chunk, work))?;
    let mut all = LatentMoments { mean: Vec::new(), variance: Vec::new() };
    for (_, part) in parts {
        all.mean.extend(part.mean);
        all.variance.extend(part.variance);
    }
    Ok(all)
}

/// As [`predict_latent`], with every state and field on the way: for plots, exports and tests.
pub fn trace<T: Real>(
    params: &Params,
    x: &[T],
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
) -> Result<Trace<T>, ElboError> {
    let keep = |prepared: &Prepared<T>, chunk: Chunk, work: &mut Workspace<T>| {
        let latent = latent(prepared, chunk, work);
        let mut states = work.states.clone();
        let (mut drift, mut diffusion) = (work.drift.clone(), work.diffusion.clone());
        if let Some(per_step) = prepared.model.flow.as_ref().map(|flow| flow.scheme.evaluations()) {
            let size = chunk.rows() * prepared.model.predictor.inputs;
            keep_every(&mut states, size, per_step, 0);
            keep_every(&mut drift, size, per_step, per_step - 1);
            keep_every(&mut diffusion, size, per_step, per_step - 1);
        }
        for (state, &centre) in states.chunks_exact_mut(chunk.rows()).zip(prepared.model.centre.iter().cycle()) {
            state.iter_mut().for_each(|x| *x += centre);
        }
        (states, drift, diffusion, latent)
    };
    let parts = each_chunk(params, x, paths, noise, threads, keep)?;
    let (d, steps) = (params.inputs(), params.flow.as_ref().map_or(0, |flow| flow.steps));
    let batch = x.len() / d;
    let zeros = |steps: usize| vec![T::zero(); paths * steps * batch * d];
    let mut all = Trace {
        path: zeros(steps + 1),
        drift: zeros(steps),
        diffusion_variance: zeros(steps),
        latent: LatentMoments { mean: Vec::new(), variance: Vec::new() },
    };
    for (chunk, (states, drift, diffusion, latent)) in parts {
        all.latent.mean.extend(latent.mean);
        all.latent.variance.extend(latent.variance);
        scatter(&states, chunk, batch, d, &mut all.path, steps + 1);
        scatter(&drift, chunk, batch, d, &mut all.drift, steps);
        scatter(&diffusion, chunk, batch, d, &mut all.diffusion_variance, steps);
    }
    Ok(all)
}

/// Carries every chunk to the end and keeps what `keep` takes from the worker's memory, in the order of the rows.
fn each_chunk<T: Real, R: Send>(
    params: &Params,
    x: &[T],
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
    keep: impl Fn(&Prepared<T>, Chunk, &mut Workspace<T>) -> R + Sync,
) -> Result<Vec<(Chunk, R)>, ElboError> {
    threads.pool.install(|| {
        let prepared = Prepared::<T>::new(params, x, paths, noise)?;
        let batch = x.len() / params.inputs();
        let rows = PathRows { x, noise, batch };
        let one = |chunk: Chunk| {
            with(threads, |work| {
                prepared.model.forward(rows, chunk, 1, work);
                (chunk, keep(&prepared, chunk, work))
            })
        };
        Ok(chunks(batch * paths).into_par_iter().map(one).collect())
    })
}

fn latent<T: Real>(prepared: &Prepared<T>, chunk: Chunk, work: &Workspace<T>) -> LatentMoments<T> {
    let floor = prepared.model.floor;
    let (c, outputs) = (chunk.rows(), prepared.model.predictor.outputs);
    let of_rows = |values: &[T]| (0..chunk.count).flat_map(|n| values.iter().skip(n).step_by(c).copied()).collect();
    let mut variance: Vec<T> = of_rows(&work.variance[..outputs * c]);
    variance.iter_mut().for_each(|v| *v = if *v < floor { floor } else { *v });
    LatentMoments { mean: of_rows(&work.mean[..outputs * c]), variance }
}

/// Of pieces of this size, the one at `place` of every `count`.
fn keep_every<T: Real>(values: &mut Vec<T>, size: usize, count: usize, place: usize) {
    let kept = values.chunks_exact(size).skip(place).step_by(count).flatten().copied().collect();
    *values = kept;
}

/// A chunk's `[K][D][c]` into `[S, K, B, D]`.
fn scatter<T: Real>(values: &[T], chunk: Chunk, batch: usize, d: usize, all: &mut [T], steps: usize) {
    let c = chunk.rows();
    for n in 0..chunk.count {
        let (path, row) = ((chunk.first + n) / batch, (chunk.first + n) % batch);
        for k in 0..steps {
            for i in 0..d {
                all[((path * steps + k) * batch + row) * d + i] = values[(k * d + i) * c + n];
            }
        }
    }
}
