//! Adam, upwards: θ ← θ + r·m̂/(√v̂ + 1e-8), m̂ and v̂ the bias-corrected means of the gradient and its square.
//!
//! Reference: Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015.

use serde::{Deserialize, Serialize};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Both moments of every component, and the number of steps taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    steps: u64,
}

impl Adam {
    /// Moments at zero for `size` components.
    pub fn new(size: usize) -> Self {
        Self { first: vec![0.0; size], second: vec![0.0; size], steps: 0 }
    }

    /// Becomes equal to another one of the same size, without new memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.first.clone_from(&other.first);
        self.second.clone_from(&other.second);
        self.steps = other.steps;
    }

    /// Whether these can be the moments of `size` components after so many steps.
    pub(crate) fn is_possible(&self, size: usize, steps: u64) -> bool {
        let mut moments = [&self.first, &self.second].into_iter();
        let sized = moments.all(|moments| moments.len() == size && moments.iter().all(|moment| moment.is_finite()));
        sized && self.steps == steps && self.second.iter().all(|&moment| moment >= 0.0)
    }

    /// One step with learning rate `rate`; components for which `moves` is false keep their value and their moments.
    pub fn ascend(&mut self, theta: &mut [f64], gradient: &[f64], rate: f64, moves: impl Fn(usize) -> bool) {
        self.steps += 1;
        let correct = |beta: f64| 1.0 - libm::pow(beta, self.steps as f64);
        let (correct1, correct2) = (correct(BETA1), correct(BETA2));
        for index in (0..theta.len()).filter(|&index| moves(index)) {
            let (g, m, v) = (gradient[index], &mut self.first[index], &mut self.second[index]);
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * g * g;
            theta[index] += rate * (*m / correct1) / ((*v / correct2).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_by_hand() {
        let mut adam = Adam::new(2);
        let mut theta = [1.0, 5.0];
        adam.ascend(&mut theta, &[4.0, 1.0], 0.1, |index| index == 0);
        // m̂ = 4, v̂ = 16: a step of the full rate.
        assert!((theta[0] - 1.1).abs() < 1e-9);
        adam.ascend(&mut theta, &[-2.0, 1.0], 0.1, |index| index == 0);
        // m = 0.9·0.4 − 0.2 = 0.16, m̂ = 0.16/0.19; v = 0.999·0.016 + 0.004 = 0.019984, v̂ = 0.019984/0.001999.
        let expected = 1.1 + 0.1 * (0.16 / 0.19) / (0.019984_f64 / 0.001999).sqrt();
        assert!((theta[0] - expected).abs() < 1e-9);
        assert_eq!(theta[1], 5.0);
    }

    #[test]
    fn climbs_a_parabola() {
        let mut adam = Adam::new(1);
        let mut theta = [3.0];
        for _ in 0..2000 {
            let gradient = [-2.0 * (theta[0] - 1.0)];
            adam.ascend(&mut theta, &gradient, 0.01, |_| true);
        }
        assert!((theta[0] - 1.0).abs() < 1e-3);
    }
}
