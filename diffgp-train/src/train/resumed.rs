//! What a run to go on with can be: every field of a checkpoint is held against the plan and the data before it is used.
//!
//! A checksum finds damage, not a hand that repairs it. Lengths, counts and the ranges of all numbers are those that a run
//! of this plan can have; what is left to a forger is another model of the same shape.

use super::climb::{Best, ClimbState, SMALLEST_SCALE};
use super::execute::{Ended, Executor, Outcome, Run};
use crate::checkpoint::CheckpointError;
use crate::optimise::groups;

/// Inputs and targets are standardised and values whitened: parameters are around 1. Products of numbers below this are far
/// from the end of f64.
const LARGEST: f64 = 1e12;
/// The logarithm of a variance or a length-scale that f32 can hold, and some.
const LARGEST_LOGARITHM: f64 = 100.0;
/// As large as the variance: nothing is learned beyond.
const LARGEST_JITTER: f64 = 1.0;

/// What is wrong, if anything is.
type Checked = Result<(), &'static str>;

impl Executor<'_> {
    /// Refuses what no run of its plan can have been.
    pub(super) fn check(&self, run: &Run) -> Result<(), CheckpointError> {
        self.check_stages(run).map_err(|problem| CheckpointError::Impossible { problem })
    }

    fn check_stages(&self, run: &Run) -> Checked {
        let mut before = Run::new(run.plan.clone());
        for ended in &run.ended {
            if before.stage() == run.plan.stages.len() {
                return Err("more stages than planned");
            }
            if let Ended::Finished(outcome) = ended {
                self.check_outcome(&before, outcome)?;
            }
            before.ended.push(ended.clone());
        }
        match &run.climb {
            Some(_) if before.stage() == run.plan.stages.len() => Err("more stages than planned"),
            Some(climb) => self.check_climb(&before, climb),
            None => Ok(()),
        }
    }

    fn check_outcome(&self, before: &Run, outcome: &Outcome) -> Checked {
        let index = before.stage();
        let start = self.start(before, index).ok_or("a stage that was not needed")?;
        let stage = &before.plan.stages[index];
        self.check_theta(before, &outcome.theta)?;
        check_jitter(outcome.jitter, &start)?;
        require(outcome.iteration <= start.end, "the number of iterations")?;
        require(outcome.log_likelihood.is_none_or(f64::is_finite), "a log-likelihood")?;
        let looked_at = stage.validation.len().min(self.config.validation.max_rows);
        let rows = if stage.fit.is_some() { looked_at } else { 0 };
        let scores = &outcome.fitted;
        require(scores.is_empty() || scores.len() == rows, "the number of validation rows")?;
        require(scores.iter().all(|score| score.is_finite()), "a log-likelihood")
    }

    fn check_climb(&self, before: &Run, climb: &ClimbState) -> Checked {
        let start = self.start(before, before.stage()).ok_or("a stage that was not needed")?;
        require(climb.end == start.end && climb.iteration <= climb.end, "the number of iterations")?;
        self.check_theta(before, &climb.theta)?;
        require(climb.adam.is_possible(climb.theta.len(), climb.iteration), "the moments of its gradient")?;
        require((SMALLEST_SCALE..=1.0).contains(&climb.step_scale), "the size of its steps")?;
        check_jitter(climb.jitter, &start)?;
        require(climb.average.is_some() == start.average.is_some(), "the average of its iterates")?;
        climb.average.iter().try_for_each(|average| self.check_theta(before, average))?;
        let Some(Best { iteration, log_likelihood, theta, jitter }) = &climb.best else { return Ok(()) };
        require(*iteration <= climb.iteration && log_likelihood.is_finite(), "its best iterate")?;
        check_jitter(*jitter, &start)?;
        self.check_theta(before, theta)
    }

    /// As many parameters as the next stage has, and none that no training leads to.
    fn check_theta(&self, before: &Run, theta: &[f64]) -> Checked {
        let groups = groups(&self.template(before, before.stage()));
        require(theta.len() == groups.len(), "the number of parameters")?;
        let most = |positive| if positive { LARGEST_LOGARITHM } else { LARGEST };
        let bounded = theta.iter().zip(groups).all(|(value, group)| value.abs() <= most(group.is_positive()));
        require(bounded, "the size of a parameter")
    }
}

/// A jitter is only ever raised.
fn check_jitter(jitter: f64, start: &ClimbState) -> Checked {
    require((start.jitter..=LARGEST_JITTER).contains(&jitter), "the jitter")
}

fn require(holds: bool, problem: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(problem) }
}

#[cfg(test)]
mod tests;
