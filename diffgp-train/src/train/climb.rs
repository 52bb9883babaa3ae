//! One stage of a run: evaluate, look at the validation rows, step; fall back when something is not finite.
//!
//! A state is only ever stepped from, validated or checkpointed after the bound at that state was found to be finite.
//! When it is not, the run goes back to the state before and makes a smaller step from there.

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::error::TrainError;
use super::observer::{Observer, Progress, StageId, Validated, Warning};
use super::plan::Stage;
use crate::elbo::{ElboError, Evaluation};
use crate::optimise::{Adam, Group, chain_rule, groups, natural_step_or_shorter, overwrite, slopes, unpack};
use crate::params::Params;
use crate::score::Score;

/// Factor on the step after a failure; it grows back by `RECOVERY` with every good iteration.
const BACK_OFF: f64 = 0.5;
const RECOVERY: f64 = 1.1;
/// Steps smaller than this share of the normal one mean that the run cannot go on.
pub(super) const SMALLEST_SCALE: f64 = 1e-6;

/// What is climbed. Tests put faults and simple surfaces here.
pub(super) trait Objective {
    /// The bound of iteration `iteration` and its gradient.
    fn evaluate(&mut self, params: &Params, iteration: u64) -> Result<Evaluation, ElboError>;

    /// How well the validation rows are predicted, if there are any.
    fn validate(&mut self, params: &Params) -> Result<Option<Score>, ElboError>;
}

/// Everything that changes from one iteration to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClimbState {
    /// The iteration to be done next, from 0 in every stage.
    pub iteration: u64,
    /// The iteration at which the stage ends.
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
    /// The best validated parameters.
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
    /// The jitter that it was validated with.
    pub jitter: f64,
}

impl ClimbState {
    /// The start of a stage of `end` iterations.
    pub(super) fn new(theta: Vec<f64>, jitter: f64, averaged: bool, end: u64) -> Self {
        Self {
            iteration: 0,
            end,
            adam: Adam::new(theta.len()),
            step_scale: 1.0,
            jitter,
            average: averaged.then(|| theta.clone()),
            best: None,
            theta,
        }
    }

    /// The iterate to look at: θ̄ if there is one, else θ.
    fn candidate(&self) -> &[f64] {
        self.average.as_deref().unwrap_or(&self.theta)
    }
}

/// A stage: the shape of its parameters and how it is climbed.
pub(super) struct Climb<'a> {
    config: &'a Config,
    stage: &'a Stage,
    id: StageId,
    /// Parameters of the right shape, and the constants.
    template: Params,
    groups: Vec<Group>,
    /// N.
    rows: usize,
}

impl<'a> Climb<'a> {
    pub(super) fn new(config: &'a Config, stage: &'a Stage, index: usize, template: Params, rows: usize) -> Self {
        let id = StageId { index, name: stage.name, fold: stage.fold };
        Self { config, stage, id, groups: groups(&template), template, rows }
    }

    /// Climbs from `state` to the end of the stage; `checkpoint` is called with states from which to go on.
    pub(super) fn run(
        &self,
        mut state: ClimbState,
        objective: &mut dyn Objective,
        observer: &mut dyn Observer,
        checkpoint: &dyn Fn(&ClimbState, &mut dyn Observer) -> Result<(), TrainError>,
    ) -> Result<ClimbState, TrainError> {
        let mut last_good: Option<LastGood> = None;
        while state.iteration < state.end {
            let params = self.params(&state.theta, state.jitter);
            let evaluation = match objective.evaluate(&params, state.iteration) {
                Ok(evaluation) if is_finite(&evaluation) => evaluation,
                Ok(_) | Err(ElboError::NotPositiveDefinite { .. }) => {
                    back_off(&mut state, &mut last_good, observer)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if self.raises_jitter(&mut state, &evaluation, observer) {
                // Only some matrices needed it; from here to the device all of them have it.
                continue;
            }
            self.report(&state, &params, &evaluation, observer);
            if state.iteration.is_multiple_of(self.config.validation.every) && state.iteration > 0 {
                self.validate(&mut state, objective, observer)?;
            }
            match &mut last_good {
                Some(last_good) => last_good.replace(&state),
                None => last_good = Some(LastGood::new(&state)),
            }
            if self.is_out_of_patience(&state) {
                break;
            }
            let every = self.config.checkpoint_every;
            if every > 0 && state.iteration > 0 && state.iteration.is_multiple_of(every) {
                checkpoint(&state, observer)?;
            }
            if observer.should_stop() {
                checkpoint(&state, observer)?;
                return Err(TrainError::Stopped { iteration: state.iteration });
            }
            if observer.should_finish() {
                checkpoint(&state, observer)?;
                break;
            }
            if self.step(&mut state, params, evaluation, observer).is_none() {
                back_off(&mut state, &mut last_good, observer)?;
            }
        }
        if !self.is_sound(&mut state, objective, observer)? {
            back_off(&mut state, &mut last_good, observer)?;
        }
        self.validate(&mut state, objective, observer)?;
        Ok(state)
    }

    /// θ and the jitter to go on with after the stage: the best validated, or the last.
    pub(super) fn chosen<'s>(&self, state: &'s ClimbState) -> (&'s [f64], f64) {
        let best = state.best.as_ref().filter(|_| self.config.validation.select);
        best.map_or((state.candidate(), state.jitter), |best| (&best.theta, best.jitter))
    }

    pub(super) fn params(&self, theta: &[f64], jitter: f64) -> Params {
        let mut params = self.template.clone();
        params.jitter = jitter;
        unpack(theta, &mut params);
        params
    }

    /// Adam on everything, or on everything but q(u_g) and a natural-gradient step on that; `None` if the latter fails.
    fn step(
        &self,
        state: &mut ClimbState,
        mut params: Params,
        evaluation: Evaluation,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        let mut slopes = evaluation.gradient;
        self.config.regularisation.add_flow_kl(&params, &mut slopes);
        let mut gradient = chain_rule(&state.theta, &slopes);
        self.config.regularisation.add_priors(&state.theta, &self.groups, &mut gradient);
        let natural = self.stage.optimiser.natural_step > 0.0;
        let moves = |index: usize| !(natural && self.groups[index].is_predictor_posterior());
        let rate = self.learning_rate(state);
        state.adam.ascend(&mut state.theta, &gradient, rate, moves);
        if natural {
            let wanted = self.stage.optimiser.natural_step * state.step_scale;
            let mut shortest = wanted;
            for (posterior, slope) in params.predictor.posteriors.iter_mut().zip(&slopes.predictor.posteriors) {
                let (moved, used) = natural_step_or_shorter(posterior, slope, wanted)?;
                *posterior = moved;
                shortest = shortest.min(used);
            }
            if shortest < wanted {
                observer.warning(&Warning::NaturalStepShortened { iteration: state.iteration, step: shortest });
            }
            overwrite(&mut state.theta, &params, Group::is_predictor_posterior);
        }
        if let (Some(average), Some(beta)) = (&mut state.average, self.config.averaging) {
            for (mean, &value) in average.iter_mut().zip(&state.theta) {
                *mean = beta * *mean + (1.0 - beta) * value;
            }
        }
        state.step_scale = (state.step_scale * RECOVERY).min(1.0);
        state.iteration += 1;
        Some(())
    }

    fn learning_rate(&self, state: &ClimbState) -> f64 {
        let factor = self.stage.optimiser.schedule.factor(state.iteration, self.stage.stop.iterations);
        self.stage.optimiser.learning_rate * factor * state.step_scale
    }

    fn is_out_of_patience(&self, state: &ClimbState) -> bool {
        let patience = self.stage.stop.patience;
        let best = state.best.as_ref();
        patience > 0 && best.is_some_and(|best| state.iteration - best.iteration >= patience)
    }

    fn validate(
        &self,
        state: &mut ClimbState,
        objective: &mut dyn Objective,
        observer: &mut dyn Observer,
    ) -> Result<(), TrainError> {
        let params = self.params(state.candidate(), state.jitter);
        let score = match objective.validate(&params) {
            Ok(Some(score)) => score,
            // Without validation rows, or where they cannot be predicted, there is nothing to choose by.
            Ok(None) | Err(ElboError::NotPositiveDefinite { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let log_likelihood = score.log_likelihood;
        // A run that goes on from here looks once more at what was the best look before.
        let is_better = |best: &Best| log_likelihood > best.log_likelihood || best.iteration == state.iteration;
        let best = log_likelihood.is_finite() && state.best.as_ref().is_none_or(is_better);
        if best {
            let (iteration, theta) = (state.iteration, state.candidate().to_vec());
            state.best = Some(Best { iteration, log_likelihood, theta, jitter: state.jitter });
        }
        observer.validation(&Validated { stage: self.id, iteration: state.iteration, score, best });
        Ok(())
    }

    /// Whether the bound is finite at the end of a stage, where no step follows.
    fn is_sound(
        &self,
        state: &mut ClimbState,
        objective: &mut dyn Objective,
        observer: &mut dyn Observer,
    ) -> Result<bool, TrainError> {
        match objective.evaluate(&self.params(&state.theta, state.jitter), state.iteration) {
            Ok(evaluation) => {
                self.raises_jitter(state, &evaluation, observer);
                Ok(is_finite(&evaluation))
            }
            Err(ElboError::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A jitter that was needed once stays, so that the model is the same from here to the device.
    fn raises_jitter(&self, state: &mut ClimbState, evaluation: &Evaluation, observer: &mut dyn Observer) -> bool {
        let Some(jitter) = evaluation.jitter_raised.filter(|&jitter| jitter > state.jitter) else { return false };
        observer.warning(&Warning::JitterRaised { iteration: state.iteration, jitter });
        state.jitter = jitter;
        true
    }

    fn report(&self, state: &ClimbState, params: &Params, evaluation: &Evaluation, observer: &mut dyn Observer) {
        observer.iteration(&Progress {
            stage: self.id,
            iteration: state.iteration,
            iterations: state.end,
            rows: self.rows,
            elbo: evaluation.elbo,
            expected_log_likelihood: evaluation.expected_log_likelihood,
            kl_predictor: evaluation.kl_predictor,
            kl_flow: evaluation.kl_flow,
            noise: mean_noise(params.likelihood.noise()),
            learning_rate: self.learning_rate(state),
        });
    }
}

/// The last state with a finite bound: what a step changes of it. Buffers are used again.
struct LastGood {
    iteration: u64,
    theta: Vec<f64>,
    adam: Adam,
    average: Option<Vec<f64>>,
    step_scale: f64,
}

impl LastGood {
    fn new(state: &ClimbState) -> Self {
        Self {
            iteration: state.iteration,
            theta: state.theta.clone(),
            adam: state.adam.clone(),
            average: state.average.clone(),
            step_scale: state.step_scale,
        }
    }

    fn replace(&mut self, state: &ClimbState) {
        (self.iteration, self.step_scale) = (state.iteration, state.step_scale);
        self.theta.clone_from(&state.theta);
        self.adam.copy_from(&state.adam);
        self.average.clone_from(&state.average);
    }
}

/// Back to the last good state, from where steps are shorter.
fn back_off(
    state: &mut ClimbState,
    last_good: &mut Option<LastGood>,
    observer: &mut dyn Observer,
) -> Result<(), TrainError> {
    let diverged = TrainError::Diverged { iteration: state.iteration };
    let Some(good) = last_good else { return Err(diverged) };
    good.step_scale *= BACK_OFF;
    if good.step_scale < SMALLEST_SCALE {
        return Err(diverged);
    }
    observer.warning(&Warning::BackedOff { iteration: good.iteration, step_scale: good.step_scale });
    (state.iteration, state.step_scale) = (good.iteration, good.step_scale);
    state.theta.clone_from(&good.theta);
    state.adam.copy_from(&good.adam);
    state.average.clone_from(&good.average);
    Ok(())
}

/// The geometric mean of σ² over outputs; the one there is, to the bit.
fn mean_noise(noise: &[f64]) -> Option<f64> {
    match noise {
        [] => None,
        [one] => Some(*one),
        several => Some((several.iter().map(|noise| noise.ln()).sum::<f64>() / several.len() as f64).exp()),
    }
}

fn is_finite(evaluation: &Evaluation) -> bool {
    evaluation.elbo.is_finite() && slopes(&evaluation.gradient).iter().all(|(_, slope)| slope.is_finite())
}

#[cfg(test)]
mod tests;
