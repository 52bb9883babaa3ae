//! The last fit of q(u_g): everything else fixed, at the exported number of steps, several paths, all rows.
//!
//! Gaussian: natural-gradient steps γₜ = Bₜ/(B₁ + … + Bₜ) over chunks end at the closed-form optimum for all rows seen.
//! Bernoulli: not conjugate, so a few sweeps of steps that forget the start.

use super::config::Config;
use super::error::TrainError;
use super::objective::Standardised;
use crate::noise::NoiseKey;
use crate::optimise::natural_step_or_shorter;
use crate::params::{Likelihood, Params};
use crate::permutation::Permutation;
use crate::philox::Purpose;
use crate::threads::Threads;

/// Rows per step.
const CHUNK: usize = 1000;
/// Sweeps over the rows for a Bernoulli likelihood, and how far each goes.
const SWEEPS: usize = 4;
const SWEEP_STEP: f64 = 0.5;

/// Replaces q(u_g) of `params`; a step that fails leaves it as it was before that step.
pub(super) fn refit(
    params: &mut Params,
    rows_of: Standardised<'_>,
    config: &Config,
    threads: &Threads,
) -> Result<(), TrainError> {
    let total = rows_of.data.rows();
    let used = total.min(config.refit.max_rows);
    let order = Permutation::new(total, config.seed, Purpose::Refit, 0);
    let rows: Vec<usize> = (0..used).map(|index| order.at(index)).collect();
    let sweeps = match params.likelihood {
        Likelihood::Gaussian { .. } => 1,
        Likelihood::Bernoulli { .. } => SWEEPS,
    };
    for sweep in 0..sweeps {
        let mut seen = 0;
        for chunk in rows.chunks(CHUNK) {
            seen += chunk.len();
            let step = match params.likelihood {
                Likelihood::Gaussian { .. } => chunk.len() as f64 / seen as f64,
                Likelihood::Bernoulli { .. } => SWEEP_STEP * chunk.len() as f64 / used as f64,
            };
            let key = NoiseKey { seed: config.seed, purpose: Purpose::Refit, iteration: sweep as u64 };
            let evaluation = rows_of.bound(params, chunk, total, config.refit.paths, key, threads)?;
            let slope = &evaluation.gradient.predictor.posterior;
            if let Some((posterior, _)) = natural_step_or_shorter(&params.predictor.posterior, slope, step) {
                params.predictor.posterior = posterior;
            }
        }
    }
    Ok(())
}
