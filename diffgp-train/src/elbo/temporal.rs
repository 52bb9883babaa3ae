//! Spatio-temporal fields: k((x,t),(x',t')) = k(x,x') kₜ(t,t'), without Kronecker matrices.
//!
//! With aₜ = Rₜ⁻¹ ρₜ(Zₜ,t), the features at (x,t) are a_s(x) ⊗ aₜ. All rows of a step share t, so aₜ is folded into the
//! posterior once per step:
//!
//! ```text
//! (a_s ⊗ aₜ)ᵀ m = a_sᵀ (m̂ aₜ)                  m̂: m as [M_s, M_t]
//! (a_s ⊗ aₜ)ᵀ S (a_s ⊗ aₜ) = a_sᵀ Ŝ a_s          Ŝ[s,s'] = Σ_tt' aₜ[t] S[s·M_t+t, s'·M_t+t'] aₜ[t']
//! |a_s ⊗ aₜ|² = |a_s|² |aₜ|²
//! ```
//!
//! and the batch work of a step is that of a purely spatial field with mean m̂ aₜ and W = Ŝ − |aₜ|² I. Cost: M² per step
//! and output, forward and backward.

use diffgp_core::kernel::KernelKind;
use faer::Mat;

use super::ElboError;
use super::correlation::{correlation, slope};
use super::dense::Factor;
use crate::gradient::TemporalGradient;
use crate::params::{Flow, Temporal};

/// aₜ at the left end point of every step, and what their gradient needs.
pub(super) struct TimeFeatures {
    /// Rₜ.
    pub(super) factor: Factor,
    /// aₜ: `[K][M_t]`.
    features: Vec<Vec<f64>>,
    /// t_k = k dt.
    instants: Vec<f64>,
}

impl TimeFeatures {
    /// The features of every step of a spatio-temporal flow; `None` for a field that does not change with time.
    pub(super) fn new(flow: &Flow, jitter: f64) -> Result<Option<Self>, ElboError> {
        let Some(temporal) = &flow.temporal else { return Ok(None) };
        let m = temporal.times.len();
        let rho = |t: f64, z: f64| correlation(KernelKind::Rbf, ((t - z) / temporal.length_scale).powi(2));
        let correlations = Mat::from_fn(m, m, |i, j| rho(temporal.times[i], temporal.times[j]));
        let factor = Factor::new(&correlations, jitter, "K_ZZ of the inducing times")?;
        let instants: Vec<f64> = (0..flow.steps).map(|k| k as f64 * flow.step_size()).collect();
        let features = instants
            .iter()
            .map(|&t| {
                // aₜ = Rₜ⁻¹ ρₜ(Zₜ,t)  [M_t]
                (0..m)
                    .map(|i| (0..=i).map(|j| factor.inverse[(i, j)] * rho(t, temporal.times[j])).sum())
                    .collect::<Vec<f64>>()
            })
            .collect();
        Ok(Some(Self { factor, features, instants }))
    }

    /// K.
    pub(super) fn steps(&self) -> usize {
        self.features.len()
    }

    /// |aₜ|² at a step.
    pub(super) fn squared_norm(&self, step: usize) -> f64 {
        self.features[step].iter().map(|a| a * a).sum()
    }

    /// m̂ aₜ  [M_s].
    pub(super) fn contract_mean(&self, step: usize, mean: &[f64]) -> Vec<f64> {
        let a = &self.features[step];
        mean.chunks_exact(a.len()).map(|mean| mean.iter().zip(a).map(|(m, a)| m * a).sum()).collect()
    }

    /// Ŝ  [M_s, M_s].
    pub(super) fn contract(&self, step: usize, covariance: &Mat<f64>) -> Mat<f64> {
        let half = self.contract_columns(step, covariance);
        let a = &self.features[step];
        let mt = a.len();
        Mat::from_fn(half.ncols(), half.ncols(), |i, j| (0..mt).map(|t| a[t] * half[(i * mt + t, j)]).sum())
    }

    /// S (I ⊗ aₜ)  [M, M_s].
    fn contract_columns(&self, step: usize, covariance: &Mat<f64>) -> Mat<f64> {
        let a = &self.features[step];
        let mt = a.len();
        let mut out = Mat::zeros(covariance.nrows(), covariance.ncols() / mt);
        for j in 0..covariance.ncols() {
            for i in 0..covariance.nrows() {
                out[(i, j / mt)] += covariance[(i, j)] * a[j % mt];
            }
        }
        out
    }

    /// S̄ += Ŝ̄ ⊗ aₜaₜᵀ and m̄ += b ⊗ aₜ; returns the output's share of āₜ  [M_t].
    ///
    /// `quadratic` is Ŝ̄ (symmetric), `linear` is b, the derivative by m̂ aₜ.
    pub(super) fn expand(
        &self,
        step: usize,
        posterior: (&[f64], &Mat<f64>),
        sums: (&Mat<f64>, &[f64]),
        bars: (&mut [f64], &mut Mat<f64>),
    ) -> Vec<f64> {
        let ((mean, covariance), (quadratic, linear), (mean_bar, covariance_bar)) = (posterior, sums, bars);
        let a = &self.features[step];
        let (ms, mt) = (linear.len(), a.len());
        for s in 0..ms {
            for t in 0..mt {
                mean_bar[s * mt + t] += linear[s] * a[t];
            }
        }
        for j in 0..ms * mt {
            for i in 0..ms * mt {
                covariance_bar[(i, j)] += quadratic[(i / mt, j / mt)] * a[i % mt] * a[j % mt];
            }
        }
        // āₜ[t] = Σ_s b[s] m̂[s,t] + 2 Σ_ss' Ŝ̄[s,s'] (S (I ⊗ aₜ))[s·M_t+t, s'] − 2 aₜ[t] tr Ŝ̄
        let half = self.contract_columns(step, covariance);
        let trace: f64 = (0..ms).map(|s| quadratic[(s, s)]).sum();
        (0..mt)
            .map(|t| {
                let drift: f64 = (0..ms).map(|s| linear[s] * mean[s * mt + t]).sum();
                let spread: f64 = (0..ms)
                    .flat_map(|r| (0..ms).map(move |s| (s, r)))
                    .map(|(s, r)| quadratic[(s, r)] * half[(s * mt + t, r)])
                    .sum();
                drift + 2.0 * spread - 2.0 * a[t] * trace
            })
            .collect()
    }

    /// ∂/∂Zₜ and ∂/∂ℓₜ from āₜ of every step (`[K][M_t]`).
    pub(super) fn backward(&self, temporal: &Temporal, bars: &[Vec<f64>]) -> TemporalGradient {
        let (z, scale) = (&temporal.times, temporal.length_scale);
        let m = z.len();
        let mut gradient = TemporalGradient { times: vec![0.0; m], length_scale: 0.0 };
        // ∂ρ/∂(t−z) = 2 dρ/dr² (t−z)/ℓ² and ∂ρ/∂ℓ = −2 dρ/dr² (t−z)²/ℓ³
        let slope_at = |difference: f64| 2.0 * slope(KernelKind::Rbf, (difference / scale).powi(2)) / (scale * scale);
        let mut outer = Mat::<f64>::zeros(m, m);
        for ((a, &t), bar) in self.features.iter().zip(&self.instants).zip(bars) {
            for j in 0..m {
                // ρ̄ = Rₜ⁻ᵀ āₜ  [M_t]
                let rho_bar: f64 = (j..m).map(|i| self.factor.inverse[(i, j)] * bar[i]).sum();
                let difference = t - z[j];
                let common = rho_bar * slope_at(difference) * difference;
                gradient.times[j] -= common;
                gradient.length_scale -= common * difference / scale;
                for i in 0..m {
                    outer[(i, j)] += bar[i] * a[j];
                }
            }
        }
        let correlations_bar = self.factor.backward(&outer);
        for i in 0..m {
            for j in 0..m {
                let difference = z[i] - z[j];
                let common = correlations_bar[(i, j)] * slope_at(difference) * difference;
                gradient.times[i] += common;
                gradient.times[j] -= common;
                gradient.length_scale -= common * difference / scale;
            }
        }
        gradient
    }
}
