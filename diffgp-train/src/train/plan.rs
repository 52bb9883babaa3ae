//! A run as data: [`plan`] lists its stages before the first row is looked at, and one loop executes them.
//!
//! ```text
//! kernel to be chosen: every candidate kernel, without a flow ── one of these:
//! without a flow:      no flow ── once more on all rows
//! with a flow:         warm start ── flow ── once more on all rows
//! to be chosen:        no flow ── warm start ── flow ── the better of both once more on all rows
//! ```
//!
//! Stages before a choice change nothing after it: the model that is chosen is the one that would have been trained if its
//! kernel and its flow time had been asked for. The last stage repeats it from its beginning with the validation rows
//! added, for as many iterations as they found best. It is left out for large sets, where the validation rows are a
//! small part of all.

use std::ops::Range;

use diffgp_core::kernel::KernelKind;
use serde::{Deserialize, Serialize};

use super::config::{Config, KernelName, Task};
use crate::optimise::Schedule;

/// What a flow must add to the log-likelihood of a validation row to be worth K times the work on the device.
pub const WORTHWHILE_GAIN: f64 = 0.01;

/// What another kernel must add to it. A Matérn correlation takes a square root: 2.6 times the work along the drift
/// and 1.5 times along sampled paths, for D = 4 and M = 50 on a Cortex-M4F.
pub const WORTHWHILE_KERNEL_GAIN: f64 = 0.005;

/// Fewer rows than this leave none for validation.
const ROWS_TO_SPLIT: usize = 20;

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
    /// The rows that validate and are not trained on: places in the random order of the run.
    pub validation: Range<usize>,
    /// Rows per iteration.
    pub batch: usize,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// When it ends.
    pub stop: Stop,
    /// A stage that this one repeats, if that one was chosen, for as many iterations as validation rows found best.
    pub repeats: Option<usize>,
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
    let planner = Planner { rows, config };
    Plan { stages: planner.stages(), last_fit: planner.last_fit() }
}

struct Planner<'a> {
    rows: usize,
    config: &'a Config,
}

impl Planner<'_> {
    fn stages(&self) -> Vec<Stage> {
        let (config, mut stages) = (self.config, Vec::new());
        let decides = config.validation.select && !self.validation().is_empty();
        let flow_wanted = config.flow.time > 0.0;
        let flow_to_choose = flow_wanted && config.flow.optional && config.validation.select;
        // A flow that is to be chosen is not tried where no row can speak for it.
        let has_flow = flow_wanted && (decides || !flow_to_choose);

        let mut kernels = Kernels::Given { flow: config.flow.kernel, predictor: config.predictor.kernel };
        if decides && !config.candidate_kernels.is_empty() {
            // Not by the validation rows: the kernel whose variance was further off would gain.
            let fit = Some(self.noise(NoiseFit::ToBound));
            stages.push(Stage { fit, ..self.stage(StageName::CandidateKernel, kernels) });
            for &kernel in &config.candidate_kernels {
                let comparison = Some(Comparison { with: stages.len() - 1, least_gain: WORTHWHILE_KERNEL_GAIN });
                let both = Kernels::Given { flow: kernel, predictor: kernel };
                stages.push(Stage { fit, comparison, ..self.stage(StageName::CandidateKernel, both) });
            }
            kernels = Kernels::WinnerOf(stages.len() - 1);
        }
        let fit = (has_flow && flow_to_choose).then(|| self.noise(self.final_noise()));
        let mut no_flow = None;
        if !has_flow || flow_to_choose {
            no_flow = Some(stages.len());
            stages.push(Stage { fit, ..self.stage(StageName::NoFlow, kernels) });
        }
        let mut flow = None;
        if has_flow {
            let warm_start = stages.len();
            stages.push(self.stage(StageName::WarmStart, kernels));
            flow = Some(stages.len());
            stages.push(Stage {
                start: Start::EndOf(warm_start),
                fit,
                comparison: no_flow.map(|with| Comparison { with, least_gain: WORTHWHILE_GAIN }),
                ..self.stage(StageName::Flow, kernels)
            });
        }
        if decides && self.rows <= config.validation.again_rows {
            for (first, name) in [(no_flow, StageName::NoFlowOnAllRows), (flow, StageName::FlowOnAllRows)] {
                let Some(index) = first else { continue };
                let repeat = self.stage(name, kernels);
                stages.push(Stage { start: stages[index].start, repeats: Some(index), ..repeat });
            }
        }
        stages
    }

    /// A stage that starts untrained and is compared with none.
    fn stage(&self, name: StageName, kernels: Kernels) -> Stage {
        let config = self.config;
        let (climb, batches) = match name {
            StageName::CandidateKernel => (config.candidate, BATCHES_WITHOUT_FLOW),
            StageName::NoFlow | StageName::NoFlowOnAllRows => (config.no_flow, BATCHES_WITHOUT_FLOW),
            // A warm start need not be better than the flow can keep it.
            StageName::WarmStart => (config.warm_start, 1),
            StageName::Flow | StageName::FlowOnAllRows => (config.with_flow, 1),
        };
        let validation = if name.is_on_all_rows() { 0..0 } else { self.validation() };
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
            validation,
            batch,
            optimiser: Optimiser { learning_rate: climb.learning_rate, schedule: climb.schedule, natural_step },
            stop: Stop { iterations: climb.iterations, patience: climb.patience },
            repeats: None,
            fit: None,
            comparison: None,
        }
    }

    fn last_fit(&self) -> Option<NoiseFit> {
        let fit = || if self.fits_noise(self.rows) { self.final_noise() } else { NoiseFit::Keep };
        (self.config.refit.paths > 0).then(fit)
    }

    fn validation(&self) -> Range<usize> {
        let share = (self.rows as f64 * self.config.validation.fraction) as usize;
        0..if self.rows >= ROWS_TO_SPLIT { share.min(self.config.validation.max_rows) } else { 0 }
    }

    /// By the validation rows, if there are some that are not trained on in the end.
    fn final_noise(&self) -> NoiseFit {
        let trained_on = self.rows <= self.config.validation.again_rows.max(self.config.batch);
        if self.validation().is_empty() || trained_on { NoiseFit::ToBound } else { NoiseFit::ToValidation }
    }

    /// This fit of σ² on the training rows, if there is to be one.
    fn noise(&self, fit: NoiseFit) -> NoiseFit {
        if self.fits_noise(self.rows - self.validation().len()) { fit } else { NoiseFit::Keep }
    }

    /// Beyond a batch of rows, and without a prior on σ², which would have to be weighed against the rows.
    fn fits_noise(&self, rows: usize) -> bool {
        let config = self.config;
        config.task == Task::Regression && rows > config.batch && config.regularisation.noise.is_none()
    }
}

impl StageName {
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
        }
    }
}

#[cfg(test)]
mod tests;
