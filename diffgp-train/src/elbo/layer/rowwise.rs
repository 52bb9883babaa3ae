//! Elementwise loops over the rows of a chunk, between the matrix products.
//!
//! Rows are contiguous and come in blocks of [`LANES`]; sums over features or outputs stay in registers for one block.

use super::LayerKernel;
use crate::elbo::correlation::{LANES, vectorised};
use crate::elbo::real::Real;

/// x/ℓ  [D][c].
pub(super) fn scale<T: Real>(x: &[T], inverse_scales: &[T], scaled: &mut [T], rows: usize) {
    for ((scaled, x), &inverse) in scaled.chunks_exact_mut(rows).zip(x.chunks_exact(rows)).zip(inverse_scales) {
        scaled.iter_mut().zip(x).for_each(|(scaled, &x)| *scaled = x * inverse);
    }
}

/// mean = s aᵀm and var = s² (1 + aᵀ(Wa)), row by row.
pub(super) fn moments<T: Real>(
    kernel: &LayerKernel<T>,
    features: &[T],
    product: &[T],
    weights: &[T],
    mean: &mut [T],
    var: &mut [T],
) {
    let blocks = mean.len() / LANES;
    let (features, product) = (features.as_chunks::<LANES>().0, product.as_chunks::<LANES>().0);
    let out = mean.as_chunks_mut::<LANES>().0.iter_mut().zip(var.as_chunks_mut::<LANES>().0);
    vectorised(
        #[inline(always)]
        || {
            for (block, (mean, var)) in out.enumerate() {
                let (mut linear, mut quadratic) = ([T::zero(); LANES], [T::zero(); LANES]);
                for (j, &weight) in weights.iter().enumerate() {
                    let (a, c) = (&features[j * blocks + block], &product[j * blocks + block]);
                    for lane in 0..LANES {
                        linear[lane] = a[lane].fused(weight, linear[lane]);
                        quadratic[lane] = a[lane].fused(c[lane], quadratic[lane]);
                    }
                }
                for lane in 0..LANES {
                    mean[lane] = kernel.deviation * linear[lane];
                    var[lane] = kernel.variance * (T::one() + quadratic[lane]);
                }
            }
        },
    );
}

/// mean = s aᵀm.
pub(super) fn means<T: Real>(kernel: &LayerKernel<T>, features: &[T], weights: &[T], mean: &mut [T]) {
    mean.fill(T::zero());
    for (a, &weight) in features.chunks_exact(mean.len()).zip(weights) {
        mean.iter_mut().zip(a).for_each(|(mean, &a)| *mean += a * weight);
    }
    mean.iter_mut().for_each(|mean| *mean *= kernel.deviation);
}

/// Σ value·bar·power/s², the share of one moment in ∂/∂s².
pub(super) fn amplitude_bar<T: Real>(kernel: &LayerKernel<T>, values: &[T], bars: &[T], power: f64) -> f64 {
    let sum: f64 = values.iter().zip(bars).map(|(value, bar)| value.to_f64() * bar.to_f64()).sum();
    sum * power / kernel.variance.to_f64()
}

/// Ā += Σ_o 2 g_o (A W_o).
pub(super) fn add_twice_weighted<T: Real>(products: &[T], weights: &[T], features_bar: &mut [T], rows: usize) {
    let (blocks, stride) = (rows / LANES, features_bar.len() / LANES);
    let (products, weights) = (products.as_chunks::<LANES>().0, weights.as_chunks::<LANES>().0);
    let two = T::one() + T::one();
    vectorised(
        #[inline(always)]
        || {
            for (index, bar) in features_bar.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                let mut sum = [T::zero(); LANES];
                for output in 0..weights.len() / blocks {
                    let (product, g) = (&products[output * stride + index], &weights[output * blocks + index % blocks]);
                    for lane in 0..LANES {
                        sum[lane] = g[lane].fused(product[lane], sum[lane]);
                    }
                }
                for lane in 0..LANES {
                    bar[lane] = two.fused(sum[lane], bar[lane]);
                }
            }
        },
    );
}

/// diag(g_o) A for every output o of a kernel, side by side.
pub(super) fn weigh<T: Real>(features: &[T], weights: &[T], weighted: &mut [T], rows: usize) {
    vectorised(
        #[inline(always)]
        || {
            for (weighted, g) in weighted.chunks_exact_mut(features.len()).zip(weights.chunks_exact(rows)) {
                for (weighted, a) in weighted.chunks_exact_mut(rows).zip(features.chunks_exact(rows)) {
                    for ((weighted, &a), &g) in weighted.iter_mut().zip(a).zip(g) {
                        *weighted = a * g;
                    }
                }
            }
        },
    );
}

/// From E = ∂/∂r² of one kernel to x̄ += 2 Σ_j E d/ℓ and `squares` += Σ_nj E d², with d = (x − z_j)/ℓ input by input.
///
/// Differences are taken first: from sums of x² and x, the squares of small ones would cancel.
pub(super) fn differences_backward<T: Real>(
    kernel: &LayerKernel<T>,
    scaled: &[T],
    distances: &[T],
    x_bar: &mut [T],
    squares: &mut [f64],
    rows: usize,
) {
    // Every addition waits for the one before: where the rows allow, twice as many sums go on at once.
    if rows.is_multiple_of(2 * LANES) {
        blocks_backward::<T, { 2 * LANES }>(kernel, scaled, distances, x_bar, squares, rows);
    } else {
        blocks_backward::<T, LANES>(kernel, scaled, distances, x_bar, squares, rows);
    }
}

#[inline(always)]
fn blocks_backward<T: Real, const WIDTH: usize>(
    kernel: &LayerKernel<T>,
    scaled: &[T],
    distances: &[T],
    x_bar: &mut [T],
    squares: &mut [f64],
    rows: usize,
) {
    let (blocks, inputs) = (rows / WIDTH, squares.len());
    let distances = distances.as_chunks::<WIDTH>().0;
    vectorised(
        #[inline(always)]
        || {
            let columns = scaled.chunks_exact(rows).zip(x_bar.chunks_exact_mut(rows));
            for (i, (x, bar)) in columns.enumerate() {
                let (scale, mut second) = (kernel.inverse_scales[i], [T::zero(); WIDTH]);
                let pairs = x.as_chunks::<WIDTH>().0.iter().zip(bar.as_chunks_mut::<WIDTH>().0);
                for (block, (x, bar)) in pairs.enumerate() {
                    let mut first = [T::zero(); WIDTH];
                    let points = kernel.inducing[i..].iter().step_by(inputs);
                    for (&z, e) in points.zip(distances[block..].iter().step_by(blocks)) {
                        for lane in 0..WIDTH {
                            let difference = x[lane] - z;
                            let weighted = e[lane] * difference;
                            first[lane] += weighted;
                            second[lane] = weighted.fused(difference, second[lane]);
                        }
                    }
                    for lane in 0..WIDTH {
                        bar[lane] = (scale + scale).fused(first[lane], bar[lane]);
                    }
                }
                squares[i] += second.iter().map(|square| square.to_f64()).sum::<f64>();
            }
        },
    );
}
