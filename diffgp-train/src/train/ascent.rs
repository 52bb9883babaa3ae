//! One phase of a run: evaluate, look at the validation rows, step; fall back when something is not finite.
//!
//! A state is only ever stepped from, validated or checkpointed after the bound at that state was found to be finite.
//! When it is not, the run goes back to the state before and makes a smaller step from there.

use super::config::{Config, PhaseConfig, Task};
use super::error::TrainError;
use super::observer::{Observer, Phase, Progress, Validated, Warning};
use super::rows::Rows;
use super::score::Score;
use super::state::{Best, State};
use crate::elbo::{ElboError, Evaluation};
use crate::optimise::{Group, chain_rule, groups, natural_step_or_shorter, overwrite, slopes, unpack};
use crate::params::{Likelihood, Params};

/// Factor on the step after a failure; it grows back by `RECOVERY` with every good iteration.
const BACK_OFF: f64 = 0.5;
const RECOVERY: f64 = 1.1;
/// Steps smaller than this share of the normal one mean that the run cannot go on.
const SMALLEST_SCALE: f64 = 1e-6;

/// What is climbed. Tests put faults and simple surfaces here.
pub(super) trait Objective {
    /// The bound of iteration `iteration` and its gradient.
    fn evaluate(&mut self, params: &Params, iteration: u64) -> Result<Evaluation, ElboError>;

    /// How well the validation rows are predicted, if there are any.
    fn validate(&mut self, params: &Params) -> Result<Option<Score>, ElboError>;
}

/// A phase: the shape of its parameters and how it is climbed.
pub(super) struct Ascent<'a> {
    pub(super) config: &'a Config,
    pub(super) phase: PhaseConfig,
    /// Parameters of the right shape, and the constants.
    pub(super) template: Params,
    groups: Vec<Group>,
    /// N.
    rows: usize,
}

impl<'a> Ascent<'a> {
    /// With all rows, or more than a batch, q(u_g) goes to its optimum for them, if the likelihood is conjugate.
    pub(super) fn new(config: &'a Config, phase: Phase, template: Params, rows: &Rows) -> Self {
        let mut phase = match phase {
            Phase::Trial | Phase::RivalTrial => config.trial,
            Phase::WarmStart => config.warm_start,
            Phase::Sparse | Phase::SparseAgain => config.sparse,
            Phase::Flow | Phase::FlowAgain => config.main,
        };
        if rows.say_it_all(config) && config.task == Task::Regression && phase.natural_step > 0.0 {
            phase.natural_step = 1.0;
        }
        Self { config, phase, groups: groups(&template), template, rows: rows.training_count() }
    }

    /// Climbs from `state` to the end of the phase; `checkpoint` is called with states from which to go on.
    pub(super) fn run(
        &self,
        mut state: State,
        objective: &mut dyn Objective,
        observer: &mut dyn Observer,
        checkpoint: &dyn Fn(&State, &mut dyn Observer) -> Result<(), TrainError>,
    ) -> Result<State, TrainError> {
        let mut last_good = None;
        while state.iteration < state.end {
            let params = self.params(&state.theta, state.jitter);
            let evaluation = match objective.evaluate(&params, state.iteration) {
                Ok(evaluation) if is_finite(&evaluation) => evaluation,
                Ok(_) | Err(ElboError::NotPositiveDefinite { .. }) => {
                    state = self.back_off(state, &mut last_good, observer)?;
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
            last_good = Some(state.clone());
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
            if self.step(&mut state, params, evaluation, observer).is_none() {
                state = self.back_off(state, &mut last_good, observer)?;
            }
        }
        if !self.is_sound(&mut state, objective, observer)? {
            state = self.back_off(state, &mut last_good, observer)?;
        }
        self.validate(&mut state, objective, observer)?;
        Ok(state)
    }

    /// The parameters to go on with after the phase: the best validated, or the last.
    pub(super) fn chosen(&self, state: &State) -> Params {
        let best = state.best.as_ref().filter(|_| self.config.validation.select);
        self.params(best.map_or(state.candidate(), |best| &best.theta), state.jitter)
    }

    fn params(&self, theta: &[f64], jitter: f64) -> Params {
        let mut params = self.template.clone();
        params.jitter = jitter;
        unpack(theta, &mut params);
        params
    }

    /// Adam on everything, or on everything but q(u_g) and a natural-gradient step on that; `None` if the latter fails.
    fn step(
        &self,
        state: &mut State,
        mut params: Params,
        evaluation: Evaluation,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        let mut slopes = evaluation.gradient;
        self.config.regularisation.add_flow_kl(&params, &mut slopes);
        let mut gradient = chain_rule(&state.theta, &slopes);
        self.config.regularisation.add_priors(&state.theta, &self.groups, &mut gradient);
        let natural = self.phase.natural_step > 0.0;
        let moves = |index: usize| !(natural && self.groups[index].is_predictor_posterior());
        let rate = self.learning_rate(state);
        state.adam.ascend(&mut state.theta, &gradient, rate, moves);
        if natural {
            let wanted = self.phase.natural_step * state.step_scale;
            let posterior = &params.predictor.posterior;
            let (posterior, used) = natural_step_or_shorter(posterior, &slopes.predictor.posterior, wanted)?;
            if used < wanted {
                observer.warning(&Warning::NaturalStepShortened { iteration: state.iteration, step: used });
            }
            params.predictor.posterior = posterior;
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

    fn learning_rate(&self, state: &State) -> f64 {
        let factor = self.phase.schedule.factor(state.iteration, self.phase.iterations);
        self.phase.learning_rate * factor * state.step_scale
    }

    fn is_out_of_patience(&self, state: &State) -> bool {
        let patience = self.phase.patience;
        let best = state.best.as_ref();
        patience > 0 && best.is_some_and(|best| state.iteration - best.iteration >= patience)
    }

    fn validate(
        &self,
        state: &mut State,
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
            state.best = Some(Best { iteration, log_likelihood, settled_log_likelihood: None, theta });
        }
        observer.validation(&Validated { phase: state.phase, iteration: state.iteration, score, best });
        Ok(())
    }

    fn back_off(
        &self,
        state: State,
        last_good: &mut Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<State, TrainError> {
        let diverged = TrainError::Diverged { iteration: state.iteration };
        let Some(good) = last_good else { return Err(diverged) };
        good.step_scale *= BACK_OFF;
        if good.step_scale < SMALLEST_SCALE {
            return Err(diverged);
        }
        observer.warning(&Warning::BackedOff { iteration: good.iteration, step_scale: good.step_scale });
        Ok(good.clone())
    }

    /// Whether the bound is finite at the end of a phase, where no step follows.
    fn is_sound(
        &self,
        state: &mut State,
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
    fn raises_jitter(&self, state: &mut State, evaluation: &Evaluation, observer: &mut dyn Observer) -> bool {
        let Some(jitter) = evaluation.jitter_raised.filter(|&jitter| jitter > state.jitter) else { return false };
        observer.warning(&Warning::JitterRaised { iteration: state.iteration, jitter });
        state.jitter = jitter;
        true
    }

    fn report(&self, state: &State, params: &Params, evaluation: &Evaluation, observer: &mut dyn Observer) {
        observer.iteration(&Progress {
            phase: state.phase,
            iteration: state.iteration,
            iterations: state.end,
            rows: self.rows,
            elbo: evaluation.elbo,
            expected_log_likelihood: evaluation.expected_log_likelihood,
            kl_predictor: evaluation.kl_predictor,
            kl_flow: evaluation.kl_flow,
            noise: match params.likelihood {
                Likelihood::Gaussian { noise } => Some(noise),
                Likelihood::Bernoulli { .. } => None,
            },
            learning_rate: self.learning_rate(state),
        });
    }
}

fn is_finite(evaluation: &Evaluation) -> bool {
    evaluation.elbo.is_finite() && slopes(&evaluation.gradient).iter().all(|(_, slope)| slope.is_finite())
}

#[cfg(test)]
mod tests;
