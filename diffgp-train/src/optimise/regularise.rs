//! What may be added to the bound: a weight w on KL_f, and log-normal priors on positive parameters.
//!
//! Objective = ELBO − (w − 1) KL_f − Σ ½ ((θ − ln median)/σ)² over the θ = ln p that have a prior. All off by default.

use serde::{Deserialize, Serialize};

use super::unconstrained::Group;
use crate::gradient::Gradient;
use crate::params::Params;

/// ln p ~ N(ln median, σ²).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogNormal {
    /// The median of p.
    pub median: f64,
    /// σ, the deviation of ln p.
    pub sigma: f64,
}

/// Terms beside the bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regularisation {
    /// w, 1 for the bound itself.
    pub flow_kl_weight: f64,
    /// Prior on every ℓ_f.
    pub flow_length_scale: Option<LogNormal>,
    /// Prior on every s_f².
    pub flow_variance: Option<LogNormal>,
    /// Prior on every ℓ_g.
    pub predictor_length_scale: Option<LogNormal>,
    /// Prior on every s_g².
    pub predictor_variance: Option<LogNormal>,
    /// Prior on every σ².
    pub noise: Option<LogNormal>,
}

impl Default for Regularisation {
    fn default() -> Self {
        Self {
            flow_kl_weight: 1.0,
            flow_length_scale: None,
            flow_variance: None,
            predictor_length_scale: None,
            predictor_variance: None,
            noise: None,
        }
    }
}

impl Regularisation {
    /// Adds −(w − 1) ∂KL_f to the gradient with respect to the plain parameters: ∂KL/∂m = m, ∂KL/∂L = L − diag(1/L_ii).
    pub fn add_flow_kl(&self, params: &Params, gradient: &mut Gradient) {
        let extra = self.flow_kl_weight - 1.0;
        let (Some(flow), Some(slopes)) = (&params.flow, &mut gradient.flow) else { return };
        if extra == 0.0 {
            return;
        }
        for (posterior, slope) in flow.field.posteriors.iter().zip(&mut slopes.field.posteriors) {
            slope.mean -= extra * &posterior.mean;
            slope.factor -= extra * &posterior.factor;
            for i in 0..posterior.mean.len() {
                slope.factor[(i, i)] += extra / posterior.factor[(i, i)];
            }
        }
    }

    /// Adds the gradient of the log-priors with respect to θ.
    pub fn add_priors(&self, theta: &[f64], groups: &[Group], gradient: &mut [f64]) {
        for ((&component, &group), slope) in theta.iter().zip(groups).zip(gradient) {
            if let Some(prior) = self.prior(group) {
                *slope -= (component - libm::log(prior.median)) / prior.sigma.powi(2);
            }
        }
    }

    fn prior(&self, group: Group) -> Option<LogNormal> {
        match group {
            Group::FlowLengthScale => self.flow_length_scale,
            Group::FlowVariance => self.flow_variance,
            Group::PredictorLengthScale => self.predictor_length_scale,
            Group::PredictorVariance => self.predictor_variance,
            Group::Noise => self.noise,
            _ => None,
        }
    }

    /// Every prior, for validation.
    pub fn priors(&self) -> impl Iterator<Item = LogNormal> {
        [self.flow_length_scale, self.flow_variance, self.predictor_length_scale, self.predictor_variance, self.noise]
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::{groups, pack};
    use crate::train::small_model;

    #[test]
    fn a_weight_adds_the_slope_of_the_divergence() {
        let params = small_model(true);
        let mut gradient = Gradient::of_each(&params, |_| 0.0);
        let weighted = Regularisation { flow_kl_weight: 3.0, ..Regularisation::default() };
        weighted.add_flow_kl(&params, &mut gradient);
        let (posterior, slope) =
            (&params.flow.unwrap().field.posteriors[0], &gradient.flow.unwrap().field.posteriors[0]);
        assert_eq!(slope.mean[0], -2.0 * posterior.mean[0]);
        let diagonal = posterior.factor[(0, 0)];
        // One rounding per operation on numbers of order 10.
        assert!((slope.factor[(0, 0)] + 2.0 * (diagonal - 1.0 / diagonal)).abs() < 1e-13);
    }

    #[test]
    fn priors_pull_towards_their_median() {
        let params = small_model(false);
        let (theta, groups) = (pack(&params), groups(&params));
        let prior = LogNormal { median: 1.0, sigma: 0.5 };
        let regularisation = Regularisation { noise: Some(prior), ..Regularisation::default() };
        let mut gradient = vec![0.0; theta.len()];
        regularisation.add_priors(&theta, &groups, &mut gradient);
        let last = theta.len() - 1;
        assert_eq!(gradient[last], -theta[last] / 0.25);
        assert!(gradient[..last].iter().all(|&slope| slope == 0.0));
    }
}
