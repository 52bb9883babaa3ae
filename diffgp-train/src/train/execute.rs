//! The loop that executes a plan, and what it remembers of the stages that have ended.

use diffgp_core::kernel::KernelKind;
use serde::{Deserialize, Serialize};

use super::climb::{Climb, ClimbState, Objective};
use super::config::Config;
use super::error::TrainError;
use super::initial::Initial;
use super::objective::{DataObjective, Standardised};
use super::observer::{Observer, StageId, Validated};
use super::plan::{Kernels, NoiseFit, Plan, StageName, Start};
use super::refit::{self, FitRows};
use super::rows::StageRows;
use crate::checkpoint::Checkpoint;
use crate::elbo::ElboError;
use crate::optimise::{pack, unpack};
use crate::params::Params;
use crate::score::Score;
use crate::threads::Threads;

/// A run between two iterations: what a checkpoint must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What is executed.
    pub plan: Plan,
    /// The stages that have ended; the next one is being executed.
    pub ended: Vec<Ended>,
    /// Where that stage is; `None` before it begins.
    pub climb: Option<ClimbState>,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// It was to repeat a stage that was not chosen.
    Skipped,
    /// No step led to a finite bound.
    Diverged,
    /// It has parameters.
    Finished(Outcome),
}

/// What a stage ended with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// θ: the best validated, or the last.
    pub theta: Vec<f64>,
    /// The jitter in use at the end.
    pub jitter: f64,
    /// The iteration that θ is of.
    pub iteration: u64,
    /// Its log-likelihood of the validation rows, if it was chosen by that.
    pub log_likelihood: Option<f64>,
    /// The same after the fits that end training, if the stage is compared with another.
    pub fitted_log_likelihood: Option<f64>,
}

/// The parameters that a run ends with, before the last fit.
pub(super) struct Chosen {
    pub(super) params: Params,
    pub(super) iteration: u64,
    pub(super) log_likelihood: Option<f64>,
    pub(super) kernel_gain: Option<f64>,
    pub(super) flow_gain: Option<f64>,
}

/// What all stages share.
pub(super) struct Executor<'a> {
    pub(super) config: &'a Config,
    pub(super) rows_of: Standardised<'a>,
    pub(super) initial: Initial,
    pub(super) threads: &'a Threads,
    /// The data set's, for checkpoints.
    pub(super) fingerprint: u64,
}

impl Run {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, ended: Vec::new(), climb: None }
    }

    /// The stage that is being executed.
    pub fn stage(&self) -> usize {
        self.ended.len()
    }

    fn outcome(&self, stage: usize) -> Option<&Outcome> {
        match self.ended.get(stage) {
            Some(Ended::Finished(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// What a stage adds to the log-likelihood of a validation row, compared with the one that it is compared with.
    fn gain(&self, stage: usize) -> Option<f64> {
        let fitted = |stage| self.outcome(stage)?.fitted_log_likelihood;
        Some(fitted(stage)? - fitted(self.winner(self.plan.stages[stage].comparison?.with))?)
    }

    /// The winner of the comparison of a stage; that stage if it is compared with none.
    fn winner(&self, stage: usize) -> usize {
        match self.plan.stages[stage].comparison {
            Some(comparison) if self.gain(stage).is_none_or(|gain| gain < comparison.least_gain) => {
                self.winner(comparison.with)
            }
            _ => stage,
        }
    }

    /// ρ_f and ρ_g of a stage.
    fn kernels(&self, stage: usize) -> (KernelKind, KernelKind) {
        match self.plan.stages[stage].kernels {
            Kernels::Given { flow, predictor } => (flow, predictor),
            Kernels::WinnerOf(earlier) => self.kernels(self.winner(earlier)),
        }
    }

    /// The stage whose model is kept.
    fn chosen(&self) -> Option<usize> {
        let last = (0..self.ended.len()).rev().find(|&stage| self.outcome(stage).is_some())?;
        Some(self.winner(last))
    }

    /// What the flow, or else the other kernel, adds.
    fn decided_gain(&self, flow: bool) -> Option<f64> {
        (0..self.ended.len()).filter(|&stage| self.plan.stages[stage].flow == flow).find_map(|stage| self.gain(stage))
    }
}

impl Executor<'_> {
    /// Executes what is left of a run.
    pub(super) fn execute(&self, mut run: Run, observer: &mut dyn Observer) -> Result<Chosen, TrainError> {
        while run.stage() < run.plan.stages.len() {
            let ended = self.stage(&mut run, observer)?;
            run.climb = None;
            run.ended.push(ended);
        }
        let stage = run.chosen().ok_or(TrainError::Diverged { iteration: 0 })?;
        let validated = run.outcome(run.plan.stages[stage].repeats.unwrap_or(stage));
        Ok(Chosen {
            iteration: validated.map_or(0, |outcome| outcome.iteration),
            log_likelihood: validated.and_then(|outcome| outcome.log_likelihood),
            params: self.params(&run, stage),
            kernel_gain: run.decided_gain(false),
            flow_gain: run.decided_gain(true),
        })
    }
}

impl Executor<'_> {
    /// Executes one stage, from its beginning or from where it was left.
    fn stage(&self, run: &mut Run, observer: &mut dyn Observer) -> Result<Ended, TrainError> {
        let index = run.stage();
        let Some(start) = run.climb.take().or_else(|| self.start(run, index)) else { return Ok(Ended::Skipped) };
        let stage = &run.plan.stages[index];
        let rows = StageRows::new(self.rows_of.data.rows(), self.config.seed, stage);
        let climb = Climb::new(self.config, stage, index, self.template(run, index), rows.training_count());
        let validation = rows.validation();
        let mut objective =
            DataObjective { rows_of: self.rows_of, config: self.config, threads: self.threads, rows, validation };
        let checkpoint = |state: &ClimbState, observer: &mut dyn Observer| {
            let run = Run { climb: Some(state.clone()), ..run.clone() };
            observer
                .checkpoint(&Checkpoint::new((self.fingerprint, self.rows_of.data.rows()), self.config, run))
                .map_err(TrainError::from)
        };
        let end = match climb.run(start, &mut objective, observer, &checkpoint) {
            Ok(end) => end,
            // A kernel that cannot be trained has no score.
            Err(TrainError::Diverged { .. }) if stage.name == StageName::CandidateKernel => return Ok(Ended::Diverged),
            Err(error) => return Err(error),
        };
        let fitted_log_likelihood = match stage.fit.filter(|_| end.best.is_some()) {
            Some(noise_fit) => {
                let params = climb.params(climb.chosen(&end), end.jitter);
                let score = self.fitted_score(params, noise_fit, &mut objective)?;
                if let Some(score) = score {
                    // Of the best iterate, but after the fits: no better look than the one that chose it.
                    let stage = StageId { index, name: stage.name };
                    observer.validation(&Validated { stage, iteration: end.iteration, score, best: false });
                }
                score.map(|score| score.log_likelihood)
            }
            None => None,
        };
        let best = end.best.as_ref().filter(|_| self.config.validation.select);
        Ok(Ended::Finished(Outcome {
            theta: climb.chosen(&end).to_vec(),
            jitter: end.jitter,
            iteration: best.map_or(end.iteration, |best| best.iteration),
            log_likelihood: best.map(|best| best.log_likelihood),
            fitted_log_likelihood,
        }))
    }

    /// The beginning of a stage; `None` if it repeats one that was not chosen, or not by validation rows.
    fn start(&self, run: &Run, index: usize) -> Option<ClimbState> {
        let stage = &run.plan.stages[index];
        let mut params = match stage.start {
            Start::Untrained => self.initial.sparse.clone(),
            Start::EndOf(earlier) => self.params(run, earlier),
        };
        let mut iterations = stage.stop.iterations;
        if let Some(first) = stage.repeats {
            let outcome = run.outcome(first).filter(|outcome| outcome.log_likelihood.is_some())?;
            if run.chosen() != Some(first) {
                return None;
            }
            (params.jitter, iterations) = (outcome.jitter, outcome.iteration);
            let theta = pack(&params);
            unpack(&theta, &mut params);
        }
        params.flow = self.initial.flow.clone().filter(|_| stage.flow);
        Some(ClimbState::new(&params, self.config.averaging.is_some(), iterations))
    }

    /// The score that counts in comparisons: after q(u_g) and σ² were fitted to the training rows, as for the final model.
    /// How far σ² is from its optimum before that says nothing about the model. `None` if rows cannot be predicted.
    fn fitted_score(
        &self,
        mut params: Params,
        noise_fit: NoiseFit,
        objective: &mut DataObjective<'_>,
    ) -> Result<Option<Score>, TrainError> {
        let training = objective.rows.training(self.config.refit.max_rows);
        let total = objective.rows.training_count();
        let rows = FitRows { training: &training, total, validation: &objective.validation };
        let fitted = match self.config.refit.paths {
            0 => Ok(false),
            _ => refit::refit(&mut params, self.rows_of, rows, noise_fit, self.config, self.threads),
        };
        match fitted.and_then(|_| Ok(objective.validate(&params)?)) {
            Err(TrainError::Elbo(ElboError::NotPositiveDefinite { .. })) => Ok(None),
            score => Ok(score?.filter(|score| score.log_likelihood.is_finite())),
        }
    }

    /// The parameters that a stage ended with.
    fn params(&self, run: &Run, index: usize) -> Params {
        let mut params = self.template(run, index);
        if let Some(outcome) = run.outcome(index) {
            params.jitter = outcome.jitter;
            unpack(&outcome.theta, &mut params);
        }
        params
    }

    /// Untrained parameters of the shape and with the kernels of a stage.
    fn template(&self, run: &Run, index: usize) -> Params {
        let stage = &run.plan.stages[index];
        let mut params =
            Params { flow: self.initial.flow.clone().filter(|_| stage.flow), ..self.initial.sparse.clone() };
        let (flow, predictor) = run.kernels(index);
        params.predictor.kernel.kind = predictor;
        params.flow.iter_mut().flat_map(|of_flow| &mut of_flow.kernels).for_each(|kernel| kernel.kind = flow);
        params
    }
}
