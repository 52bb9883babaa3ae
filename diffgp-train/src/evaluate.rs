//! What the device will compute: rows run through `diffgp-infer` on the finished model.
//!
//! Noise is keyed by (seed, row, path), so a row has the same bits alone, among others and on the device, and rows can
//! be spread over threads. Cost: one prediction per row; memory: the latent values of the rows at hand.

mod answer;
mod auc;
mod class_figures;
mod crps;
mod output_figures;
mod score;
mod states;

use diffgp_infer::{Keyed, Latent, Model, Noise, Run, Workspace};
use rayon::prelude::*;

use crate::threads::Threads;
pub use answer::Answer;
pub use auc::area_under_curve;
pub use class_figures::{BINS, Bin, ClassFigures, ClassTally, most_probable};
pub use crps::crps;
pub use output_figures::{LEVELS, OutputFigures, OutputTally, PredictedOutput, log_density, winkler};
pub use score::{Figures, Known, log_likelihoods, score};
pub use states::states;

/// Rows whose paths are in memory at once.
pub(crate) const CHUNK: usize = 4096;

/// Large enough for every model that the format allows.
pub type AnyWorkspace = Workspace<64, 1024, 32>;

/// How the flow is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Along the drift alone: one path, no noise.
    Drift,
    /// Along sampled paths.
    Paths {
        /// S.
        count: u32,
        /// First part of the key of the noise.
        seed: u64,
    },
}

/// A raw input row, and its number in the file, which is part of the key of its noise.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Counted from 0.
    pub number: u32,
    /// D raw values.
    pub x: &'a [f32],
}

/// What the runtime says of one row.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The mixture over paths, in the targets' units.
    pub answer: Answer,
    /// The end of every path, standardised, output by output: `[S][O]`.
    pub latents: Vec<Vec<Latent>>,
}

/// A row that cannot be predicted, or not be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {}: {problem}", number + 1)]
pub struct RowError {
    /// Counted from 0.
    pub number: u32,
    /// Why.
    pub problem: RowProblem,
}

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowProblem {
    /// The runtime refuses it.
    #[error(transparent)]
    Refused(#[from] diffgp_infer::Error),
    /// The density of a target at so many deviations from its prediction is no number.
    #[error("its target is so far from the prediction that the log-likelihood is no number")]
    NoDensity,
}

/// Predicts rows, in the order in which they were given.
pub fn evaluate(
    model: &Model<'_>,
    rows: &[Row<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Vec<Evaluated>, RowError> {
    let one = |workspace: &mut Box<AnyWorkspace>, row: &Row<'_>| {
        evaluate_row(model, row, sampling, workspace)
            .map_err(|error| RowError { number: row.number, problem: error.into() })
    };
    threads.pool.install(|| rows.par_iter().map_init(|| Box::new(AnyWorkspace::new()), one).collect())
}

fn evaluate_row(
    model: &Model<'_>,
    row: &Row<'_>,
    sampling: Sampling,
    workspace: &mut AnyWorkspace,
) -> Result<Evaluated, diffgp_infer::Error> {
    match sampling {
        Sampling::Drift => run(model.begin_drift(row.x, workspace)?),
        Sampling::Paths { count, seed } => {
            run(model.begin(row.x, count, &mut Keyed::new(seed, row.number), workspace)?)
        }
    }
}

/// A run to its end, with the end of every path.
fn run<N: Noise>(mut run: Run<'_, '_, N>) -> Result<Evaluated, diffgp_infer::Error> {
    let mut latents = Vec::new();
    while run.finish_path()? {
        latents.push(run.latents().collect());
    }
    Ok(Evaluated { answer: Answer::of(&run.prediction()?), latents })
}
