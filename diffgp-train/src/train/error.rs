//! Why a run ended without a model.

use super::config::ConfigError;
use crate::elbo::ElboError;
use crate::exchange::ExchangeError;

/// A run that gave no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nothing to learn from.
    #[error("{rows} training rows; expected at least 2")]
    TooFewRows {
        /// How many there are.
        rows: usize,
    },
    /// More inputs than the format and the noise allow.
    #[error("{inputs} inputs; expected at most 64")]
    TooManyInputs {
        /// How many there are.
        inputs: usize,
    },
    /// Nothing can be kept aside of a single group.
    #[error("all rows are of one group; expected at least two, or none")]
    OneGroup,
    /// More targets than the format allows.
    #[error("{targets} targets; expected at most 32")]
    TooManyTargets {
        /// How many there are.
        targets: usize,
    },
    /// Classes are told apart in one column.
    #[error("{targets} targets; a classification has one")]
    SeveralClassTargets {
        /// How many there are.
        targets: usize,
    },
    /// More classes than the format allows.
    #[error("{classes} classes; expected at most 32")]
    TooManyClasses {
        /// How many there are.
        classes: usize,
    },
    /// A classification target is not a class.
    #[error("row {row}: the target is {value}; classification targets are {}", numbers(*classes))]
    NotAClass {
        /// Data row, counted from 1.
        row: usize,
        /// Its target.
        value: f32,
        /// How many classes there are.
        classes: usize,
    },
    /// A column is too large for f32, or varies too little.
    #[error("{column} does not suit 32-bit floats: expected a standard deviation of {expected}; rescale the column")]
    Range {
        /// The column's name or index.
        column: String,
        /// The deviations that are possible.
        expected: &'static str,
    },
    /// The bound could not be computed at all.
    #[error(transparent)]
    Elbo(#[from] ElboError),
    /// A kernel matrix cannot be factorised, whatever the jitter.
    #[error(transparent)]
    NotPositiveDefinite(#[from] crate::exact::NotPositiveDefinite),
    /// The bound stayed non-finite although the steps were made ever smaller.
    #[error(
        "iteration {iteration}: the bound stays non-finite however small the step; try a larger jitter or fewer inducing points"
    )]
    Diverged {
        /// The iteration that could not be left.
        iteration: u64,
    },
    /// The observer asked to stop; it was given a checkpoint first.
    #[error("stopped at iteration {iteration}")]
    Stopped {
        /// The iteration to be done next.
        iteration: u64,
    },
    /// The observer could not keep a checkpoint, or what belongs to it.
    #[error(transparent)]
    Checkpoint(#[from] std::io::Error),
    /// A checkpoint that does not belong here.
    #[error(transparent)]
    Resume(#[from] crate::checkpoint::CheckpointError),
    /// The processes of the run would not train the same model, or have lost each other.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// Worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Threads(String),
}

/// The numbers of so many classes.
fn numbers(classes: usize) -> String {
    if classes > 2 { format!("whole numbers from 0 to {}", classes - 1) } else { "0 or 1".to_owned() }
}
