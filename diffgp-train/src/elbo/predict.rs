//! The model at given rows, without a gradient: moments of g, and the states and fields on the way.
//!
//! A chunk's numbers follow each other in one array, which is also what processes exchange.

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

impl<T: Copy> LatentMoments<T> {
    /// Adds means, then variances.
    fn extend(&mut self, moments: &[T]) {
        let (mean, variance) = moments.split_at(moments.len() / 2);
        self.mean.extend_from_slice(mean);
        self.variance.extend_from_slice(variance);
    }
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
    let outputs = params.predictor.outputs();
    let rows = RowsToFollow { x, paths, noise };
    let parts = each_chunk(params, rows, threads, |chunk| 2 * chunk.count * outputs, latent)?;
    let mut all = LatentMoments { mean: Vec::new(), variance: Vec::new() };
    for (_, part) in parts.chunks() {
        all.extend(part);
    }
    Ok(all)
}

/// Where paths end, `[S, B, D]`; the rows themselves without a flow.
pub(crate) fn path_ends<T: Real>(
    params: &Params,
    x: &[T],
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
) -> Result<Vec<T>, ElboError> {
    let d = params.inputs();
    let keep = |prepared: &Prepared<T>, chunk: Chunk, work: &Workspace<T>| {
        let c = chunk.rows();
        let states = &work.states[work.states.len() - d * c..];
        let of_row = |n: usize| (0..d).map(move |i| states[i * c + n] + prepared.model.centre[i]);
        (0..chunk.count).flat_map(of_row).collect()
    };
    let rows = RowsToFollow { x, paths, noise };
    Ok(each_chunk(params, rows, threads, |chunk| chunk.count * d, keep)?.numbers)
}

/// As [`predict_latent`], with every state and field on the way: for plots, exports and tests.
pub fn trace<T: Real>(
    params: &Params,
    x: &[T],
    paths: usize,
    noise: Option<&[T]>,
    threads: &Threads,
) -> Result<Trace<T>, ElboError> {
    let (d, outputs) = (params.inputs(), params.predictor.outputs());
    let steps = params.flow.as_ref().map_or(0, |flow| flow.steps);
    let keep = |prepared: &Prepared<T>, chunk: Chunk, work: &Workspace<T>| {
        let mut states = work.states.clone();
        let (mut drift, mut diffusion) = (work.drift.clone(), work.diffusion.clone());
        if let Some(per_step) = prepared.model.flow.as_ref().map(|flow| flow.scheme.evaluations()) {
            let size = chunk.rows() * d;
            keep_every(&mut states, size, per_step, 0);
            keep_every(&mut drift, size, per_step, per_step - 1);
            keep_every(&mut diffusion, size, per_step, per_step - 1);
        }
        for (state, &centre) in states.chunks_exact_mut(chunk.rows()).zip(prepared.model.centre.iter().cycle()) {
            state.iter_mut().for_each(|x| *x += centre);
        }
        [states, drift, diffusion, latent(prepared, chunk, work)].concat()
    };
    let length = |chunk: Chunk| (3 * steps + 1) * chunk.rows() * d + 2 * chunk.count * outputs;
    let parts = each_chunk(params, RowsToFollow { x, paths, noise }, threads, length, keep)?;
    let batch = x.len() / d;
    let zeros = |steps: usize| vec![T::zero(); paths * steps * batch * d];
    let mut all = Trace {
        path: zeros(steps + 1),
        drift: zeros(steps),
        diffusion_variance: zeros(steps),
        latent: LatentMoments { mean: Vec::new(), variance: Vec::new() },
    };
    for (chunk, part) in parts.chunks() {
        let size = chunk.rows() * d;
        let (states, part) = part.split_at((steps + 1) * size);
        let (drift, part) = part.split_at(steps * size);
        let (diffusion, latent) = part.split_at(steps * size);
        all.latent.extend(latent);
        scatter(states, chunk, batch, d, &mut all.path, steps + 1);
        scatter(drift, chunk, batch, d, &mut all.drift, steps);
        scatter(diffusion, chunk, batch, d, &mut all.diffusion_variance, steps);
    }
    Ok(all)
}

/// Rows, and how they are followed.
#[derive(Clone, Copy)]
struct RowsToFollow<'a, T> {
    /// `[B, D]`.
    x: &'a [T],
    /// S.
    paths: usize,
    noise: Option<&'a [T]>,
}

/// The numbers that were kept of every chunk, in the order of the rows.
struct Kept<T, L> {
    rows: usize,
    length: L,
    numbers: Vec<T>,
}

impl<T, L: Fn(Chunk) -> usize> Kept<T, L> {
    fn chunks(&self) -> impl Iterator<Item = (Chunk, &[T])> {
        let mut rest = self.numbers.as_slice();
        chunks(self.rows).into_iter().map(move |chunk| {
            let (part, behind) = rest.split_at((self.length)(chunk));
            rest = behind;
            (chunk, part)
        })
    }
}

/// Carries every chunk to the end and keeps what `keep` takes from the worker's memory, `length` numbers. Every process
/// follows its share of the chunks.
fn each_chunk<T: Real, L: Fn(Chunk) -> usize>(
    params: &Params,
    follow: RowsToFollow<'_, T>,
    threads: &Threads,
    length: L,
    keep: impl Fn(&Prepared<T>, Chunk, &Workspace<T>) -> Vec<T> + Sync,
) -> Result<Kept<T, L>, ElboError> {
    let RowsToFollow { x, paths, noise } = follow;
    let prepared = threads.pool.install(|| Prepared::<T>::new(params, x, paths, noise))?;
    let batch = x.len() / params.inputs();
    let rows = PathRows { x, noise, batch };
    let one = |&chunk: &Chunk| {
        with(threads, |work| {
            prepared.model.forward(rows, chunk, 1, work);
            keep(&prepared, chunk, work)
        })
    };
    let all = chunks(batch * paths);
    let own = &all[threads.exchange().share(all.len())];
    let own: Vec<Vec<T>> = threads.pool.install(|| own.par_iter().map(one).collect());
    let numbers = T::gather(threads.exchange(), own.concat(), all.iter().map(|&chunk| length(chunk)).sum())?;
    Ok(Kept { rows: batch * paths, length, numbers })
}

/// Means, then variances: `[count, O]` each.
fn latent<T: Real>(prepared: &Prepared<T>, chunk: Chunk, work: &Workspace<T>) -> Vec<T> {
    let floor = prepared.model.floor;
    let (c, outputs) = (chunk.rows(), prepared.model.predictor.outputs);
    let of_rows = |values: &[T]| (0..chunk.count).flat_map(|n| values.iter().skip(n).step_by(c).copied()).collect();
    let mut moments: Vec<T> = of_rows(&work.mean[..outputs * c]);
    let variance: Vec<T> = of_rows(&work.variance[..outputs * c]);
    moments.extend(variance.into_iter().map(|v| if v < floor { floor } else { v }));
    moments
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
