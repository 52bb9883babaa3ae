//! The loop that executes a plan, and what it remembers of the stages that have ended.

use diffgp_core::kernel::KernelKind;
use serde::{Deserialize, Serialize};

use super::climb::{Climb, ClimbState};
use super::config::Config;
use super::cut::Cutter;
use super::error::TrainError;
use super::initial::Initial;
use super::objective::{DataObjective, Paths, Standardised};
use super::observer::{Observer, StageId, Validated, Warning};
use super::plan::{Kernels, NoiseFit, Plan, Stage, StageName, Start};
use super::refit::{self, FitRows};
use super::rows::StageRows;
use crate::checkpoint::Checkpoint;
use crate::comparison::Gain;
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
    /// It was not needed: it would repeat a stage that was not chosen, or decide what is clear.
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
    /// That of every validation row after the fits that end training, if the stage is compared with another.
    pub fitted: Vec<f64>,
}

/// The parameters that a run ends with, before the last fit.
pub(super) struct Chosen {
    pub(super) params: Params,
    pub(super) iteration: u64,
    pub(super) log_likelihood: Option<f64>,
    pub(super) kernel_gain: Option<Gain>,
    pub(super) flow_gain: Option<Gain>,
    /// What calibrates: stages that left out a share of the rows, and the parameters they ended with.
    pub(super) cross_fitted: Vec<(usize, Params)>,
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

    /// What a stage adds to the log-likelihood of a validation row, over all folds so far; `None` if either has none.
    fn gain(&self, stage: usize) -> Option<Gain> {
        let (mut later, mut earlier) = (Vec::new(), Vec::new());
        let mut place = Some(stage);
        while let Some(comparison) = place.and_then(|stage| self.plan.stages[stage].comparison) {
            let with = self.winner(comparison.with);
            if let (Some(ours), Some(theirs)) = (place.and_then(|stage| self.outcome(stage)), self.outcome(with)) {
                // A model that cannot predict its validation rows says nothing about them.
                if ours.fitted.len() == theirs.fitted.len() {
                    later.extend_from_slice(&ours.fitted);
                    earlier.extend_from_slice(&theirs.fitted);
                }
            }
            place = comparison.pooled_with;
        }
        Gain::paired(&later, &earlier)
    }

    /// The winner of the comparison of a stage; that stage if it is compared with none. What diverged loses.
    fn winner(&self, stage: usize) -> usize {
        let Some(comparison) = self.plan.stages[stage].comparison else { return stage };
        let with = self.winner(comparison.with);
        let wins = match (self.outcome(stage), self.outcome(with)) {
            (Some(_), Some(_)) => self.gain(stage).is_some_and(|gain| gain.is_worth(comparison.least_gain)),
            (ours, theirs) => ours.is_some() && theirs.is_none(),
        };
        if wins { stage } else { with }
    }

    /// Whether more folds would hardly change a comparison.
    fn is_clear(&self, stage: usize) -> bool {
        let least_gain = self.plan.stages[stage].comparison.map_or(0.0, |comparison| comparison.least_gain);
        self.outcome(stage).is_none() || self.gain(stage).is_none_or(|gain| gain.is_clear(least_gain))
    }

    /// ρ_f and ρ_g of a stage; `None` for what the search found.
    fn kernels(&self, stage: usize) -> Option<(KernelKind, KernelKind)> {
        match self.plan.stages[stage].kernels {
            Kernels::Given { flow, predictor } => Some((flow, predictor)),
            Kernels::Searched | Kernels::SearchedKind => None,
            Kernels::WinnerOf(earlier) => self.kernels(self.winner(earlier)),
        }
    }

    /// The stage whose model is kept.
    fn chosen(&self) -> Option<usize> {
        let is_model = |&stage: &usize| {
            let ended = &self.ended[stage];
            *ended != Ended::Skipped && self.plan.stages[stage].name.is_model()
        };
        // Of a fold that was left in the middle, the comparison of the folds before counts.
        let decides = |&stage: &usize| {
            let Stage { name, comparison, .. } = &self.plan.stages[stage];
            comparison.is_some() || name.is_on_all_rows()
        };
        let models = || (0..self.ended.len()).rev().filter(is_model);
        let last = models().find(decides).or_else(|| models().next())?;
        Some(self.winner(last)).filter(|&stage| self.outcome(stage).is_some())
    }

    /// The best iteration of a stage, or of those that it repeats, and its log-likelihood: averages over their folds.
    fn validated(&self, stage: usize) -> (u64, Option<f64>) {
        let repeats = &self.plan.stages[stage].repeats;
        let stages = if repeats.is_empty() { std::slice::from_ref(&stage) } else { repeats };
        let ended: Vec<&Outcome> = stages.iter().filter_map(|&stage| self.outcome(stage)).collect();
        let count = ended.len().max(1) as f64;
        let iterations: u64 = ended.iter().map(|outcome| outcome.iteration).sum();
        let log_likelihood: Option<f64> = ended.iter().map(|outcome| outcome.log_likelihood).sum();
        ((iterations as f64 / count).round() as u64, log_likelihood.map(|sum| sum / count))
    }

    /// The stages that left out a share of the rows and predict it.
    fn cross_fitted(&self) -> impl Iterator<Item = usize> + '_ {
        let ended = |&stage: &usize| self.outcome(stage).is_some();
        (0..self.ended.len()).filter(|&stage| self.plan.stages[stage].name == StageName::CrossFit).filter(ended)
    }

    /// What the flow, or else the other kernel, adds.
    fn decided_gain(&self, flow: bool) -> Option<Gain> {
        let of_kind = |&stage: &usize| self.plan.stages[stage].flow == flow && self.outcome(stage).is_some();
        (0..self.ended.len()).rev().filter(of_kind).find_map(|stage| self.gain(stage))
    }
}

impl Executor<'_> {
    /// Executes what is left of a run.
    pub(super) fn execute(&self, mut run: Run, observer: &mut Cutter<'_>) -> Result<Chosen, TrainError> {
        while run.stage() < run.plan.stages.len() {
            let was_cut = observer.cut().is_some();
            let is_refinement = run.plan.stages[run.stage()].is_refinement();
            let is_needed = !was_cut || (run.chosen().is_none() && !is_refinement);
            let mut ended = if is_needed { self.stage(&mut run, observer)? } else { Ended::Skipped };
            if is_refinement && observer.cut().is_some() {
                ended = Ended::Skipped;
            }
            run.climb = None;
            run.ended.push(ended);
        }
        let stage = run.chosen().ok_or(TrainError::Diverged { iteration: 0 })?;
        let (iteration, log_likelihood) = run.validated(stage);
        Ok(Chosen {
            iteration,
            log_likelihood,
            params: self.params(&run, stage),
            kernel_gain: run.decided_gain(false),
            flow_gain: run.decided_gain(true),
            cross_fitted: self.cross_fitted(&run, stage, observer.cut().is_some()),
        })
    }

    /// What calibrates. If nothing was left out before the run was cut, the validation rows of the model do, or those of the
    /// models that it repeats on all rows.
    fn cross_fitted(&self, run: &Run, chosen: usize, is_cut: bool) -> Vec<(usize, Params)> {
        let mut stages: Vec<usize> = run.cross_fitted().collect();
        let is_planned = self.config.cross_fits(self.rows_of.data.rows());
        if stages.is_empty() && is_cut && is_planned {
            let repeats = &run.plan.stages[chosen].repeats;
            stages = if repeats.is_empty() { vec![chosen] } else { repeats.clone() };
            let has_rows = |&stage: &usize| !run.plan.stages[stage].validation.is_empty();
            stages.retain(|stage| run.outcome(*stage).is_some() && has_rows(stage));
        }
        stages.into_iter().map(|stage| (stage, self.params(run, stage))).collect()
    }

    /// Executes one stage, from its beginning or from where it was left.
    fn stage(&self, run: &mut Run, observer: &mut dyn Observer) -> Result<Ended, TrainError> {
        let index = run.stage();
        let Some(start) = run.climb.take().or_else(|| self.start(run, index)) else { return Ok(Ended::Skipped) };
        let stage = &run.plan.stages[index];
        let rows = StageRows::new(self.rows_of.data, self.config.seed, stage);
        let id = StageId { index, name: stage.name, fold: stage.fold };
        let climb = Climb::new(self.config, stage, index, self.template(run, index), rows.training_count());
        let mut validation = rows.validation();
        // Rows that calibrate must not be looked at before.
        validation.truncate(if stage.calibrates.is_some() { 0 } else { self.config.validation.max_rows });
        let mut objective =
            DataObjective { rows_of: self.rows_of, config: self.config, threads: self.threads, rows, validation };
        let checkpoint = |state: &ClimbState, observer: &mut dyn Observer| {
            let run = Run { climb: Some(state.clone()), ..run.clone() };
            observer
                .checkpoint(&Checkpoint::new((self.fingerprint, self.rows_of.data.rows()), self.config, run))
                .map_err(TrainError::from)
        };
        // A climb looks for an interrupt itself; what has no iterations ends with a fit that may be long.
        if start.end == 0 && observer.should_stop() {
            checkpoint(&start, observer)?;
            return Err(TrainError::Stopped { iteration: 0 });
        }
        if start.end == 0 && observer.should_finish() {
            checkpoint(&start, observer)?;
        }
        let end = match climb.run(start, &mut objective, observer, &checkpoint) {
            Ok(end) => end,
            // What cannot be trained loses; if it is compared with nothing, nothing is left.
            Err(TrainError::Diverged { iteration }) if run.plan.has_other(index) || stage.calibrates.is_some() => {
                observer.warning(&Warning::Diverged { stage: id.name, iteration });
                return Ok(Ended::Diverged);
            }
            Err(error) => return Err(error),
        };
        let (theta, jitter) = climb.chosen(&end);
        let (mut fitted, mut grown) = (Vec::new(), None);
        if let Some(noise_fit) = stage.fit.filter(|_| end.best.is_some())
            && let Some((score, rows)) = self.fitted_score(climb.params(theta, jitter), noise_fit, &objective)?
        {
            // Of the best iterate, but after the fits: no better look than the one that chose it.
            observer.validation(&Validated { stage: id, iteration: end.iteration, score, best: false });
            grown = self.config.grows(self.rows_of.data.rows()).then_some(score.log_likelihood);
            fitted = rows;
        }
        let best = end.best.as_ref().filter(|_| self.config.validation.select);
        Ok(Ended::Finished(Outcome {
            theta: theta.to_vec(),
            jitter,
            iteration: best.map_or(end.iteration, |best| best.iteration),
            // Where points are added afterwards, what counts is the log-likelihood with them.
            log_likelihood: best.map(|best| grown.unwrap_or(best.log_likelihood)),
            fitted,
        }))
    }

    /// The beginning of a stage; `None` if it is not needed, or what it starts from diverged.
    pub(super) fn start(&self, run: &Run, index: usize) -> Option<ClimbState> {
        let stage = &run.plan.stages[index];
        if stage.unless_clear.is_some_and(|comparison| run.is_clear(comparison)) {
            return None;
        }
        let template = self.template(run, index);
        let (mut theta, mut jitter, mut iterations) = (pack(&template), template.jitter, stage.stop.iterations);
        if let Start::EndOf(earlier) = stage.start {
            // The predictor stands behind the flow.
            let outcome = run.outcome(earlier)?;
            let flow = theta.len().checked_sub(outcome.theta.len())?;
            theta[flow..].copy_from_slice(&outcome.theta);
            jitter = outcome.jitter;
        }
        if let Some(model) = stage.calibrates {
            if run.chosen() != Some(model) {
                return None;
            }
            if stage.name == StageName::CrossFit {
                iterations = run.outcome(model)?.iteration;
            }
        }
        if !stage.repeats.is_empty() {
            let chosen = run.chosen().filter(|chosen| stage.repeats.contains(chosen))?;
            run.outcome(chosen)?.log_likelihood?;
            iterations = run.validated(index).0;
            let folds = stage.repeats.iter().filter_map(|&fold| run.outcome(fold));
            jitter = folds.fold(jitter, |jitter, fold| jitter.max(fold.jitter));
        }
        Some(ClimbState::new(theta, jitter, self.config.averaging.is_some(), iterations))
    }

    /// The score that counts in comparisons: after q(u_g) and σ² were fitted to the training rows, as for the final model.
    /// How far σ² is from its optimum before that says nothing about the model. With the score of every row; `None` if rows
    /// cannot be predicted.
    fn fitted_score(
        &self,
        mut params: Params,
        noise_fit: NoiseFit,
        objective: &DataObjective<'_>,
    ) -> Result<Option<(Score, Vec<f64>)>, TrainError> {
        let training = objective.rows.training(self.config.refit.max_rows);
        let total = objective.rows.training_count();
        let rows = FitRows { training: &training, total, validation: &objective.validation };
        let fitted = match self.config.refit.paths {
            0 => Ok(None),
            _ => refit::refit(&mut params, self.rows_of, rows, noise_fit, self.config, self.threads),
        };
        let paths = Paths::to_decide(self.config, self.threads);
        match fitted.and_then(|_| Ok(self.rows_of.score_rows(&params, &objective.validation, paths)?)) {
            Err(TrainError::Elbo(ElboError::NotPositiveDefinite { .. }) | TrainError::NotPositiveDefinite(_)) => {
                Ok(None)
            }
            scored => Ok(Some(scored?).filter(|(score, _)| score.log_likelihood.is_finite())),
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
    pub(super) fn template(&self, run: &Run, index: usize) -> Params {
        let stage = &run.plan.stages[index];
        if stage.kernels == Kernels::Searched {
            return self.initial.searched.clone();
        }
        let searched = self.initial.searched.predictor.kernel(0).kind;
        let (flow, predictor) = run.kernels(index).unwrap_or((searched, searched));
        let mut params =
            Params { flow: self.initial.flow.clone().filter(|_| stage.flow), ..self.initial.sparse.clone() };
        params.predictor.kernels.iter_mut().for_each(|kernel| kernel.kind = predictor);
        params.flow.iter_mut().flat_map(|of_flow| &mut of_flow.field.kernels).for_each(|kernel| kernel.kind = flow);
        params
    }
}
