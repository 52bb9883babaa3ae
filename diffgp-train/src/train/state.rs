//! Everything that changes from one iteration to the next: what a checkpoint must hold.

use serde::{Deserialize, Serialize};

use super::observer::Phase;
use crate::optimise::{Adam, pack};
use crate::params::Params;

/// A run between two iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Which part of the run.
    pub phase: Phase,
    /// The iteration to be done next, from 0 in every phase.
    pub iteration: u64,
    /// θ, the parameters without constraints.
    pub theta: Vec<f64>,
    /// Adam's moments.
    pub adam: Adam,
    /// Factor on every step; below 1 for a while after a failure.
    pub step_scale: f64,
    /// The jitter in use.
    pub jitter: f64,
    /// θ̄, if iterates are averaged.
    pub average: Option<Vec<f64>>,
    /// The best validated parameters of this phase.
    pub best: Option<Best>,
}

/// The parameters of the best validation so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Before that iteration.
    pub iteration: u64,
    /// Mean log-likelihood of the validation rows.
    pub log_likelihood: f64,
    /// θ (or θ̄).
    pub theta: Vec<f64>,
}

impl State {
    /// The start of a phase.
    pub fn new(phase: Phase, params: &Params, averaged: bool) -> Self {
        let theta = pack(params);
        Self {
            phase,
            iteration: 0,
            adam: Adam::new(theta.len()),
            step_scale: 1.0,
            jitter: params.jitter,
            average: averaged.then(|| theta.clone()),
            best: None,
            theta,
        }
    }

    /// The iterate to look at: θ̄ if there is one, else θ.
    pub fn candidate(&self) -> &[f64] {
        self.average.as_deref().unwrap_or(&self.theta)
    }
}
