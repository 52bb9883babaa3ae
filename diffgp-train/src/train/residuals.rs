//! What a model says of rows that it was not trained on: the residuals that its error bars are calibrated by.

use super::config::Config;
use super::objective::{Paths, Standardised};
use crate::calibration::{ClassResidual, Residual, Residuals};
use crate::elbo::ElboError;
use crate::likelihood::Latent;
use crate::noise::NoiseKey;
use crate::params::Params;
use crate::philox::Purpose;
use crate::threads::Threads;

/// Residuals along the drift and, with a flow, over sampled paths.
pub(super) fn residuals(
    params: &Params,
    rows_of: Standardised<'_>,
    rows: &[usize],
    config: &Config,
    threads: &Threads,
) -> Result<Vec<Residuals>, ElboError> {
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Calibration, iteration: 0 };
    let mut ways = vec![along(params, rows_of, rows, None, threads)?];
    if params.flow.is_some() {
        let paths = Paths { count: config.calibration.paths, key, threads };
        ways.push(along(params, rows_of, rows, Some(paths), threads)?);
    }
    Ok(ways)
}

/// Along paths, or the drift.
fn along(
    params: &Params,
    rows_of: Standardised<'_>,
    rows: &[usize],
    paths: Option<Paths<'_>>,
    threads: &Threads,
) -> Result<Residuals, ElboError> {
    let outputs = params.predictor.outputs();
    let classes = params.likelihood.with(|density| density.classes(outputs));
    let mut residuals = match classes {
        Some(classes) => Residuals::Classes(classes, Vec::with_capacity(rows.len())),
        None => Residuals::Targets(vec![Vec::with_capacity(rows.len()); outputs]),
    };
    rows_of.each_row(params, rows, paths, threads, |targets, latent| match &mut residuals {
        Residuals::Targets(of_targets) => {
            for (output, residuals) in of_targets.iter_mut().enumerate() {
                let noise = params.likelihood.noise()[output];
                residuals.push(residual(targets[output], noise, latent.iter().skip(output).step_by(outputs)));
            }
        }
        Residuals::Classes(classes, rows) => {
            rows.push(ClassResidual {
                probabilities: probabilities(params, *classes, latent),
                class: targets[0] as usize,
            });
        }
    })?;
    Ok(residuals)
}

fn residual<'a>(y: f64, noise: f64, latent: impl Iterator<Item = &'a (f64, f64)> + Clone) -> Residual {
    let (mean, latent_variance) = moments(latent);
    Residual { mean, latent_variance, noise, error: y - mean }
}

/// Of a mixture: mean of means; mean of variances plus variance of means.
pub(super) fn moments<'a>(latent: impl Iterator<Item = &'a (f64, f64)> + Clone) -> (f64, f64) {
    let count = latent.clone().count() as f64;
    let mean = latent.clone().map(|(mean, _)| mean).sum::<f64>() / count;
    let spread = latent.map(|(of_path, variance)| variance + (of_path - mean).powi(2)).sum::<f64>() / count;
    (mean, spread)
}

/// Averaged over paths.
pub(super) fn probabilities(params: &Params, classes: usize, latent: &[(f64, f64)]) -> Vec<f64> {
    let outputs = params.predictor.outputs();
    let (mut mean, mut of_path) = (vec![0.0; classes], vec![0.0; classes]);
    for path in latent.chunks_exact(outputs) {
        let (means, variances): (Vec<f64>, Vec<f64>) = path.iter().copied().unzip();
        params.likelihood.with(|density| {
            density.probabilities(Latent { mean: &means, variance: &variances }, &mut of_path);
        });
        mean.iter_mut().zip(&of_path).for_each(|(sum, probability)| *sum += probability);
    }
    let count = (latent.len() / outputs) as f64;
    mean.iter_mut().for_each(|sum| *sum /= count);
    if let [first, second] = mean.as_mut_slice() {
        *first = 1.0 - *second;
    }
    mean
}
