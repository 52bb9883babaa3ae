//! The last fit of q(u_g) and, with more rows than a batch, of σ²: everything else fixed, at the exported number of
//! steps, several paths, all rows. It also ends every stage that is compared with another, on the training rows.
//!
//! The flow is fixed, so its end points are computed once, forward only; what is left is a sparse Gaussian process on
//! S·B rows. Gaussian: natural-gradient steps γₜ = Bₜ/(B₁ + … + Bₜ) over chunks end at the closed-form optimum for all
//! rows seen, output by output. Classes: not conjugate, so sweeps of shorter steps. Memory: the end points, S·rows·D numbers.
//!
//! While everything else moves, q(u_g) never quite fits: it is the optimum of the step before, or of some of the rows.
//! σ² grows by what it misses; on data with little noise that is most of it. So it is fitted in turns with q(u_g):
//!
//! 1. without a flow, to its own optimum E[(y − g)²], which is ascent on the bound again. Where it is right to a tenth,
//!    which is worth less than 0.003 nats, it is left alone;
//! 2. to what predictions want. E[(y − g)²] holds the variance of g and the spread of the paths, which predictions add
//!    once more. So σ² becomes smaller, or else larger, as long as the log-likelihood of the validation rows gains.
//!    Trials of kernels do without: the kernel whose variance was further off would gain.

use super::config::Config;
use super::error::TrainError;
use super::growth;
use super::objective::{Paths, Standardised};
use super::plan::NoiseFit;
use crate::comparison::Gain;
use crate::elbo::{Batch, value_and_gradient};
use crate::exact;
use crate::noise::NoiseKey;
use crate::optimise::natural_step_or_shorter;
use crate::params::Params;
use crate::permutation::Permutation;
use crate::philox::Purpose;
use crate::threads::Threads;

/// Rows per step.
const CHUNK: usize = 1000;
/// Sweeps over the rows at most, and for classes the sum of the steps of one.
const SWEEPS: usize = 10;
const SWEEP_STEP: f64 = 0.5;
/// Relative changes of σ²: one that is worth fitting it at all, and one that is not worth another sweep.
const WORTHWHILE: f64 = 0.1;
const SETTLED: f64 = 0.01;
/// Steps of σ²: their factor, what one must add to the log-likelihood of a validation row, and how many at most.
const NOISE_FACTOR: f64 = 1.5;
const NOISE_GAIN: f64 = 0.01;
const NOISE_STEPS: usize = 25;

/// Rows to fit to.
#[derive(Clone, Copy)]
pub(super) struct FitRows<'a> {
    /// These.
    pub(super) training: &'a [usize],
    /// How many they stand for.
    pub(super) total: usize,
    /// Rows for σ² that the fit of q(u_g) does not see.
    pub(super) validation: &'a [usize],
}

/// A jitter with which trainer and export factorise every kernel matrix: the model is fitted with the one that the device
/// will have. Returns it if it had to be raised.
pub(super) fn settle_jitter(
    params: &mut Params,
    rows_of: Standardised<'_>,
    config: &Config,
    threads: &Threads,
) -> Result<Option<f64>, TrainError> {
    let before = params.jitter;
    params.jitter = exact::sufficient_jitter(params)?;
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Refit, iteration: 0 };
    // One row: factors do not depend on rows.
    while let Some(raised) = rows_of.bound(params, &[0], 1, Paths { count: 1, key, threads })?.jitter_raised {
        params.jitter = raised;
    }
    Ok((params.jitter > before).then_some(params.jitter))
}

/// The last fit of all: σ² with the training rows, if validation rows want another, then q(u_g) on all rows, or all but those
/// that calibrate. If they do not, everything is as it would be without them. What another σ² gained.
pub(super) fn finish(
    params: &mut Params,
    rows_of: Standardised<'_>,
    apart: FitRows<'_>,
    mut noise: NoiseFit,
    config: &Config,
    threads: &Threads,
) -> Result<Option<Gain>, TrainError> {
    let mut gain = None;
    if noise == NoiseFit::ToValidation {
        let mut chosen = params.clone();
        gain = refit(&mut chosen, rows_of, apart, noise, config, threads)?;
        noise = NoiseFit::ToBound;
        if gain.is_some() {
            (*params, noise) = (chosen, NoiseFit::Keep);
        }
    }
    if config.keeps_apart() {
        refit(params, rows_of, FitRows { validation: &[], ..apart }, noise, config, threads)?;
        return Ok(gain);
    }
    let total = rows_of.data.rows();
    let order = Permutation::new(total, config.seed, Purpose::Refit, 0);
    let rows: Vec<usize> = (0..total.min(config.refit.max_rows)).map(|index| order.at(index)).collect();
    let all = FitRows { training: &rows, total, validation: &[] };
    refit(params, rows_of, all, noise, config, threads)?;
    Ok(gain)
}

/// Replaces q(u_g) of `params`, and perhaps σ², by what fits the rows; what another σ² adds to the log-likelihood of a
/// validation row, if they wanted one. A step that would leave the Gaussians is shortened, or left out.
pub(super) fn refit(
    params: &mut Params,
    rows_of: Standardised<'_>,
    rows: FitRows<'_>,
    noise_fit: NoiseFit,
    config: &Config,
    threads: &Threads,
) -> Result<Option<Gain>, TrainError> {
    let grown = config.grows(rows_of.data.rows()) && {
        let ends: Vec<f64> = rows_of.drift_ends(params, rows.training, threads)?.into_iter().map(f64::from).collect();
        let noise = params.likelihood.noise().iter().copied().fold(f64::INFINITY, f64::min);
        growth::grow(&mut params.predictor, &ends, noise, config.predictor.most_inducing, params.flow.is_some())
    };
    settle_jitter(params, rows_of, config, threads)?;
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Refit, iteration: 0 };
    let paths = Paths { count: config.refit.paths, key, threads };
    let ends = rows.training.chunks(CHUNK).map(|chunk| rows_of.end_points(params, chunk, paths));
    let ends = ends.collect::<Result<Vec<_>, _>>()?;
    let batches: Vec<Batch<'_, f32>> = ends.iter().map(|(x, y)| Batch { x, y, total_rows: rows.total }).collect();

    let mut predictor = Params { flow: None, ..params.clone() };
    fit(&mut predictor, &batches, threads)?;
    let closed_form = predictor.likelihood.with(|density| density.has_closed_form());
    let noise_to_bound = (params.flow.is_none() || grown) && noise_fit != NoiseFit::Keep;
    for sweep in 1..SWEEPS {
        if closed_form {
            let enough = if sweep == 1 { WORTHWHILE } else { SETTLED };
            if !noise_to_bound || !improve_noise(&mut predictor, enough, &batches, threads)? {
                break;
            }
        }
        fit(&mut predictor, &batches, threads)?;
    }
    let mut gain = None;
    if noise_fit == NoiseFit::ToValidation {
        let paths = Paths::to_decide(config, threads);
        let score = |predictor: &Params| {
            let whole = Params { flow: params.flow.clone(), ..predictor.clone() };
            Ok(rows_of.score_rows(&whole, rows.validation, paths)?.1)
        };
        gain = fit_noise(&mut predictor, &batches, score, threads)?;
    }
    params.predictor.posteriors = predictor.predictor.posteriors;
    params.likelihood = predictor.likelihood;
    Ok(gain)
}

/// Line search over σ² of one output after the other: smaller, or else larger, q(u_g) fitted to it, as long as validation
/// rows gain; what they gained.
fn fit_noise(
    predictor: &mut Params,
    batches: &[Batch<'_, f32>],
    score: impl Fn(&Params) -> Result<Vec<f64>, TrainError>,
    threads: &Threads,
) -> Result<Option<Gain>, TrainError> {
    let first = score(predictor)?;
    let mut best = first.clone();
    for output in 0..predictor.likelihood.noise().len() {
        let before = best.clone();
        for factor in [1.0 / NOISE_FACTOR, NOISE_FACTOR] {
            for _ in 0..NOISE_STEPS {
                let mut next = predictor.clone();
                next.likelihood.noise_mut()[output] *= factor;
                fit(&mut next, batches, threads)?;
                let scored = score(&next)?;
                if !Gain::paired(&scored, &best).is_some_and(|gain| gain.is_worth(NOISE_GAIN)) {
                    break;
                }
                (*predictor, best) = (next, scored);
            }
            if best != before {
                break;
            }
        }
    }
    Ok(if best == first { None } else { Gain::paired(&best, &first) })
}

/// One sweep of steps of q(u_g).
fn fit(predictor: &mut Params, batches: &[Batch<'_, f32>], threads: &Threads) -> Result<(), TrainError> {
    let closed_form = predictor.likelihood.with(|density| density.has_closed_form());
    let all: usize = batches.iter().map(|batch| batch.y.len()).sum();
    let mut seen = 0;
    for batch in batches {
        seen += batch.y.len();
        let step = match closed_form {
            true => batch.y.len() as f64 / seen as f64,
            false => SWEEP_STEP * batch.y.len() as f64 / all as f64,
        };
        let evaluation = value_and_gradient(predictor, batch, 1, None, threads)?;
        let slopes = &evaluation.gradient.predictor.posteriors;
        for (posterior, slope) in predictor.predictor.posteriors.iter_mut().zip(slopes) {
            if let Some((moved, _)) = natural_step_or_shorter(posterior, slope, step) {
                *posterior = moved;
            }
        }
    }
    Ok(())
}

/// Gives every σ² its optimum, unless no logarithm would change by more than `enough`; whether it did.
fn improve_noise(
    predictor: &mut Params,
    enough: f64,
    batches: &[Batch<'_, f32>],
    threads: &Threads,
) -> Result<bool, TrainError> {
    let better = expected_squares(predictor, batches, threads)?;
    let noise = predictor.likelihood.noise_mut();
    let changes: Vec<f64> = better.iter().zip(&*noise).map(|(better, noise)| (better / noise).ln().abs()).collect();
    let improves = changes.iter().any(|&change| change > enough) && changes.iter().all(|change| change.is_finite());
    if improves {
        noise.copy_from_slice(&better);
    }
    Ok(improves)
}

/// E[(y − g)²] of every output over q(g) and all rows, from the slopes of the bound: Σ (E[(y − g)²] − σ²) / (2σ⁴).
fn expected_squares(predictor: &Params, batches: &[Batch<'_, f32>], threads: &Threads) -> Result<Vec<f64>, TrainError> {
    let noise = predictor.likelihood.noise();
    let (mut sums, mut seen) = (vec![0.0; noise.len()], 0);
    for batch in batches {
        let evaluation = value_and_gradient(predictor, batch, 1, None, threads)?;
        let rows = batch.y.len() / noise.len();
        seen += rows;
        for ((sum, noise), slope) in sums.iter_mut().zip(noise).zip(evaluation.gradient.noise) {
            *sum += rows as f64 * (noise + 2.0 * noise * noise * slope / batch.total_rows as f64);
        }
    }
    Ok(sums.into_iter().map(|sum| sum / seen as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Scaling};
    use crate::elbo::predict_latent;
    use crate::params::Likelihood;
    use crate::train::Task;
    use crate::train::initial;

    /// A smooth function of two inputs, on a grid, with a disturbance of known size.
    fn data(disturbance: f32) -> Dataset {
        let grid = (0..400).map(|i| ((i % 20) as f32 / 10.0, (i / 20) as f32 / 10.0));
        let y = grid
            .clone()
            .enumerate()
            .map(|(i, (a, b))| a + 0.3 * b + if i % 2 == 0 { disturbance } else { -disturbance });
        Dataset::new(grid.clone().flat_map(|(a, b)| [a, b]).collect(), y.collect(), 2).unwrap()
    }

    /// What a fit gave: σ², and on all rows the means of the predictions' variance, of their squared errors, and of
    /// E[(y − g)²].
    #[derive(Debug)]
    struct Fitted {
        noise: f64,
        variance: f64,
        squared_error: f64,
        expected_square: f64,
    }

    fn refitted(noise: f64, with_flow: bool, noise_fit: NoiseFit) -> Fitted {
        let config = &config();
        let data = data(0.3);
        let scaling = Scaling::of(&data, true);
        let rows_of = Standardised { data: &data, scaling: &scaling };
        let threads = Threads::new(1).unwrap();
        let mut params = initial::sparse_gp(&data, &scaling, config, &mut ());
        params.flow = with_flow.then(|| initial::weak_flow(&data, &scaling, config, &mut ()));
        params.likelihood = Likelihood::Gaussian { noise: vec![noise] };
        let all: Vec<usize> = (0..400).map(|place| place * 7 % 400).collect();
        let (validation, training) = all.split_at(100);
        let rows = FitRows { training, total: training.len(), validation };
        refit(&mut params, rows_of, rows, noise_fit, config, &threads).unwrap();

        let (x, y) = rows_of.gather(&all);
        let paths = if with_flow { 50 } else { 1 };
        let key = NoiseKey { seed: 9, purpose: Purpose::Validation, iteration: 0 };
        let mut normals = Vec::new();
        crate::noise::fill(&mut normals, key, &all, paths, config.flow.steps, 2);
        let latent = predict_latent(&params, &x, paths, with_flow.then_some(&normals), &threads).unwrap();
        let noise = params.likelihood.noise()[0];
        let mut fitted = Fitted { noise, variance: noise, squared_error: 0.0, expected_square: 0.0 };
        for (row, &y) in y.iter().enumerate() {
            let of_paths = |value: &dyn Fn(f64, f64) -> f64| {
                let at = |path: usize| path * all.len() + row;
                let value = |path| value(f64::from(latent.mean[at(path)]), f64::from(latent.variance[at(path)]));
                (0..paths).map(value).sum::<f64>() / paths as f64
            };
            let (y, mean) = (f64::from(y), of_paths(&|mean, _| mean));
            let share = 1.0 / all.len() as f64;
            fitted.variance += share * of_paths(&|of_path, variance| variance + (of_path - mean).powi(2));
            fitted.squared_error += share * (y - mean).powi(2);
            fitted.expected_square += share * of_paths(&|of_path, variance| variance + (y - of_path).powi(2));
        }
        fitted
    }

    #[test]
    fn a_model_is_fitted_with_the_jitter_that_it_is_exported_with() {
        let (data, config, threads) = (data(0.1), config(), Threads::new(1).unwrap());
        let scaling = Scaling::of(&data, true);
        let rows_of = Standardised { data: &data, scaling: &scaling };
        let mut params = initial::sparse_gp(&data, &scaling, &config, &mut ());
        // Two points that coincide need a jitter that can be told from rounding.
        let first = params.predictor.inducing.row(0).into_owned();
        params.predictor.inducing.set_row(1, &first);
        params.jitter = 1e-19;
        let rows: Vec<usize> = (0..400).collect();
        let rows = FitRows { training: &rows, total: 400, validation: &[] };
        refit(&mut params, rows_of, rows, NoiseFit::Keep, &config, &threads).unwrap();
        assert!(params.jitter > 1e-19);
        let bound = rows_of.bound(&params, &[0], 1, Paths::to_validate(&config, &threads)).unwrap();
        assert_eq!(bound.jitter_raised, None);
        let metadata = crate::export::Metadata {
            scaling: &scaling,
            names: &[],
            classes: &[],
            model_id: &[],
            discretisation: None,
        };
        crate::export::export(&params, &metadata, &[]).unwrap();
    }

    fn config() -> Config {
        let mut config = Config::for_rows(400, Task::Regression);
        (config.predictor.inducing, config.flow.inducing) = (20, 5);
        // The points as they are given.
        config.predictor.most_inducing = 20;
        config
    }

    #[test]
    fn bars_are_as_wide_as_the_errors_with_and_without_a_flow() {
        for (start, with_flow) in [(10.0, false), (1e-3, false), (10.0, true), (1e-3, true)] {
            let fitted = refitted(start, with_flow, NoiseFit::ToValidation);
            // σ² moves in steps of 1.5, as long as one gains 0.01 nats.
            let ratio = fitted.variance / fitted.squared_error;
            assert!((1.0 / NOISE_FACTOR..NOISE_FACTOR).contains(&ratio), "{start}, {with_flow}: {fitted:?}");
        }
    }

    #[test]
    fn without_a_flow_the_noise_goes_to_the_optimum_of_the_bound() {
        for start in [10.0, 1e-3] {
            let fitted = refitted(start, false, NoiseFit::ToBound);
            let ratio = fitted.noise / fitted.expected_square;
            assert!((ratio - 1.0).abs() < 2.0 * SETTLED, "{start}: {fitted:?}");
        }
    }

    #[test]
    fn a_noise_that_suits_stays_to_the_bit() {
        for with_flow in [false, true] {
            let noise = refitted(10.0, with_flow, NoiseFit::ToValidation).noise;
            assert_eq!(refitted(noise, with_flow, NoiseFit::ToValidation).noise, noise);
        }
    }

    #[test]
    fn otherwise_the_noise_stays() {
        for (with_flow, noise_fit) in [(false, NoiseFit::Keep), (true, NoiseFit::Keep), (true, NoiseFit::ToBound)] {
            let fitted = refitted(5.0, with_flow, noise_fit);
            assert_eq!(fitted.noise, 5.0);
            assert!(fitted.variance > NOISE_FACTOR * fitted.squared_error, "a fit would change nothing: {fitted:?}");
        }
    }
}
