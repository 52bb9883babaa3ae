//! A sparse Gaussian process evaluated at one input: features φ, mean w·φ, variance s²(1 − Σ_r c_r (v_r·φ)²).
//!
//! Preconditions: lengths as in the blob format; the parser has checked them. Cost: M·D multiply-adds and M
//! exponentials for φ, M for a mean, rank·M for a variance. Every sum has one order, fixed by the blocks of eight, so
//! the bits are the same on every target; multiplications and additions stay separate.
//! Functions are kept out of line: inlined into each of their callers they would double the code.
//! The variance is a difference of numbers near 1: its absolute error is about 1e-7·s² times the growth of v_r, which
//! the export measures and records.

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::blob::{KernelView, OutputView};
use diffgp_core::rolled::keep_rolled;

/// ρ(Z, x) for all inducing points: `features[m] = ρ(Σᵢ (xᵢ − z_mᵢ)²)` in the units of the scaled points.
#[inline(never)]
pub(crate) fn correlations(kernel: &KernelView<'_>, x: &[f32], scaled: &mut [f32], features: &mut [f32]) {
    for ((scaled, x), scale) in scaled.iter_mut().zip(x).zip(kernel.scales) {
        keep_rolled();
        *scaled = x * scale;
    }
    squared_distances(kernel.points, scaled, features);
    kernel.kind.correlate(features);
}

/// Σᵢ (xᵢ − z_mᵢ)² for points interleaved as `[⌈M/8⌉][D][8]`.
fn squared_distances(points: &[f32], x: &[f32], distances: &mut [f32]) {
    if x.is_empty() {
        return;
    }
    let (rows, _) = points.as_chunks::<BLOCK>();
    let mut blocks = rows.chunks_exact(x.len());
    let (whole, rest) = distances.as_chunks_mut::<BLOCK>();
    for (distances, block) in whole.iter_mut().zip(&mut blocks) {
        let mut sums = [0.0; BLOCK];
        for (row, &x) in block.iter().zip(x) {
            for (sum, z) in sums.iter_mut().zip(row) {
                let difference = x - z;
                *sum += difference * difference;
            }
        }
        *distances = sums;
    }
    // The last points do not fill a block: one after the other, each in the same order of summation.
    let block = blocks.next().unwrap_or(&[]);
    for (lane, distance) in rest.iter_mut().enumerate() {
        *distance = 0.0;
        for (row, x) in block.iter().zip(x) {
            keep_rolled();
            let difference = x - row.get(lane).unwrap_or(x);
            *distance += difference * difference;
        }
    }
}

/// φ = ρ ⊗ a_t in place: `features[s·M_t + t] = ρ_s a_t`, from the back so that nothing is overwritten before use.
pub(crate) fn expand_in_time(features: &mut [f32], time_features: &[f32]) {
    let times = time_features.len();
    if times == 0 {
        return;
    }
    for s in (0..features.len() / times).rev() {
        let Some(&rho) = features.get(s) else { return };
        let Some(row) = features.get_mut(s * times..(s + 1) * times) else { return };
        for (feature, a) in row.iter_mut().zip(time_features) {
            keep_rolled();
            *feature = rho * a;
        }
    }
}

/// w·φ in eight partial sums, and a ninth for what does not fill a block.
#[inline(never)]
pub(crate) fn mean(output: &OutputView<'_>, features: &[f32]) -> f32 {
    let (weights, last_weights) = output.weights.as_chunks::<BLOCK>();
    let (blocks, last_features) = features.as_chunks::<BLOCK>();
    let mut sums = [0.0; BLOCK];
    for (weights, block) in weights.iter().zip(blocks) {
        keep_rolled();
        for ((sum, w), feature) in sums.iter_mut().zip(weights).zip(block) {
            *sum += w * feature;
        }
    }
    let mut last = 0.0;
    for (w, feature) in last_weights.iter().zip(last_features) {
        keep_rolled();
        last += w * feature;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    (((a + b) + (c + d)) + ((e + f) + (g + h))) + last
}

/// max(s²(1 − Σ_r c_r (v_r·φ)²), floor) with s² = `prior`; NaN if the sum overflows to ∞ − ∞.
#[inline(never)]
pub(crate) fn variance(prior: f32, output: &OutputView<'_>, features: &[f32], floor: f32) -> f32 {
    let explained = explained_variance(output, features);
    let variance = prior * (1.0 - explained);
    // Not `max`, which would make a NaN the smallest of all error bars.
    if variance < floor { floor } else { variance }
}

/// Σ_r c_r (v_r·φ)² for directions interleaved as `[⌈rank/8⌉][M][8]`.
fn explained_variance(output: &OutputView<'_>, features: &[f32]) -> f32 {
    if features.is_empty() {
        return 0.0;
    }
    let (rows, _) = output.directions.as_chunks::<BLOCK>();
    let (coefficients, _) = output.coefficients.as_chunks::<BLOCK>();
    let mut explained = 0.0;
    for (block, coefficients) in rows.chunks_exact(features.len()).zip(coefficients) {
        let mut projections = [0.0; BLOCK];
        for (row, &feature) in block.iter().zip(features) {
            for (projection, v) in projections.iter_mut().zip(row) {
                *projection += v * feature;
            }
        }
        for (projection, c) in projections.iter().zip(coefficients) {
            explained += c * (projection * projection);
        }
    }
    explained
}
