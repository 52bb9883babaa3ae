//! A prediction that outlives the workspace it was made in.

use diffgp_infer::{OutOfRange, Output, Prediction};

/// What the runtime predicts for one row.
///
/// For real targets, means and variances are in the target's units. For classes they are those of the latent functions g,
/// and [`Answer::class`] and [`Answer::probabilities`] are what one acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// A real target, or the latent function of a class, in order.
    outputs: Vec<Output>,
    /// Of every class in order; none for real targets.
    probabilities: Vec<f32>,
    out_of_range: OutOfRange,
}

impl Answer {
    /// A copy of a prediction.
    pub fn of(prediction: &Prediction<'_>) -> Self {
        Self {
            outputs: prediction.outputs().collect(),
            probabilities: prediction.probabilities().collect(),
            out_of_range: prediction.out_of_range(),
        }
    }

    /// Every output in order: a real target, or the latent function of a class.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The first output.
    pub fn first(&self) -> Output {
        self.outputs[0]
    }

    /// The mean of the first output.
    pub fn mean(&self) -> f32 {
        self.first().mean()
    }

    /// The variance of a new observation of the first output.
    pub fn variance(&self) -> f32 {
        self.first().variance()
    }

    /// The latent variance of the first output, without noise.
    pub fn latent_variance(&self) -> f32 {
        self.first().latent_variance()
    }

    /// The interval of the first output that holds a new observation with this probability; `None` for classes.
    pub fn interval(&self, level: f32) -> Option<(f32, f32)> {
        self.first().interval(level)
    }

    /// Of every class in order; none for real targets.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// Of two classes, the probability of the second.
    pub fn probability(&self) -> Option<f32> {
        if let [_, second] = self.probabilities[..] { Some(second) } else { None }
    }

    /// The most probable class, the first of equals; `None` for real targets.
    pub fn class(&self) -> Option<usize> {
        let better = |best: usize, class: usize| {
            if self.probabilities[class] > self.probabilities[best] { class } else { best }
        };
        (0..self.probabilities.len()).reduce(better)
    }

    /// Which inputs lie outside the range seen in training.
    pub fn out_of_range(&self) -> OutOfRange {
        self.out_of_range
    }

    /// Whether every input lies in the range seen in training.
    pub fn in_range(&self) -> bool {
        self.out_of_range.is_empty()
    }
}
