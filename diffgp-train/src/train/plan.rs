//! A run as data: [`plan`] lists its stages before the first row is looked at, and one loop executes them.
//!
//! ```text
//! few rows, numbers:   exact Gaussian processes, before all stages, say where models without a flow start
//! kernel to be chosen: every candidate kernel, without a flow ── one of these:
//! without a flow:      no flow ── once more on all rows
//! with a flow:         warm start ── flow ── once more on all rows
//! to be chosen:        no flow ── warm start ── flow, fold by fold until it is clear ── the better of both on all rows
//! calibrated:          the model that is kept once more, without one share of the rows after the other
//! ```
//!
//! Stages before a choice change nothing after it but the number of iterations: the model that is chosen is the one that
//! would have been trained if its kernel and its flow time had been asked for. The last stage repeats it from its beginning with the validation rows
//! added, for as many iterations as they found best, on the average of the folds. It is left out for large sets, where the validation rows are a
//! small part of all.

use std::ops::Range;

use diffgp_core::kernel::KernelKind;
use serde::{Deserialize, Serialize};

use super::config::{ClimbConfig, Config, KernelName, Task};
use super::order::Cuts;
use crate::data::Dataset;
use crate::optimise::Schedule;

/// What a flow must add to the log-likelihood of a validation row to be worth K times the work on the device.
pub const WORTHWHILE_GAIN: f64 = 0.01;

/// What another kernel must add to it. A Matérn correlation takes a square root: 2.6 times the work along the drift
/// and 1.5 times along sampled paths, for D = 4 and M = 50 on a Cortex-M4F.
pub const WORTHWHILE_KERNEL_GAIN: f64 = 0.005;

/// Fewer rows than this leave none for validation.
pub(super) const ROWS_TO_SPLIT: usize = 20;

/// Without a flow a row costs so little that an iteration takes so many batches.
const BATCHES_WITHOUT_FLOW: usize = 10;

/// Natural-gradient step of q(u_g) on batches, and for classes, whose likelihood is not conjugate.
const BATCH_STEP: f64 = 0.2;
const CLASS_STEP: f64 = 0.1;

/// What a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// One after the other; later ones may refer to earlier ones by their index.
    pub stages: Vec<Stage>,
    /// How σ² is fitted together with q(u_g) after the last stage, on all rows; `None` leaves both as they are.
    pub last_fit: Option<NoiseFit>,
}

/// One climb of the bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is for.
    pub name: StageName,
    /// The kernels of its model.
    pub kernels: Kernels,
    /// Whether its model has a flow.
    pub flow: bool,
    /// What it starts from.
    pub start: Start,
    /// Which of the folds is kept aside.
    pub fold: usize,
    /// The rows of that fold, which validate and are not trained on: places in the random order of the run.
    pub validation: Range<usize>,
    /// Rows per iteration.
    pub batch: usize,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// When it ends.
    pub stop: Stop,
    /// Stages, one per fold, that this one repeats if their model was chosen, for as many iterations as validation rows
    /// found best, on the average of the folds.
    pub repeats: Vec<usize>,
    /// A comparison that this stage adds rows to; it is left out once that one is clear.
    pub unless_clear: Option<usize>,
    /// The stage whose model predicts its rows kept aside as this one does, which repeats it without them; left out unless
    /// that model is the one that is kept. They calibrate its error bars.
    pub calibrates: Option<usize>,
    /// What is fitted before the stage is compared with another; `None` if it is not compared.
    pub fit: Option<NoiseFit>,
    /// The earlier stage that it is compared with.
    pub comparison: Option<Comparison>,
}

/// Adam on all parameters, or natural gradients on q(u_g) and Adam on the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimiser {
    /// Adam's learning rate at the start.
    pub learning_rate: f64,
    /// How it develops.
    pub schedule: Schedule,
    /// γ of the natural gradients; zero for Adam alone.
    pub natural_step: f64,
}

/// When a climb ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Iterations at most.
    pub iterations: u64,
    /// Early stopping: after so many iterations without a better validation; zero means never.
    pub patience: u64,
}

/// What a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StageName {
    /// A short run without a flow to compare kernels by.
    CandidateKernel,
    /// The model without a flow: a sparse Gaussian process, T = 0.
    NoFlow,
    /// The sparse Gaussian process that a flow is put in front of.
    WarmStart,
    /// The whole model.
    Flow,
    /// The model without a flow once more, on all rows.
    NoFlowOnAllRows,
    /// The whole model once more, on all rows.
    FlowOnAllRows,
    /// The sparse Gaussian process of the next.
    CrossFitWarmStart,
    /// The model once more, without the rows that it then predicts.
    CrossFit,
}

/// Kernels of flow and predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kernels {
    /// These.
    Given {
        /// ρ_f.
        #[serde(with = "KernelName")]
        flow: KernelKind,
        /// ρ_g.
        #[serde(with = "KernelName")]
        predictor: KernelKind,
    },
    /// That of the exact Gaussian process that was found to be the best, for a model without a flow: its length-scales and
    /// σ² are where the stage starts.
    Searched,
    /// The same kernel for flow and predictor, but not its length-scales: a flow learns less in front of a predictor that
    /// explains everything already.
    SearchedKind,
    /// Those of the stage that won the comparison of this stage.
    WinnerOf(usize),
}

/// What a stage starts from. What is not learned yet is untrained: k-means points, q = prior, a flow that hardly moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// An untrained model.
    Untrained,
    /// The predictor that an earlier stage ended with.
    EndOf(usize),
}

/// Two stages, compared by the log-likelihood of the validation rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// An earlier stage; the winner of its own comparison wins unless there is a reason for the later one.
    pub with: usize,
    /// The same comparison on the fold before, whose rows count too.
    pub pooled_with: Option<usize>,
    /// What the later stage must add to the log-likelihood of a validation row to win.
    pub least_gain: f64,
}

/// How σ² is fitted while q(u_g) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoiseFit {
    /// Not at all.
    Keep,
    /// Without a flow, to the optimum of the bound.
    ToBound,
    /// The same, then by the log-likelihood of the validation rows.
    ToValidation,
}

/// The stages of a run with this many training rows.
pub fn plan(rows: usize, config: &Config) -> Plan {
    Planner { rows, config, cuts: Cuts::ANYWHERE }.plan()
}

/// The stages of a run with these rows. Rows of one group are kept aside together, or not at all.
pub fn plan_for(data: &Dataset, config: &Config) -> Plan {
    Planner { rows: data.rows(), config, cuts: Cuts::new(data, config.seed) }.plan()
}

impl Kernels {
    /// Whether exact Gaussian processes come first.
    pub(super) fn are_searched(self) -> bool {
        matches!(self, Self::Searched | Self::SearchedKind)
    }
}

impl Stage {
    /// Whether its iterations run through a flow.
    pub(super) fn has_flow(&self) -> bool {
        // A model that is cross-fitted starts from a warm start if it has one.
        self.flow || (self.name == StageName::CrossFit && self.start != Start::Untrained)
    }

    /// Whether there is a model without it: one of the same kind, or with the first of the kernels.
    pub(super) fn is_refinement(&self) -> bool {
        let is_candidate = self.name == StageName::CandidateKernel;
        is_candidate || self.unless_clear.is_some() || !self.repeats.is_empty() || self.calibrates.is_some()
    }
}

impl Plan {
    /// Whether another model is left if a stage diverges: one that it, or what starts from it, is compared with.
    pub(super) fn has_other(&self, index: usize) -> bool {
        let is_compared = |stage: &Stage, index: usize| {
            stage.comparison.is_some()
                || self.stages.iter().any(|other| other.comparison.is_some_and(|of| of.with == index))
        };
        let starts_here =
            |(later, stage): (usize, &Stage)| stage.start == Start::EndOf(index) && is_compared(stage, later);
        is_compared(&self.stages[index], index) || self.stages.iter().enumerate().any(starts_here)
    }
}

struct Planner<'a> {
    rows: usize,
    config: &'a Config,
    cuts: Cuts,
}

impl Planner<'_> {
    fn plan(&self) -> Plan {
        Plan { stages: self.stages(), last_fit: self.last_fit() }
    }

    fn stages(&self) -> Vec<Stage> {
        let (config, mut stages) = (self.config, Vec::new());
        let decides = config.validation.select && !self.validation(0).is_empty();
        let flow_wanted = config.flow.time > 0.0;
        let flow_to_choose = flow_wanted && config.flow.optional && config.validation.select;
        // A flow that is to be chosen is not tried where no row can speak for it.
        let has_flow = flow_wanted && (decides || !flow_to_choose);

        let mut kernels = Kernels::Given { flow: config.flow.kernel, predictor: config.predictor.kernel };
        if !config.searches(self.rows) && decides && !config.candidate_kernels.is_empty() {
            // Not by the validation rows: the kernel whose variance was further off would gain.
            let fit = Some(self.noise(NoiseFit::ToBound));
            stages.push(Stage { fit, ..self.stage(StageName::CandidateKernel, kernels, 0) });
            for &kernel in &config.candidate_kernels {
                let (with, least_gain) = (stages.len() - 1, WORTHWHILE_KERNEL_GAIN);
                let comparison = Some(Comparison { with, pooled_with: None, least_gain });
                let both = Kernels::Given { flow: kernel, predictor: kernel };
                stages.push(Stage { fit, comparison, ..self.stage(StageName::CandidateKernel, both, 0) });
            }
            kernels = Kernels::WinnerOf(stages.len() - 1);
        }
        if config.searches(self.rows) && !config.predictor.grows {
            kernels = Kernels::SearchedKind;
        }
        let compares = has_flow && flow_to_choose;
        let fit = (compares || config.grows(self.rows)).then(|| self.noise(self.final_noise()));
        // Where nothing is to be compared, one fold chooses the iteration.
        let folds = if compares { self.folds() } else { 1 };
        let (mut no_flow, mut flow) = (Vec::new(), Vec::<usize>::new());
        for fold in 0..folds {
            let unless_clear = flow.last().copied();
            if !has_flow || flow_to_choose {
                no_flow.push(stages.len());
                stages.push(Stage { fit, unless_clear, ..self.stage(StageName::NoFlow, kernels, fold) });
            }
            if has_flow {
                let warm_start = stages.len();
                stages.push(Stage { unless_clear, ..self.stage(StageName::WarmStart, kernels, fold) });
                let least_gain = WORTHWHILE_GAIN;
                let comparison = |&with| Comparison { with, pooled_with: unless_clear, least_gain };
                flow.push(stages.len());
                stages.push(Stage {
                    start: Start::EndOf(warm_start),
                    fit,
                    unless_clear,
                    comparison: no_flow.last().map(comparison),
                    ..self.stage(StageName::Flow, kernels, fold)
                });
            }
        }
        if decides && self.rows <= config.validation.again_rows {
            for (repeats, name) in [(no_flow, StageName::NoFlowOnAllRows), (flow, StageName::FlowOnAllRows)] {
                let Some(&first) = repeats.first() else { continue };
                let repeat = self.stage(name, kernels, 0);
                stages.push(Stage { start: stages[first].start, repeats, ..repeat });
            }
        }
        self.cross_fits(&mut stages);
        stages
    }

    /// Every model that may be kept once more, without one share of the rows after the other.
    fn cross_fits(&self, stages: &mut Vec<Stage>) {
        let folds = self.config.calibration.folds;
        if !self.config.cross_fits(self.rows) {
            return;
        }
        let ends_on_all_rows = stages.iter().any(|stage| stage.name.is_on_all_rows());
        let is_last = |stage: &Stage| {
            stage.name.is_model() && (stage.name.is_on_all_rows() || (!ends_on_all_rows && stage.validation.is_empty()))
        };
        let last: Vec<usize> = (0..stages.len()).filter(|&index| is_last(&stages[index])).collect();
        for model in last {
            let Stage { name, kernels, flow, .. } = stages[model];
            for fold in 0..folds {
                let end = |fold: usize| self.cuts.nearest(fold * self.rows / folds);
                let rows = end(fold)..end(fold + 1);
                // Of a group that is larger than a share of the rows.
                if rows.is_empty() {
                    continue;
                }
                let mut repeat = |of: StageName, name: StageName, start: Start| {
                    let stage = self.stage_without(of, kernels, fold, rows.clone());
                    stages.push(Stage { name, start, calibrates: Some(model), ..stage });
                    stages.len() - 1
                };
                let start = if flow {
                    Start::EndOf(repeat(StageName::WarmStart, StageName::CrossFitWarmStart, Start::Untrained))
                } else {
                    Start::Untrained
                };
                repeat(name, StageName::CrossFit, start);
            }
        }
    }

    /// A stage that starts untrained and is compared with none.
    fn stage(&self, name: StageName, kernels: Kernels, fold: usize) -> Stage {
        let validation = if name.is_on_all_rows() { 0..0 } else { self.validation(fold) };
        self.stage_without(name, kernels, fold, validation)
    }

    /// The same without these rows.
    fn stage_without(&self, name: StageName, kernels: Kernels, fold: usize, validation: Range<usize>) -> Stage {
        let config = self.config;
        let (climb, batches) = match name {
            StageName::CandidateKernel => (config.candidate, BATCHES_WITHOUT_FLOW),
            // The exact Gaussian process is there already.
            StageName::NoFlow | StageName::NoFlowOnAllRows if config.grows(self.rows) => {
                (ClimbConfig { iterations: 0, ..config.no_flow }, BATCHES_WITHOUT_FLOW)
            }
            StageName::NoFlow | StageName::NoFlowOnAllRows => (config.no_flow, BATCHES_WITHOUT_FLOW),
            // A warm start need not be better than the flow can keep it.
            StageName::WarmStart | StageName::CrossFitWarmStart => (config.warm_start, 1),
            StageName::Flow | StageName::FlowOnAllRows | StageName::CrossFit => (config.with_flow, 1),
        };
        let alone = matches!(name, StageName::NoFlow | StageName::NoFlowOnAllRows);
        let kernels = if alone && config.searches(self.rows) { Kernels::Searched } else { kernels };
        let training = self.rows - validation.len();
        let batch = config.batch.saturating_mul(batches).min(training);
        let natural_step = climb.natural_step.unwrap_or(match config.task {
            Task::Classification => CLASS_STEP,
            // Of all rows, or of more than a batch, q(u_g) takes the optimum.
            Task::Regression if batch > config.batch || batch == training => 1.0,
            Task::Regression => BATCH_STEP,
        });
        Stage {
            name,
            kernels,
            flow: matches!(name, StageName::Flow | StageName::FlowOnAllRows),
            start: Start::Untrained,
            fold,
            validation,
            batch,
            optimiser: Optimiser { learning_rate: climb.learning_rate, schedule: climb.schedule, natural_step },
            stop: Stop { iterations: climb.iterations, patience: climb.patience },
            repeats: Vec::new(),
            unless_clear: None,
            calibrates: None,
            fit: None,
            comparison: None,
        }
    }

    fn last_fit(&self) -> Option<NoiseFit> {
        let fit = || {
            if self.config.grows(self.rows) {
                NoiseFit::ToBound
            } else if self.fits_noise(self.rows) {
                self.final_noise()
            } else {
                NoiseFit::Keep
            }
        };
        (self.config.refit.paths > 0).then(fit)
    }

    fn validation(&self, fold: usize) -> Range<usize> {
        let share = (self.rows as f64 * self.config.validation.fraction) as usize;
        let apart = if self.config.keeps_apart() { self.config.calibration.max_rows } else { 0 };
        let most = self.config.validation.max_rows.max(apart);
        let rows = if self.rows >= ROWS_TO_SPLIT { share.min(most) } else { 0 };
        self.cuts.nearest(fold * rows)..self.cuts.nearest((fold + 1) * rows)
    }

    /// As many as asked for, or as there are.
    fn folds(&self) -> usize {
        let most = self.rows.checked_div(self.validation(0).len()).unwrap_or(1);
        self.config.validation.folds.min(most)
    }

    /// By the validation rows, if there are some that are not trained on in the end.
    fn final_noise(&self) -> NoiseFit {
        let trained_on = self.rows <= self.config.validation.again_rows.max(self.config.batch);
        if self.validation(0).is_empty() || trained_on { NoiseFit::ToBound } else { NoiseFit::ToValidation }
    }

    /// This fit of σ² on the training rows, if there is to be one.
    fn noise(&self, fit: NoiseFit) -> NoiseFit {
        if self.config.grows(self.rows) {
            return NoiseFit::ToBound;
        }
        if self.fits_noise(self.rows - self.validation(0).len()) { fit } else { NoiseFit::Keep }
    }

    /// Beyond a batch of rows, and without a prior on σ², which would have to be weighed against the rows.
    fn fits_noise(&self, rows: usize) -> bool {
        let config = self.config;
        config.task == Task::Regression && rows > config.batch && config.regularisation.noise.is_none()
    }
}

impl StageName {
    /// Whether its model may be the one that is kept.
    pub fn is_model(self) -> bool {
        matches!(self, Self::NoFlow | Self::Flow | Self::NoFlowOnAllRows | Self::FlowOnAllRows)
    }

    /// Whether the validation rows are trained on.
    pub fn is_on_all_rows(self) -> bool {
        matches!(self, Self::NoFlowOnAllRows | Self::FlowOnAllRows)
    }

    /// One word, for files.
    pub fn id(self) -> &'static str {
        match self {
            Self::CandidateKernel => "candidate_kernel",
            Self::NoFlow => "no_flow",
            Self::WarmStart => "warm_start",
            Self::Flow => "flow",
            Self::NoFlowOnAllRows => "no_flow_on_all_rows",
            Self::FlowOnAllRows => "flow_on_all_rows",
            Self::CrossFitWarmStart => "cross_fit_warm_start",
            Self::CrossFit => "cross_fit",
        }
    }
}

#[cfg(test)]
mod tests;
