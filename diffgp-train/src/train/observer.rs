//! What a run tells its caller while it works; the library itself never prints.

use std::fmt;
use std::time::Duration;

use super::plan::{Plan, StageName};
use crate::checkpoint::Checkpoint;
use crate::score::Score;

/// A stage of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageId {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// What it is for.
    pub name: StageName,
    /// Which fold is kept aside.
    pub fold: usize,
}

/// One iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which part of the run.
    pub stage: StageId,
    /// The iteration of that part, from 0.
    pub iteration: u64,
    /// How many there will be at most.
    pub iterations: u64,
    /// N, the rows that are trained on.
    pub rows: usize,
    /// The bound on this batch, for all N rows, without regularisers.
    pub elbo: f64,
    /// Its expected log-likelihood.
    pub expected_log_likelihood: f64,
    /// KL_g.
    pub kl_predictor: f64,
    /// KL_f.
    pub kl_flow: f64,
    /// σ², standardised, the geometric mean over several outputs; absent for classification.
    pub noise: Option<f64>,
    /// Adam's learning rate.
    pub learning_rate: f64,
}

/// One look at the validation rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Validated {
    /// Which part of the run.
    pub stage: StageId,
    /// Before that iteration.
    pub iteration: u64,
    /// How good.
    pub score: Score,
    /// Whether it is the best of the stage so far.
    pub best: bool,
}

/// Something a user may want to know that did not stop the run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// An input does not vary: it is kept, with scale 1.
    ConstantInput {
        /// Its name or index.
        input: String,
    },
    /// A target does not vary.
    ConstantTarget {
        /// Its name or index.
        target: String,
    },
    /// A class with hardly a row to learn it from, or none.
    RareClass {
        /// Its name.
        class: String,
        /// How many training rows are of it.
        rows: usize,
    },
    /// A column is so far from zero that f32 holds it in coarse steps.
    Coarse {
        /// Its name or index.
        column: String,
        /// The step, in deviations of the column.
        step: f64,
    },
    /// Fewer distinct rows than inducing points.
    InducingLowered {
        /// Asked for.
        wanted: usize,
        /// Used.
        used: usize,
    },
    /// Too few rows to keep some aside.
    NoValidation,
    /// So few rows that the noise is often underestimated.
    FewRows {
        /// How many.
        rows: usize,
    },
    /// No validation rows, so nothing could speak for a flow.
    NoFlow,
    /// The steps of the flow are far from the solution of its equation.
    NotAFlow {
        /// How far, as a share of the displacement.
        error: f64,
    },
    /// A model that is compared with another could not be trained, and loses.
    Diverged {
        /// Which one.
        stage: StageName,
        /// In that iteration.
        iteration: u64,
    },
    /// The checkpoint was made with another instruction set.
    OtherInstructionSet {
        /// That of the checkpoint.
        found: String,
        /// That of this machine.
        here: String,
    },
    /// A Cholesky factorisation failed.
    JitterRaised {
        /// In that iteration.
        iteration: u64,
        /// The jitter from now on.
        jitter: f64,
    },
    /// The bound or its gradient was not finite: back to the last good state, with smaller steps.
    BackedOff {
        /// The iteration that is done again.
        iteration: u64,
        /// Steps are multiplied by this for a while.
        step_scale: f64,
    },
    /// A natural-gradient step would have left the Gaussians.
    NaturalStepShortened {
        /// In that iteration.
        iteration: u64,
        /// The step taken.
        step: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConstantInput { input } => write!(f, "{input} does not vary; it is kept unscaled"),
            Self::ConstantTarget { target } => write!(f, "{target} does not vary"),
            Self::RareClass { class, rows: 0 } => {
                write!(f, "no training row is of class {class:?}; it will hardly ever be predicted")
            }
            Self::RareClass { class, rows } => {
                write!(f, "class {class:?} has {rows} training rows, too few to say how well it is told from others")
            }
            Self::Coarse { column, step } => write!(
                f,
                "{column} is rounded to steps of {step:.3} of its deviation, because 32-bit floats of its size are no \
                 finer; subtract a constant from the column, here and on the device"
            ),
            Self::InducingLowered { wanted, used } => {
                write!(f, "{used} inducing points instead of {wanted}: there are no more distinct rows")
            }
            Self::NoValidation => write!(f, "too few rows to keep validation rows aside; the last iterate is kept"),
            Self::FewRows { rows } => {
                write!(
                    f,
                    "error bars learned from {rows} rows are often too narrow; with some 40 and more they are right"
                )
            }
            Self::NoFlow => write!(f, "no flow is tried: no validation rows could say whether it helps"),
            Self::NotAFlow { error } => write!(
                f,
                "the steps end {:.1} % of the displacement away from the solution of the flow's equation, more than the 5 % of a \
                 flow: the model is a chain of steps, which may predict as well; more steps make it a flow, and `chain` asks for a \
                 chain",
                100.0 * error
            ),
            Self::Diverged { stage, iteration } => {
                write!(f, "{}: not finite from iteration {iteration} on; the other model is used", stage.id())
            }
            Self::OtherInstructionSet { found, here } => write!(
                f,
                "the checkpoint was made with {found}, and here is {here}, which rounds otherwise: the model will be as \
                 good, but not byte for byte the one of an undisturbed run"
            ),
            Self::JitterRaised { iteration, jitter } => {
                write!(f, "iteration {iteration}: jitter raised to {jitter:e} after a failed factorisation")
            }
            Self::BackedOff { iteration, step_scale } => {
                write!(f, "iteration {iteration}: not finite; done again with steps times {step_scale:.3e}")
            }
            Self::NaturalStepShortened { iteration, step } => {
                write!(f, "iteration {iteration}: natural-gradient step shortened to {step:.3e}")
            }
        }
    }
}

/// Watches a run. Every method has a silent default; `()` is the silent observer.
pub trait Observer {
    /// Before anything else: what the run will do.
    fn plan(&mut self, _plan: &Plan) {}

    /// Whether [`estimate`](Self::estimate) is to be called, for which some evaluations of the bound are timed.
    fn wants_estimate(&self) -> bool {
        false
    }

    /// How long the run may take on this machine as it is now, if everything in its plan has to be done; most runs take less.
    fn estimate(&mut self, _at_most: Duration) {}

    /// After every evaluation of the bound.
    fn iteration(&mut self, _progress: &Progress) {}

    /// After every look at the validation rows.
    fn validation(&mut self, _validated: &Validated) {}

    /// When something unusual happened.
    fn warning(&mut self, _warning: &Warning) {}

    /// Every `checkpoint_every` iterations, and before stopping.
    fn checkpoint(&mut self, _checkpoint: &Checkpoint) -> std::io::Result<()> {
        Ok(())
    }

    /// Asked in every iteration: true ends the run after a last checkpoint.
    fn should_stop(&mut self) -> bool {
        false
    }

    /// Asked in every iteration until it is true: then the run ends with the best model so far, after a last checkpoint from
    /// which it can be gone on with. When that is decides the model's bytes.
    fn should_finish(&mut self) -> bool {
        false
    }
}

impl Observer for () {}
