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
    pub predictor: ProcessGradient,
    /// ∂/∂σ² of every Gaussian output; classes have nothing of their own that is learned.
    pub noise: Vec<f64>,
}

/// The slopes of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGradient {
    /// Of the inducing times, if the field changes with time.
    pub temporal: Option<TemporalGradient>,
    /// Of the vector field.
    pub field: ProcessGradient,
}

/// The slopes of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessGradient {
    /// ∂/∂Z: `[M, D]`.
    pub inducing: DMatrix<f64>,
    /// Of every kernel: `[P]`.
    pub kernels: Vec<KernelGradient>,
    /// Of every q(v): `[O]`.
    pub posteriors: Vec<PosteriorGradient>,
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
    use crate::params::{Kernel, Params, Posterior, Process};

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
            let process = |process: &Process| ProcessGradient {
                inducing: process.inducing.map(&slope),
                kernels: process.kernels.iter().map(kernel).collect(),
                posteriors: process.posteriors.iter().map(posterior).collect(),
            };
            Self {
                flow: params.flow.as_ref().map(|flow| FlowGradient {
                    temporal: flow.temporal.as_ref().map(|temporal| TemporalGradient {
                        times: temporal.times.iter().map(|&time| slope(time)).collect(),
                        length_scale: slope(temporal.length_scale),
                    }),
                    field: process(&flow.field),
                }),
                predictor: process(&params.predictor),
                noise: params.likelihood.noise().iter().map(|&noise| slope(noise)).collect(),
            }
        }
    }
}
