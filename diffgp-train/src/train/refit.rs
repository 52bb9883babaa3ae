//! The last fit of q(u_g): everything else fixed, at the exported number of steps, several paths, all rows.
//!
//! The flow is fixed, so its end points are computed once, forward only; what is left is a sparse Gaussian process on
//! S·B rows. Gaussian: natural-gradient steps γₜ = Bₜ/(B₁ + … + Bₜ) over chunks end at the closed-form optimum for all
//! rows seen. Bernoulli: not conjugate, so sweeps of shorter steps. Memory: the end points, S·rows·D numbers.

use super::config::Config;
use super::error::TrainError;
use super::objective::{Paths, Standardised};
use crate::elbo::{Batch, value_and_gradient};
use crate::noise::NoiseKey;
use crate::optimise::natural_step_or_shorter;
use crate::params::{Likelihood, Params};
use crate::permutation::Permutation;
use crate::philox::Purpose;
use crate::threads::Threads;

/// Rows per step.
const CHUNK: usize = 1000;
/// Sweeps over the rows for a Bernoulli likelihood, and the sum of the steps of one.
const SWEEPS: usize = 10;
const SWEEP_STEP: f64 = 0.5;

/// Replaces q(u_g) of `params`; a step that fails leaves it as it was before that step.
pub(super) fn refit(
    params: &mut Params,
    rows_of: Standardised<'_>,
    config: &Config,
    threads: &Threads,
) -> Result<(), TrainError> {
    let total_rows = rows_of.data.rows();
    let used = total_rows.min(config.refit.max_rows);
    let order = Permutation::new(total_rows, config.seed, Purpose::Refit, 0);
    let rows: Vec<usize> = (0..used).map(|index| order.at(index)).collect();
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Refit, iteration: 0 };
    let paths = Paths { count: config.refit.paths, key, threads };
    let ends =
        rows.chunks(CHUNK).map(|chunk| rows_of.end_points(params, chunk, paths)).collect::<Result<Vec<_>, _>>()?;

    let mut predictor = Params { flow: None, ..params.clone() };
    let gaussian = matches!(predictor.likelihood, Likelihood::Gaussian { .. });
    for _ in 0..if gaussian { 1 } else { SWEEPS } {
        let mut seen = 0;
        for ((x, y), chunk) in ends.iter().zip(rows.chunks(CHUNK)) {
            seen += chunk.len();
            let step = match gaussian {
                true => chunk.len() as f64 / seen as f64,
                false => SWEEP_STEP * chunk.len() as f64 / used as f64,
            };
            let evaluation = value_and_gradient(&predictor, &Batch { x, y, total_rows }, 1, None, threads)?;
            let slope = &evaluation.gradient.predictor.posterior;
            if let Some((posterior, _)) = natural_step_or_shorter(&predictor.predictor.posterior, slope, step) {
                predictor.predictor.posterior = posterior;
            }
        }
    }
    params.predictor.posterior = predictor.predictor.posterior;
    Ok(())
}
