//! What the device will compute: rows run through `diffgp-infer` on the finished model.
//!
//! Noise is keyed by (seed, row, path), so a row has the same bits alone, among others and on the device, and rows can
//! be spread over threads. Cost: one prediction per row; memory: the latent values of the rows at hand.

mod auc;
mod class_figures;
mod crps;
mod output_figures;
mod score;

use diffgp_infer::{Keyed, Latent, Model, Noise, Prediction, Workspace};
use rayon::prelude::*;

use crate::threads::Threads;
pub use auc::area_under_curve;
pub use class_figures::{BINS, Bin, ClassFigures, ClassTally, most_probable};
pub use crps::crps;
pub use output_figures::{LEVELS, OutputFigures, OutputTally, PredictedOutput, log_density, winkler};
pub use score::{Figures, Known, score};

/// Rows whose paths are in memory at once.
pub(crate) const CHUNK: usize = 4096;

/// Large enough for every model that the format allows.
pub(crate) type AnyWorkspace = Workspace<64, 1024>;

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
    /// The mixture over paths, in the target's units.
    pub prediction: Prediction,
    /// The end of every path, standardised.
    pub latents: Vec<Latent>,
}

/// The runtime refused a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {}: {error}", number + 1)]
pub struct RowError {
    /// Counted from 0.
    pub number: u32,
    /// Why.
    pub error: diffgp_infer::Error,
}

/// Predicts rows, in the order in which they were given.
pub fn evaluate(
    model: &Model<'_>,
    rows: &[Row<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Vec<Evaluated>, RowError> {
    let one = |workspace: &mut Box<AnyWorkspace>, row: &Row<'_>| {
        evaluate_row(model, row, sampling, workspace).map_err(|error| RowError { number: row.number, error })
    };
    threads.pool.install(|| rows.par_iter().map_init(|| Box::new(AnyWorkspace::new()), one).collect())
}

fn evaluate_row(
    model: &Model<'_>,
    row: &Row<'_>,
    sampling: Sampling,
    workspace: &mut AnyWorkspace,
) -> Result<Evaluated, diffgp_infer::Error> {
    let (count, seed) = match sampling {
        // Without a flow all paths are the same.
        Sampling::Paths { count, seed } if model.blob().header().steps > 0 => (count, seed),
        Sampling::Paths { count, seed } => (count.min(1), seed),
        Sampling::Drift => (1, 0),
    };
    let mut noise = Keyed::new(seed, row.number);
    let mut mixture = model.mixture();
    let mut latents = Vec::with_capacity(count as usize);
    let mut in_range = false;
    for path in 0..count {
        noise.begin_path(path);
        let mut flow = model.start(row.x, workspace)?;
        match sampling {
            Sampling::Drift => while flow.step_drift()? {},
            Sampling::Paths { .. } => while flow.step(&mut noise)? {},
        }
        let latent = flow.latent()?;
        in_range = flow.in_range();
        mixture.add(latent);
        latents.push(latent);
    }
    Ok(Evaluated { prediction: model.prediction(&mixture, in_range)?, latents })
}
