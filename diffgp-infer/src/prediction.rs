//! From the end points of paths to a prediction in the target's units.

use diffgp_core::normal;
use diffgp_core::sqrt::sqrt;

/// What the predictor says of one end point: g ~ N(mean, variance), standardised, without noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    /// The mean of g.
    pub mean: f32,
    /// The variance of g.
    pub variance: f32,
}

impl Latent {
    /// P(y = 1) = e + (1 − 2e) Φ(mean/√(1 + variance)) under the Bernoulli likelihood.
    fn probability(self, epsilon: f32) -> f32 {
        let phi = normal::cdf(self.mean / sqrt(1.0 + self.variance));
        epsilon + (1.0 - 2.0 * epsilon) * phi
    }
}

/// Moments of the mixture over paths, updated path by path: the memory does not grow with their number.
///
/// [`Model::predict_sampled`](crate::Model::predict_sampled) uses it; callers who step through their paths themselves
/// add each [`Latent`] and ask [`Model::prediction`](crate::Model::prediction) at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    epsilon: f32,
    count: u32,
    /// Mean of means.
    mean: f32,
    /// Σ (mean_s − mean)² (Welford).
    scatter: f32,
    /// Mean of variances.
    variance: f32,
    /// Mean of probabilities.
    probability: f32,
}

impl Mixture {
    /// No path yet, for a likelihood with this e (zero for a regression, where probabilities have no meaning).
    pub(crate) fn new(epsilon: f32) -> Self {
        Self { epsilon, count: 0, mean: 0.0, scatter: 0.0, variance: 0.0, probability: 0.0 }
    }

    /// Adds the end of one path.
    #[inline(never)]
    pub fn add(&mut self, latent: Latent) {
        self.count = self.count.saturating_add(1);
        let share = 1.0 / self.count as f32;
        let difference = latent.mean - self.mean;
        self.mean += difference * share;
        self.scatter += difference * (latent.mean - self.mean);
        self.variance += (latent.variance - self.variance) * share;
        self.probability += (latent.probability(self.epsilon) - self.probability) * share;
    }

    /// Paths added so far.
    pub fn paths(&self) -> u32 {
        self.count
    }

    /// Mean of means.
    pub(crate) fn mean(&self) -> f32 {
        self.mean
    }

    /// Mean of variances plus variance of means.
    pub(crate) fn latent_variance(&self) -> f32 {
        self.variance + self.scatter / self.count.max(1) as f32
    }

    /// Mean of the paths' probabilities.
    pub(crate) fn probability(&self) -> f32 {
        self.probability
    }
}

/// A prediction with its error bar.
///
/// For a regression, mean and variances are in the target's units. For a classification they are those of the latent
/// function g, and [`Prediction::probability`] is what one acts on.
///
/// A prediction from the drift alone leaves out the spread of the paths; its error bar is the predictor's only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub(crate) mean: f32,
    pub(crate) latent_variance: f32,
    pub(crate) noise: f32,
    pub(crate) probability: Option<f32>,
    pub(crate) in_range: bool,
}

impl Prediction {
    /// The mean: over paths, the mean of their means.
    pub fn mean(&self) -> f32 {
        self.mean
    }

    /// The variance of a new observation: the latent variance plus the noise.
    pub fn variance(&self) -> f32 {
        self.latent_variance + self.noise
    }

    /// The variance of the underlying function, without noise: over paths, mean of variances plus variance of means.
    pub fn latent_variance(&self) -> f32 {
        self.latent_variance
    }

    /// The central interval mean ± z √variance that holds a new observation with this probability.
    ///
    /// Over several paths the prediction is a mixture, and this is the interval of the Gaussian with the mixture's
    /// mean and variance: exact for one path, close when the paths' means spread little, too wide in the middle and
    /// blind to separate modes when they spread much.
    /// `None` for a classification, and unless 0 < level < 1.
    pub fn interval(&self, level: f32) -> Option<(f32, f32)> {
        if self.probability.is_some() {
            return None;
        }
        let half = normal::central_quantile(level)? * sqrt(self.variance());
        Some((self.mean - half, self.mean + half))
    }

    /// P(y = 1), averaged over paths; `None` for a regression.
    pub fn probability(&self) -> Option<f32> {
        self.probability
    }

    /// Whether every input value lies in the range seen in training. If not, the model extrapolates; trust its
    /// variance only as far as its kernel describes the world out there.
    pub fn in_range(&self) -> bool {
        self.in_range
    }
}
