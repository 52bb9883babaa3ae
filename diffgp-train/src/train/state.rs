//! Everything that changes from one iteration to the next: what a checkpoint must hold.

use serde::{Deserialize, Serialize};

use super::course::WORTHWHILE_KERNEL_GAIN;
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
    /// The iteration at which the phase ends.
    pub end: u64,
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
    /// The end of the sparse Gaussian process, until the flow is compared with it.
    pub sparse: Option<Box<State>>,
    /// θ of the warm start, in the phase of the flow.
    pub warm: Option<Vec<f64>>,
    /// What the validation rows found best, in phases on all rows.
    pub verdict: Option<Verdict>,
    /// In the trial of the rival kernel: the settled log-likelihood of the trial before it.
    pub trial_log_likelihood: Option<f64>,
    /// After the trials: what the rival kernel added to it; the rival is used if that is worth its work.
    pub kernel_gain: Option<f64>,
}

/// What was decided by the validation rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The iteration with the best log-likelihood.
    pub iteration: u64,
    /// That log-likelihood, the mean per row.
    pub log_likelihood: f64,
    /// What the flow adds to the settled one, kept or not, if it was to be chosen.
    pub flow_gain: Option<f64>,
}

/// The parameters of the best validation so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Before that iteration.
    pub iteration: u64,
    /// Mean log-likelihood of the validation rows.
    pub log_likelihood: f64,
    /// The same after the fits that end training, on the training rows, where the model is compared with another.
    pub settled_log_likelihood: Option<f64>,
    /// θ (or θ̄).
    pub theta: Vec<f64>,
}

impl State {
    /// The start of a phase of `end` iterations.
    pub fn new(phase: Phase, params: &Params, averaged: bool, end: u64) -> Self {
        let theta = pack(params);
        Self {
            phase,
            iteration: 0,
            end,
            adam: Adam::new(theta.len()),
            step_scale: 1.0,
            jitter: params.jitter,
            average: averaged.then(|| theta.clone()),
            best: None,
            sparse: None,
            warm: None,
            verdict: None,
            trial_log_likelihood: None,
            kernel_gain: None,
            theta,
        }
    }

    /// Whether flow and predictor have the rival kernel.
    pub fn has_rival_kernel(&self) -> bool {
        self.phase == Phase::RivalTrial || self.kernel_gain.is_some_and(|gain| gain >= WORTHWHILE_KERNEL_GAIN)
    }

    /// The iterate to look at: θ̄ if there is one, else θ.
    pub fn candidate(&self) -> &[f64] {
        self.average.as_deref().unwrap_or(&self.theta)
    }
}
