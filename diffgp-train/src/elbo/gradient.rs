//! From sums over rows to the gradient of a Gaussian process' parameters, in float64.
//!
//! ```text
//! m̄ = b − m                       S̄ = G           L̄ = tril(2 G L) − L + diag(1/L_ii)
//! H = Σ 2 W G + m bᵀ               C̄ = chol backward of H, C = ρ(Z,Z) + (jitter/s²) I
//! s̄² = Σ (½ μ̄ μ + v̄ v)/s² − (jitter/s⁴) tr C̄
//! ```
//!
//! Z̄ and ℓ̄ collect ∂/∂r² from ρ(Z,x) (as Eᵀ[x, 1] and Σ E ((x−z)/ℓ)²) and from ρ(Z,Z). The KL terms are included, with
//! weight −1.
//! Cost: a few M³ per output and kernel.

use faer::{Mat, MatRef};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::correlation::{chain_to_distance, vectorised};
use super::dense::{lower_triangle, product, view};
use super::layer::Totals;
use super::temporal::TimeFeatures;
use super::whitened::{Scaled, Whitened, covariance};
use crate::gradient::{KernelGradient, PosteriorGradient, ProcessGradient};
use crate::params::{Kernel, Posterior, Process};

/// ∂elbo/∂(inducing points, kernels, posteriors), and āₜ of every step.
pub(super) struct ProcessBars {
    pub(super) gradient: ProcessGradient,
    /// `[K][M_t]`, empty without inducing times.
    pub(super) times: Vec<Vec<f64>>,
}

/// One output's part.
struct OutputPart {
    posterior: PosteriorGradient,
    /// Σ ā aᵀ.
    outer: Mat<f64>,
    times: Vec<Vec<f64>>,
}

/// One kernel's part.
struct KernelPart {
    kernel: KernelGradient,
    inducing: DMatrix<f64>,
}

impl ProcessBars {
    /// Assembles the gradient of a process from its totals.
    pub(super) fn new(
        Process { kernels, posteriors, .. }: &Process,
        jitter: f64,
        whitened: &Whitened,
        times: Option<&TimeFeatures>,
        totals: &Totals,
    ) -> Self {
        let inducing = &whitened.inducing;
        let outputs: Vec<OutputPart> = posteriors
            .par_iter()
            .enumerate()
            .map(|(o, posterior)| output_gradient(o, posterior, whitened, times, totals))
            .collect();
        let fan_out = posteriors.len() / kernels.len();
        let parts: Vec<KernelPart> = kernels
            .par_iter()
            .enumerate()
            .map(|(p, kernel)| {
                let own = p * fan_out..(p + 1) * fan_out;
                let mut outer = Mat::zeros(inducing.nrows(), inducing.nrows());
                outputs[own.clone()].iter().for_each(|output| outer += &output.outer);
                let amplitude = totals.amplitudes[own].iter().sum();
                kernel_gradient(p, kernel, jitter, whitened, &outer, amplitude, totals)
            })
            .collect();
        let steps = times.map_or(0, TimeFeatures::steps);
        let sum_times = |k: usize| {
            let mut sum = outputs[0].times[k].clone();
            for output in &outputs[1..] {
                sum.iter_mut().zip(&output.times[k]).for_each(|(sum, share)| *sum += share);
            }
            sum
        };
        let mut inducing_bar = DMatrix::zeros(inducing.nrows(), inducing.ncols());
        parts.iter().for_each(|part| inducing_bar += &part.inducing);
        Self {
            times: (0..steps).map(sum_times).collect(),
            gradient: ProcessGradient {
                inducing: inducing_bar,
                kernels: parts.into_iter().map(|part| part.kernel).collect(),
                posteriors: outputs.into_iter().map(|output| output.posterior).collect(),
            },
        }
    }
}

fn output_gradient(
    o: usize,
    posterior: &Posterior,
    whitened: &Whitened,
    times: Option<&TimeFeatures>,
    totals: &Totals,
) -> OutputPart {
    let m = posterior.mean.len();
    let features = whitened.fields[0].means[o].len();
    let mut outer = Mat::zeros(features, features);
    for (f, field) in whitened.fields.iter().enumerate() {
        // H += 2 W G + m bᵀ
        let weighted = product(field.weights[o].as_ref(), totals.quadratic[f][o].as_ref());
        let (mean, linear) = (&field.means[o], &totals.linear[f][o]);
        for j in 0..features {
            for i in 0..features {
                outer[(i, j)] += 2.0 * weighted[(i, j)] + mean[i] * linear[j];
            }
        }
    }
    let mut mean_bar = vec![0.0; m];
    let (covariance_bar, time_bars) = match times {
        None => {
            mean_bar.copy_from_slice(&totals.linear[0][o]);
            (totals.quadratic[0][o].clone(), Vec::new())
        }
        Some(times) => {
            let covariance = covariance(posterior);
            let mut covariance_bar = Mat::zeros(m, m);
            let expand = |k: usize| {
                let sums = (&totals.quadratic[k][o], totals.linear[k][o].as_slice());
                let bars = (mean_bar.as_mut_slice(), &mut covariance_bar);
                times.expand(k, (posterior.mean.as_slice(), &covariance), sums, bars)
            };
            let time_bars = (0..times.steps()).map(expand).collect();
            (covariance_bar, time_bars)
        }
    };
    // L̄ = 2 S̄ L − ∂KL/∂L, its lower triangle
    let mut factor = lower_triangle(&product(covariance_bar.as_ref(), view(&posterior.factor)));
    factor *= 2.0;
    factor -= &posterior.factor;
    for i in 0..m {
        factor[(i, i)] += 1.0 / posterior.factor[(i, i)];
    }
    let mean = DVector::from_vec(mean_bar) - &posterior.mean;
    OutputPart { posterior: PosteriorGradient { mean, factor }, outer, times: time_bars }
}

fn kernel_gradient(
    p: usize,
    kernel: &Kernel,
    jitter: f64,
    whitened: &Whitened,
    outer: &Mat<f64>,
    amplitude: f64,
    totals: &Totals,
) -> KernelPart {
    let inducing = &whitened.inducing;
    let (m, d) = inducing.shape();
    let factor = &whitened.factors[p];
    let correlations_bar = factor.backward(outer);
    let trace: f64 = (0..m).map(|i| correlations_bar[(i, i)]).sum();
    // The jitter is absolute: relative to s² it is jitter/s².
    let variance = amplitude - trace * jitter * factor.raise / kernel.variance.powi(2);

    let (mut points, mut scales) = inducing_gradient(kernel, inducing, &correlations_bar);
    // z̄_j = −2 Σ_n E_nj (x_n − z_j)/ℓ², from Eᵀ[x, 1], and ℓ̄ = −2 Σ_nj E_nj ((x_n − z_j)/ℓ)²/ℓ
    let sums: MatRef<'_, f64> = totals.distances.subrows(p * m, m);
    for (k, length_scale) in kernel.length_scales.iter().enumerate() {
        for j in 0..m {
            points[(j, k)] += 2.0 * (inducing[(j, k)] * sums[(j, d)] - sums[(j, k)]) / length_scale.powi(2);
        }
        scales[k] -= 2.0 * totals.squares[p * d + k] / length_scale;
    }
    KernelPart { kernel: KernelGradient { variance, length_scales: scales }, inducing: points }
}

/// ∂/∂Z and ∂/∂ℓ through ρ(Z,Z), from its derivatives C̄ (symmetric).
fn inducing_gradient(kernel: &Kernel, inducing: &DMatrix<f64>, bar: &Mat<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let (m, d) = inducing.shape();
    let scaled = Scaled::new(kernel, inducing);
    let rows = scaled.rows;
    // E = C̄ dρ/dr²  [M][c]
    let mut distances = vec![0.0; m * rows];
    for (j, column) in distances.chunks_exact_mut(rows).enumerate() {
        column.iter_mut().zip(bar.col(j).iter()).for_each(|(entry, &bar)| *entry = bar);
    }
    chain_to_distance(kernel.kind, &scaled.by_input, &scaled.by_point, &mut distances, rows);

    let (mut points, mut scales) = (DMatrix::zeros(m, d), vec![0.0; d]);
    let (mut first, mut second) = (vec![0.0; rows], vec![0.0; rows]);
    for (i, length_scale) in kernel.length_scales.iter().enumerate() {
        first.fill(0.0);
        second.fill(0.0);
        let z = &scaled.by_input[i * rows..(i + 1) * rows];
        vectorised(
            #[inline(always)]
            || {
                for (j, e) in distances.chunks_exact(rows).enumerate() {
                    let other = z[j];
                    let sums = first.iter_mut().zip(second.iter_mut());
                    for (((first, second), &z), &e) in sums.zip(z).zip(e) {
                        let weighted = e * (z - other);
                        *first += weighted;
                        *second += weighted * (z - other);
                    }
                }
            },
        );
        // r² depends on a point as first and as second argument: 2·2 Σ_j E (z − z_j)/ℓ²; on ℓ through every pair.
        for j in 0..m {
            points[(j, i)] = 4.0 * first[j] / length_scale;
        }
        scales[i] = -2.0 * second.iter().sum::<f64>() / length_scale;
    }
    (points, scales)
}
