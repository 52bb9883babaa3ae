//! The gradient of the bound: ∂elbo/∂p for every learned number p, and for nothing else.
//!
//! Arrays have the shapes of those in [`Params`](crate::params::Params). Positive parameters are not transformed:
//! [`chain_rule`](crate::optimise::chain_rule) does that.

use nalgebra::{DMatrix, DVector};

/// The slopes of a whole model.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// Of the flow, if there is one.
    pub flow: Option<FlowGradient>,
    /// Of the predictor.
    pub predictor: PredictorGradient,
    /// ∂/∂σ² of a Gaussian likelihood; Bernoulli's e is not learned.
    pub noise: Option<f64>,
}

/// The slopes of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGradient {
    /// ∂/∂Z_f: `[M_s, D]`.
    pub inducing: DMatrix<f64>,
    /// Of every kernel: `[P]`.
    pub kernels: Vec<KernelGradient>,
    /// Of the inducing times, if the field changes with time.
    pub temporal: Option<TemporalGradient>,
    /// Of every q(v_d): `[D]`.
    pub posteriors: Vec<PosteriorGradient>,
}

/// The slopes of the predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictorGradient {
    /// ∂/∂Z_g: `[M_g, D]`.
    pub inducing: DMatrix<f64>,
    /// Of k_g.
    pub kernel: KernelGradient,
    /// Of q(v_g).
    pub posterior: PosteriorGradient,
}

/// The slopes of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelGradient {
    /// ∂/∂s².
    pub variance: f64,
    /// ∂/∂ℓ: `[D]`.
    pub length_scales: Vec<f64>,
}

/// The slopes of the inducing times.
#[derive(Clone, Debug, PartialEq)]
pub struct TemporalGradient {
    /// ∂/∂Z_t: `[M_t]`.
    pub times: Vec<f64>,
    /// ∂/∂ℓ_t.
    pub length_scale: f64,
}

/// The slopes of a posterior q(v) = N(m, L Lᵀ).
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorGradient {
    /// ∂/∂m: `[M]`.
    pub mean: DVector<f64>,
    /// ∂/∂L: `[M, M]`, its lower triangle; the strict upper part is zero.
    pub factor: DMatrix<f64>,
}

#[cfg(test)]
mod of_parameters {
    use super::*;
    use crate::params::{Kernel, Likelihood, Params, Posterior};

    impl Gradient {
        /// Every slope a function of its parameter: what the test of an optimiser climbs.
        pub(crate) fn of_each(params: &Params, slope: impl Fn(f64) -> f64) -> Self {
            let kernel = |kernel: &Kernel| KernelGradient {
                variance: slope(kernel.variance),
                length_scales: kernel.length_scales.iter().map(|&scale| slope(scale)).collect(),
            };
            let posterior = |q: &Posterior| PosteriorGradient {
                mean: q.mean.map(&slope),
                factor: q.factor.map(&slope).lower_triangle(),
            };
            Self {
                flow: params.flow.as_ref().map(|flow| FlowGradient {
                    inducing: flow.inducing.map(&slope),
                    kernels: flow.kernels.iter().map(kernel).collect(),
                    temporal: flow.temporal.as_ref().map(|temporal| TemporalGradient {
                        times: temporal.times.iter().map(|&time| slope(time)).collect(),
                        length_scale: slope(temporal.length_scale),
                    }),
                    posteriors: flow.posteriors.iter().map(posterior).collect(),
                }),
                predictor: PredictorGradient {
                    inducing: params.predictor.inducing.map(&slope),
                    kernel: kernel(&params.predictor.kernel),
                    posterior: posterior(&params.predictor.posterior),
                },
                noise: match params.likelihood {
                    Likelihood::Gaussian { noise } => Some(slope(noise)),
                    Likelihood::Bernoulli { .. } => None,
                },
            }
        }
    }
}
