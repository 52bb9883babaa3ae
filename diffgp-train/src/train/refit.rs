//! The last fit of q(u_g) and, without a flow and with more rows than a batch, of σ²: everything else fixed, at the
//! exported number of steps, several paths, all rows. It also ends the trial of a kernel, on the training rows.
//!
//! The flow is fixed, so its end points are computed once, forward only; what is left is a sparse Gaussian process on
//! S·B rows. Gaussian: natural-gradient steps γₜ = Bₜ/(B₁ + … + Bₜ) over chunks end at the closed-form optimum for all
//! rows seen. Bernoulli: not conjugate, so sweeps of shorter steps. Memory: the end points, S·rows·D numbers.
//!
//! While everything else moves, q(u_g) never quite fits: it is the optimum of the step before, or of some of the rows.
//! σ² grows by what it misses; on data with little noise that is most of it. So σ² goes to its own optimum E[(y − g)²]
//! in turns with q(u_g), which is ascent on the bound again. Where it is right to a tenth, which is worth less than
//! 0.003 nats, it is left alone. With a flow it stays as it was: there the bound's σ² holds the spread of the paths,
//! which predictions add once more.

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
/// Sweeps over the rows at most, and for a Bernoulli likelihood the sum of the steps of one.
const SWEEPS: usize = 10;
const SWEEP_STEP: f64 = 0.5;
/// Relative changes of σ²: one that is worth fitting it at all, and one that is not worth another sweep.
const WORTHWHILE: f64 = 0.1;
const SETTLED: f64 = 0.01;

/// The rows of the last fit: all, or a random choice of as many as are used at most.
pub(super) fn rows(total_rows: usize, config: &Config) -> Vec<usize> {
    let order = Permutation::new(total_rows, config.seed, Purpose::Refit, 0);
    (0..total_rows.min(config.refit.max_rows)).map(|index| order.at(index)).collect()
}

/// Replaces q(u_g) of `params`, and perhaps σ², by what fits `rows`, which stand for all rows of the set. A step that
/// would leave the Gaussians is shortened, or left out.
pub(super) fn refit(
    params: &mut Params,
    rows_of: Standardised<'_>,
    rows: &[usize],
    config: &Config,
    threads: &Threads,
) -> Result<(), TrainError> {
    let total_rows = rows_of.data.rows();
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Refit, iteration: 0 };
    let paths = Paths { count: config.refit.paths, key, threads };
    let ends =
        rows.chunks(CHUNK).map(|chunk| rows_of.end_points(params, chunk, paths)).collect::<Result<Vec<_>, _>>()?;
    let batches: Vec<Batch<'_, f32>> = ends.iter().map(|(x, y)| Batch { x, y, total_rows }).collect();

    // A prior on σ² would have to be weighed against the rows; it is rare, and σ² stays as it was trained.
    let fits_noise = params.flow.is_none() && total_rows > config.batch && config.regularisation.noise.is_none();
    let mut predictor = Params { flow: None, ..params.clone() };
    fit(&mut predictor, &batches, threads)?;
    for sweep in 1..SWEEPS {
        match predictor.likelihood {
            Likelihood::Gaussian { noise } if fits_noise => {
                let better = expected_square(&predictor, noise, &batches, threads)?;
                let change = (better / noise).ln().abs();
                let enough = if sweep == 1 { WORTHWHILE } else { SETTLED };
                if change <= enough || !change.is_finite() {
                    break;
                }
                predictor.likelihood = Likelihood::Gaussian { noise: better };
            }
            Likelihood::Gaussian { .. } => break,
            Likelihood::Bernoulli { .. } => {}
        }
        fit(&mut predictor, &batches, threads)?;
    }
    params.predictor.posterior = predictor.predictor.posterior;
    params.likelihood = predictor.likelihood;
    Ok(())
}

/// One sweep of steps of q(u_g).
fn fit(predictor: &mut Params, batches: &[Batch<'_, f32>], threads: &Threads) -> Result<(), TrainError> {
    let gaussian = matches!(predictor.likelihood, Likelihood::Gaussian { .. });
    let all: usize = batches.iter().map(|batch| batch.y.len()).sum();
    let mut seen = 0;
    for batch in batches {
        seen += batch.y.len();
        let step = match gaussian {
            true => batch.y.len() as f64 / seen as f64,
            false => SWEEP_STEP * batch.y.len() as f64 / all as f64,
        };
        let evaluation = value_and_gradient(predictor, batch, 1, None, threads)?;
        let slope = &evaluation.gradient.predictor.posterior;
        if let Some((posterior, _)) = natural_step_or_shorter(&predictor.predictor.posterior, slope, step) {
            predictor.predictor.posterior = posterior;
        }
    }
    Ok(())
}

/// E[(y − g)²] over q(g) and all rows, from the slope of the bound: Σ (E[(y − g)²] − σ²) / (2σ⁴).
fn expected_square(
    predictor: &Params,
    noise: f64,
    batches: &[Batch<'_, f32>],
    threads: &Threads,
) -> Result<f64, TrainError> {
    let (mut sum, mut seen) = (0.0, 0);
    for batch in batches {
        let evaluation = value_and_gradient(predictor, batch, 1, None, threads)?;
        if let Likelihood::Gaussian { noise: slope } = evaluation.gradient.likelihood {
            sum += batch.y.len() as f64 * (noise + 2.0 * noise * noise * slope / batch.total_rows as f64);
            seen += batch.y.len();
        }
    }
    Ok(sum / seen as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Scaling};
    use crate::elbo::evaluate;
    use crate::train::{Task, small_model};

    /// A smooth function of two inputs, on a grid, with a disturbance of known size.
    fn data(disturbance: f32) -> Dataset {
        let grid = (0..400).map(|i| ((i % 20) as f32 / 10.0, (i / 20) as f32 / 10.0));
        let y = grid
            .clone()
            .enumerate()
            .map(|(i, (a, b))| a + 0.3 * b + if i % 2 == 0 { disturbance } else { -disturbance });
        Dataset::new(grid.clone().flat_map(|(a, b)| [a, b]).collect(), y.collect(), 2).unwrap()
    }

    fn refitted(data: &Dataset, batch: usize, noise: f64, with_flow: bool) -> (Params, f64) {
        let config = Config { batch, ..Config::for_rows(data.rows(), Task::Regression) };
        let scaling = Scaling::of(data, true);
        let rows_of = Standardised { data, scaling: &scaling };
        let threads = Threads::new(1).unwrap();
        let mut params = Params { likelihood: Likelihood::Gaussian { noise }, ..small_model(with_flow) };
        refit(&mut params, rows_of, &rows(data.rows(), &config), &config, &threads).unwrap();
        // E[(y − g)²], row by row from the predictions.
        let (x, y) = rows_of.gather(&(0..data.rows()).collect::<Vec<_>>());
        let latent = evaluate(&params, &x, 1, None, &threads).unwrap();
        let square = |(row, &y): (usize, &f32)| f64::from((y - latent.mean[row]).powi(2) + latent.variance[row]);
        let mean = y.iter().enumerate().map(square).sum::<f64>() / data.rows() as f64;
        (params, mean)
    }

    fn noise_of(params: &Params) -> f64 {
        match params.likelihood {
            Likelihood::Gaussian { noise } => noise,
            Likelihood::Bernoulli { .. } => f64::NAN,
        }
    }

    #[test]
    fn beyond_a_batch_the_noise_is_what_the_predictions_miss() {
        for (disturbance, start) in [(0.3, 10.0), (0.3, 1e-3), (0.0, 0.1)] {
            let (params, missed) = refitted(&data(disturbance), 100, start, false);
            let ratio = noise_of(&params) / missed;
            assert!((ratio - 1.0).abs() < 2.0 * SETTLED, "{disturbance}, {start}: {ratio}");
        }
    }

    #[test]
    fn on_all_rows_and_with_a_flow_the_noise_stays() {
        for (batch, with_flow) in [(400, false), (100, true)] {
            let (params, missed) = refitted(&data(0.3), batch, 5.0, with_flow);
            assert!((missed / 5.0).ln().abs() > WORTHWHILE, "{missed}");
            assert_eq!(noise_of(&params), 5.0);
        }
    }
}
