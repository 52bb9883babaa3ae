//! A sparse Gaussian process evaluated at one input: features φ, mean w·φ, variance s²(1 − Σ_r c_r (v_r·φ)²).
//!
//! Preconditions: lengths as in the blob format; the parser has checked them. Cost: M·D multiply-adds and M
//! exponentials for φ, M for a mean, rank·M for a variance. Every sum has one order, fixed by the blocks of eight, so
//! the bits are the same on every target; multiplications and additions stay separate.
//! Functions are kept out of line: inlined into each of their callers they would double the code.
//! The variance is a difference of numbers near 1: its absolute error is about 1e-7·s² times the growth of v_r, which
//! the export measures and records.

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::blob::{Elements, KernelView, OutputView};
use diffgp_core::device::{in_lanes, keep_rolled, opaque};

use crate::integers::{Rows, Term};

/// ρ(Z, x) for all inducing points: `features[m] = ρ(t² Σᵢ (xᵢ − z_mᵢ)²)` in the units t of the stored points.
#[inline(never)]
pub(crate) fn correlations(kernel: &KernelView<'_>, x: &[f32], scaled: &mut [f32], features: &mut [f32]) {
    for ((scaled, x), scale) in scaled.iter_mut().zip(x).zip(kernel.scales) {
        keep_rolled();
        *scaled = x * scale;
    }
    match kernel.points.elements {
        Elements::F32(points) => squared_distances(points, scaled, features),
        // Without the feature such models were refused.
        _ if !cfg!(feature = "integers") => features.fill(f32::NAN),
        integers => integer_distances(Rows::new(integers), kernel.points.unit, scaled, features),
    }
    kernel.kind.correlate(features);
}

/// Σᵢ (xᵢ − z_mᵢ)² for points interleaved as `[⌈M/8⌉][D][8]`.
fn squared_distances(points: &[f32], x: &[f32], distances: &mut [f32]) {
    let Some((&first_x, rest_of_x)) = x.split_first() else { return };
    let (x_pairs, last_x) = rest_of_x.as_chunks::<2>();
    let (rows, _) = points.as_chunks::<BLOCK>();
    for (distances, block) in distances.chunks_mut(BLOCK).zip(rows.chunks_exact(x.len())) {
        keep_rolled();
        let Some((first, rest)) = block.split_first() else { return };
        let mut sums = first.map(|z| square(first_x - z));
        let mut add_row = |row: &[f32; BLOCK], x: f32| {
            for (sum, z) in sums.iter_mut().zip(row) {
                *sum += square(x - z);
            }
        };
        let (pairs, last) = rest.as_chunks::<2>();
        for ([a, b], &[xa, xb]) in pairs.iter().zip(x_pairs) {
            keep_rolled();
            add_row(a, xa);
            add_row(b, xb);
        }
        if let (Some(row), Some(&x)) = (last.first(), last_x.first()) {
            add_row(row, x);
        }
        match <&mut [f32; BLOCK]>::try_from(&mut *distances) {
            Ok(whole) => *whole = sums,
            // Rows beyond the last point were computed, and are left out here.
            Err(_) => {
                for (distance, sum) in distances.iter_mut().zip(opaque(sums)) {
                    keep_rolled();
                    *distance = sum;
                }
            }
        }
    }
}

#[inline(always)]
fn square(x: f32) -> f32 {
    x * x
}

/// The same for integers, times the square of their unit.
fn integer_distances(mut points: Rows<'_>, unit: f32, x: &[f32], distances: &mut [f32]) {
    let unit = unit * unit;
    for distances in distances.chunks_mut(BLOCK) {
        keep_rolled();
        let sums = points.block_sums(x, Term::Square);
        for (distance, sum) in distances.iter_mut().zip(&sums) {
            keep_rolled();
            *distance = sum * unit;
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

/// w·φ: for singles in eight partial sums, and a ninth for what does not fill a block; for integers in one.
#[inline(never)]
pub(crate) fn mean(output: &OutputView<'_>, features: &[f32]) -> f32 {
    let sum = match output.weights.elements {
        Elements::F32(weights) => return dot(weights, features),
        _ if !cfg!(feature = "integers") => return f32::NAN,
        Elements::I16(weights) => integer_dot(weights, features),
        Elements::I8(weights) => integer_dot(weights, features),
    };
    output.weights.unit * sum
}

fn dot(weights: &[f32], features: &[f32]) -> f32 {
    let (weights, last_weights) = weights.as_chunks::<BLOCK>();
    let (blocks, last_features) = features.as_chunks::<BLOCK>();
    let mut sums = [0.0; BLOCK];
    for (weights, block) in weights.iter().zip(blocks) {
        keep_rolled();
        for ((sum, w), feature) in sums.iter_mut().zip(weights).zip(block) {
            *sum += w * feature;
        }
    }
    let mut last = 0.0;
    for (w, feature) in opaque(last_weights).iter().zip(opaque(last_features)) {
        keep_rolled();
        last += w * feature;
    }
    let [a, b, c, d, e, f, g, h] = in_lanes(sums);
    (((a + b) + (c + d)) + ((e + f) + (g + h))) + last
}

fn integer_dot<I: Copy + Into<f32>>(weights: &[I], features: &[f32]) -> f32 {
    let mut sum = 0.0;
    for (&w, feature) in weights.iter().zip(features) {
        keep_rolled();
        sum += w.into() * feature;
    }
    sum
}

/// max(s²(1 − Σ_r c_r (v_r·φ)²), floor) with s² = `prior`; not finite if the sum overflows.
#[inline(never)]
pub(crate) fn variance(prior: f32, output: &OutputView<'_>, features: &[f32], floor: f32) -> f32 {
    let (coefficients, _) = output.coefficients.as_chunks::<BLOCK>();
    let explained = match output.directions {
        Elements::F32(directions) => explained_variance(directions, coefficients, features),
        _ if !cfg!(feature = "integers") => f32::NAN,
        integers => integer_explained(Rows::new(integers), coefficients, features),
    };
    let variance = prior * (1.0 - explained);
    // Not `max`, which would make a NaN, or 1 − ∞, the smallest of all error bars.
    if variance < floor && variance.is_finite() { floor } else { variance }
}

/// Σ_r c_r (v_r·φ)² for directions interleaved as `[⌈rank/8⌉][M][8]`.
fn explained_variance(directions: &[f32], coefficients: &[[f32; BLOCK]], features: &[f32]) -> f32 {
    if features.is_empty() {
        return 0.0;
    }
    let (rows, _) = directions.as_chunks::<BLOCK>();
    let (feature_fours, last_features) = features.as_chunks::<4>();
    let mut explained = 0.0;
    for (block, coefficients) in rows.chunks_exact(features.len()).zip(coefficients) {
        keep_rolled();
        let mut projections = [0.0; BLOCK];
        let mut add_row = |row: &[f32; BLOCK], feature: f32| {
            for (projection, v) in projections.iter_mut().zip(row) {
                *projection += v * feature;
            }
        };
        // Four rows at a time: two would cost a tenth more instructions, and left to itself the compiler adds three more
        // copies for what four do not divide.
        let (fours, last) = block.as_chunks::<4>();
        for ([a, b, c, d], &[fa, fb, fc, fd]) in fours.iter().zip(feature_fours) {
            keep_rolled();
            add_row(a, fa);
            add_row(b, fb);
            add_row(c, fc);
            add_row(d, fd);
        }
        for (row, &feature) in opaque(last).iter().zip(opaque(last_features)) {
            keep_rolled();
            add_row(row, feature);
        }
        for (projection, c) in in_lanes(projections).iter().zip(coefficients) {
            explained += c * (projection * projection);
        }
    }
    explained
}

/// The same for integers; their units are in the coefficients.
fn integer_explained(mut directions: Rows<'_>, coefficients: &[[f32; BLOCK]], features: &[f32]) -> f32 {
    let mut explained = 0.0;
    for coefficients in coefficients {
        keep_rolled();
        let projections = directions.block_sums(features, Term::Product);
        for (projection, c) in projections.iter().zip(coefficients) {
            keep_rolled();
            explained += c * (projection * projection);
        }
    }
    explained
}
