//! The bound on batches of a data set, and the score on its validation rows.
//!
//! Rows are standardised while they are gathered: memory beside the data set is one batch and its noise.

use super::climb::Objective;
use super::config::Config;
use super::rows::StageRows;
use crate::data::{Dataset, Scaling};
use crate::elbo::{Batch, ElboError, Evaluation, path_ends, predict_latent, value_and_gradient};
use crate::exchange::ExchangeError;
use crate::noise::{self, NoiseKey};
use crate::params::Params;
use crate::philox::Purpose;
use crate::score::{Score, Scorer};
use crate::threads::Threads;

/// Row–paths predicted at a time when scoring.
const SCORED_TOGETHER: usize = 4096;

/// A data set in the units of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standardised<'a> {
    pub(super) data: &'a Dataset,
    pub(super) scaling: &'a Scaling,
}

impl Standardised<'_> {
    /// Inputs and targets of the given rows.
    pub(super) fn gather(&self, rows: &[usize]) -> (Vec<f32>, Vec<f32>) {
        let mut x = Vec::with_capacity(rows.len() * self.data.inputs());
        let mut y = Vec::with_capacity(rows.len() * self.data.outputs());
        for &row in rows {
            self.scaling.push_row(self.data.input_row(row), &mut x);
            let targets = self.data.target_row(row).iter().zip(&self.scaling.targets);
            y.extend(targets.map(|(&target, scaling)| scaling.apply(target)));
        }
        (x, y)
    }

    /// The bound on the given rows, weighted up to `total_rows`.
    pub(super) fn bound(
        &self,
        params: &Params,
        rows: &[usize],
        total_rows: usize,
        paths: Paths<'_>,
    ) -> Result<Evaluation, ElboError> {
        let (x, y) = self.gather(rows);
        let (count, noise) = paths.noise(params, rows)?;
        value_and_gradient(params, &Batch { x: &x, y: &y, total_rows }, count, noise.as_deref(), paths.threads)
    }

    /// Where the paths of the given rows end, `[S·B, D]`, and the targets, once per path.
    pub(super) fn end_points(
        &self,
        params: &Params,
        rows: &[usize],
        paths: Paths<'_>,
    ) -> Result<(Vec<f32>, Vec<f32>), ElboError> {
        let (x, y) = self.gather(rows);
        if params.flow.is_none() {
            return Ok((x, y));
        }
        let (count, noise) = paths.noise(params, rows)?;
        Ok((path_ends(params, &x, count, noise.as_deref(), paths.threads)?, y.repeat(count)))
    }

    /// Where the given rows end along the drift, `[B, D]`.
    pub(super) fn drift_ends(&self, params: &Params, rows: &[usize], threads: &Threads) -> Result<Vec<f32>, ElboError> {
        let (x, _) = self.gather(rows);
        if params.flow.is_some() { path_ends(params, &x, 1, None, threads) } else { Ok(x) }
    }

    /// The score on the given rows.
    pub(super) fn score(&self, params: &Params, rows: &[usize], paths: Paths<'_>) -> Result<Score, ElboError> {
        Ok(self.score_rows(params, rows, paths)?.0)
    }

    /// The score on the given rows, and the log-likelihood of each.
    pub(super) fn score_rows(
        &self,
        params: &Params,
        rows: &[usize],
        paths: Paths<'_>,
    ) -> Result<(Score, Vec<f64>), ElboError> {
        let mut log_likelihoods = Vec::with_capacity(rows.len());
        let outputs = params.predictor.outputs();
        let scales: Vec<f64> = self.scaling.targets.iter().map(|target| f64::from(target.scale)).collect();
        let mut scorer = Scorer::new(&params.likelihood, outputs, &scales);
        self.each_row(params, rows, Some(paths), paths.threads, |targets, latent| {
            log_likelihoods.push(scorer.add(targets, latent));
        })?;
        Ok((scorer.finish(), log_likelihoods))
    }

    /// Calls `visit` with the targets of every row, and mean and variance of g at its end, path after path: `[S, O]`; along
    /// the drift without paths.
    pub(super) fn each_row(
        &self,
        params: &Params,
        rows: &[usize],
        paths: Option<Paths<'_>>,
        threads: &Threads,
        mut visit: impl FnMut(&[f64], &[(f64, f64)]),
    ) -> Result<(), ElboError> {
        let outputs = params.predictor.outputs();
        let most = paths.map_or(1, |paths| paths.count.max(1));
        for rows in rows.chunks((SCORED_TOGETHER / most).max(1)) {
            let (x, y) = self.gather(rows);
            let (count, noise) = paths.map_or(Ok((1, None)), |paths| paths.noise(params, rows))?;
            let latent = predict_latent(params, &x, count, noise.as_deref(), threads)?;
            for (row, targets) in y.chunks_exact(y.len() / rows.len()).enumerate() {
                let of_path = |path: usize| {
                    let from = (path * rows.len() + row) * outputs;
                    (from..from + outputs).map(|at| (f64::from(latent.mean[at]), f64::from(latent.variance[at])))
                };
                let latent: Vec<_> = (0..count).flat_map(of_path).collect();
                let targets: Vec<f64> = targets.iter().copied().map(f64::from).collect();
                visit(&targets, &latent);
            }
        }
        Ok(())
    }
}

/// How rows are followed: S paths each, with the noise of this key.
#[derive(Clone, Copy)]
pub(super) struct Paths<'a> {
    pub(super) count: usize,
    pub(super) key: NoiseKey,
    pub(super) threads: &'a Threads,
}

impl<'a> Paths<'a> {
    /// The same noise every time: two validations differ by the parameters only.
    pub(super) fn to_validate(config: &Config, threads: &'a Threads) -> Self {
        let key = NoiseKey { seed: config.seed, purpose: Purpose::Validation, iteration: 0 };
        Self { count: config.validation.paths, key, threads }
    }

    /// Enough of them that another number would not decide otherwise.
    pub(super) fn to_decide(config: &Config, threads: &'a Threads) -> Self {
        Self { count: config.validation.decision_paths, ..Self::to_validate(config, threads) }
    }

    /// S and the noise, of which every process makes a share; without a flow one path says it all.
    pub(super) fn noise(&self, params: &Params, rows: &[usize]) -> Result<(usize, Option<Vec<f32>>), ExchangeError> {
        let Some(flow) = &params.flow else { return Ok((1, None)) };
        let (exchange, places) = (self.threads.exchange(), self.count * flow.steps * rows.len());
        let (own, mut normals) = (exchange.share(places), Vec::new());
        let fill = || noise::fill_part(&mut normals, self.key, rows, own, flow.steps, flow.inputs());
        self.threads.pool.install(fill);
        Ok((self.count, Some(exchange.gather(normals, places * flow.inputs())?)))
    }
}

/// What a [`Climb`](super::climb::Climb) climbs.
pub(super) struct DataObjective<'a> {
    pub(super) rows_of: Standardised<'a>,
    pub(super) config: &'a Config,
    pub(super) threads: &'a Threads,
    pub(super) rows: StageRows,
    pub(super) validation: Vec<usize>,
}

impl Objective for DataObjective<'_> {
    fn evaluate(&mut self, params: &Params, iteration: u64) -> Result<Evaluation, ElboError> {
        let key = NoiseKey { seed: self.config.seed, purpose: Purpose::Training, iteration };
        let paths = Paths { count: self.config.paths, key, threads: self.threads };
        self.rows_of.bound(params, &self.rows.batch(iteration), self.rows.training_count(), paths)
    }

    fn validate(&mut self, params: &Params) -> Result<Option<Score>, ElboError> {
        if self.validation.is_empty() {
            return Ok(None);
        }
        self.rows_of.score(params, &self.validation, Paths::to_validate(self.config, self.threads)).map(Some)
    }
}
