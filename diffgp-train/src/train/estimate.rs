//! How long a run may take, from a few evaluations before it begins.
//!
//! An iteration costs an evaluation of the bound, which is proportional to its rows and, with many points, to the square of
//! their number. Every stage is counted with all of its iterations, every comparison with all of its folds, and of the
//! models that may be kept the one that takes longest: runs end earlier when validation rows no longer gain, and a choice
//! is clear.

use std::time::{Duration, Instant};

use super::config::Config;
use super::objective::{Paths, Standardised};
use super::plan::{Plan, Stage};
use super::search;
use crate::elbo::ElboError;
use crate::params::{Flow, Params};
use crate::threads::Threads;

/// Rows of an evaluation that is timed.
const ROWS: usize = 500;
/// Looks at validation rows, fits at the end and the export, as a share of the iterations.
const OVERHEAD: f64 = 1.15;

/// At most so long, on this machine as it is now. `sparse` is the model without a flow, untrained, and `flow` a weak flow.
pub(super) fn at_most(
    plan: &Plan,
    rows_of: Standardised<'_>,
    sparse: &Params,
    flow: Option<Flow>,
    config: &Config,
    threads: &Threads,
) -> Result<Duration, ElboError> {
    let rows = rows_of.data.rows();
    let is_searched = plan.stages.iter().any(|stage| stage.kernels.are_searched());
    let timed: Vec<usize> = (0..rows.min(ROWS)).collect();
    let seconds = |params: &Params| -> Result<f64, ElboError> {
        let paths = Paths { count: config.paths, ..Paths::to_validate(config, threads) };
        // The first one finds caches and threads cold.
        rows_of.bound(params, &timed, rows, paths)?;
        let start = Instant::now();
        rows_of.bound(params, &timed, rows, paths)?;
        Ok(start.elapsed().as_secs_f64() / timed.len() as f64)
    };
    let without = seconds(sparse)?;
    let with = match flow {
        Some(flow) => seconds(&Params { flow: Some(flow), ..sparse.clone() })?,
        None => without,
    };
    // The search gives the predictor as many points as it asks for.
    let more_points = match is_searched && !config.grows(rows) {
        true => (config.predictor.most_inducing as f64 / sparse.predictor.inducing.nrows() as f64).powi(2).max(1.0),
        false => 1.0,
    };
    let of_stage = |stage: &Stage| {
        let is_alone = !stage.flow && stage.name.is_model();
        let of_row = if stage.has_flow() { with } else { without * if is_alone { more_points } else { 1.0 } };
        stage.stop.iterations as f64 * stage.batch as f64 * of_row
    };
    let searched = if is_searched {
        search::seconds(rows_of, config, threads)
            + search::evaluations_on_all_rows(rows, config) * without * more_points
    } else {
        0.0
    };
    let sum = |wanted: &dyn Fn(usize, &Stage) -> bool| -> f64 {
        let stages = plan.stages.iter().enumerate().filter(|(index, stage)| wanted(*index, stage));
        stages.map(|(_, stage)| of_stage(stage)).sum()
    };
    // Of what comes after the choice, one model's.
    let always = sum(&|_, stage| stage.repeats.is_empty() && stage.calibrates.is_none());
    let models = (0..plan.stages.len()).map(|model| {
        sum(&|index, stage| (index == model && !stage.repeats.is_empty()) || stage.calibrates == Some(model))
    });
    let longest = models.fold(0.0, f64::max);
    let seconds = searched + OVERHEAD * (always + longest);
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
