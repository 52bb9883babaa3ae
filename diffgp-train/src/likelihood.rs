//! p(y | g) of a row, given the O independent Gaussian outputs of the predictor; one file per likelihood, one trait.
//!
//! Another likelihood is another file, another variant and its number in the model file.

mod bernoulli;
mod gaussian;
mod quadrature;
mod softmax;

use self::bernoulli::Bernoulli;
use self::gaussian::Gaussian;
use self::softmax::Softmax;

/// p(y | g).
#[derive(Clone, Debug, PartialEq)]
pub enum Likelihood {
    /// y_o = g_o + N(0, noise_o), independent given g.
    Gaussian {
        /// σ², a variance, one per output: `[O]`.
        noise: Vec<f64>,
    },
    /// p(y = 1 | g) = e + (1 − 2e) Φ(g), one output.
    Bernoulli {
        /// e, fixed while training.
        epsilon: f64,
    },
    /// p(y = c | g) = exp(g_c) / Σ_k exp(g_k), one output per class.
    Softmax,
}

/// Mean and variance of every output of g at a row: `[O]` each. The outputs are independent, variances positive.
#[derive(Clone, Copy, Debug)]
pub struct Latent<'a> {
    /// The means.
    pub mean: &'a [f64],
    /// The variances.
    pub variance: &'a [f64],
}

/// The derivatives of an expectation.
#[derive(Debug)]
pub struct Slopes<'a> {
    /// ∂/∂mean, overwritten: `[O]`.
    pub mean: &'a mut [f64],
    /// ∂/∂variance, overwritten: `[O]`.
    pub variance: &'a mut [f64],
    /// ∂/∂(the likelihood's own learned parameters), added to: σ² of every Gaussian output.
    pub own: &'a mut [f64],
}

/// What a likelihood is to the rest of the trainer. Targets of a row are one number per Gaussian output, or a class.
pub trait Density {
    /// Its number in a model file.
    fn number(&self) -> u8;

    /// Whether the best q(u_g) has a closed form, given everything else.
    fn has_closed_form(&self) -> bool;

    /// The classes that it tells apart on that many outputs; `None` for real targets.
    fn classes(&self, outputs: usize) -> Option<usize>;

    /// E_q[log p(y | g)] and its derivatives.
    fn expectation(&self, y: &[f64], at: Latent<'_>, slopes: &mut Slopes<'_>) -> f64;

    /// log p(y_o | q) of every output of a regression, g integrated out: `[O]`.
    fn log_densities(&self, _y: &[f64], _at: Latent<'_>, _out: &mut [f64]) {}

    /// p(class | q) of every class, g integrated out: `[C]`.
    fn probabilities(&self, _at: Latent<'_>, _out: &mut [f64]) {}
}

impl Likelihood {
    /// Calls `f` with the rules of this likelihood.
    pub fn with<R>(&self, f: impl FnOnce(&dyn Density) -> R) -> R {
        match self {
            Self::Gaussian { noise } => f(&Gaussian { noise }),
            Self::Bernoulli { epsilon } => f(&Bernoulli { epsilon: *epsilon }),
            Self::Softmax => f(&Softmax),
        }
    }

    /// σ² of every Gaussian output; empty for classes.
    pub fn noise(&self) -> &[f64] {
        match self {
            Self::Gaussian { noise } => noise,
            Self::Bernoulli { .. } | Self::Softmax => &[],
        }
    }

    /// The same, to be changed.
    pub fn noise_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Gaussian { noise } => noise,
            Self::Bernoulli { .. } | Self::Softmax => &mut [],
        }
    }

    /// Numbers that say what a row's target is: one per Gaussian output, or one class.
    pub fn targets(&self) -> usize {
        self.noise().len().max(1)
    }

    /// The outputs that the predictor should have, if it has `found`.
    pub(crate) fn outputs(&self, found: usize) -> usize {
        match self {
            Self::Gaussian { noise } => noise.len(),
            Self::Bernoulli { .. } => 1,
            Self::Softmax => found.max(2),
        }
    }
}

#[cfg(test)]
mod tests;
