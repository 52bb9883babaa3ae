//! Leaves out of every q(u) what predictions cannot tell. The device computes a variance direction by direction, and
//! directions are most of a model file.
//!
//! ```text
//! variance(x) = s²(1 − aᵀA a),   a = R⁻¹ρ(Z,x),   A = I − L Lᵀ
//! Σ = E[aaᵀ] + λI = F Fᵀ over visited states,   FᵀA F = U Λ Uᵀ,   A = Σ_r Λ_r e_r e_rᵀ,   e_r = F⁻ᵀu_r
//! ```
//!
//! Without a direction of positive Λ_r a variance is s²Λ_r wider on the average over the visited states, and nowhere
//! narrower: L′L′ᵀ = I − A′ ≽ L Lᵀ, since A′ ≼ A. Anywhere it is at most s² λ_max(A − A′) wider. Outputs on one kernel whose closed
//! forms have their directions in common keep those: they are the eigenvectors of Σ as well.
//!
//! Directions are left out in the order of what they contribute to the predicted variance, as many as cost the predictions
//! less than a tolerance: the mean Kullback–Leibler divergence from those of the whole model, with the same noise, over
//! training rows, and over inputs half-way between rows that are close to each other, whichever is larger. At the rows
//! themselves variances are smaller than at new ones. No target is looked at. Cost: an eigen-decomposition per output and
//! some ten predictions of those inputs.

use diffgp_core::blob::layout::BLOCK;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::config::Config;
use super::objective::{Paths, Standardised};
use super::residuals;
use crate::elbo::{ElboError, predict_latent, trace};
use crate::exact::{correlation, whitening_factor};
use crate::export::tables::{Directions as Common, common_directions, unexplained};
use crate::noise::NoiseKey;
use crate::params::{Params, Posterior, Process};
use crate::philox::Purpose;
use crate::threads::Threads;

/// Rows that are looked at, at most.
const ROWS: usize = 300;
/// Of so many other rows the nearest is taken.
const NEIGHBOURS: usize = 20;
/// States that are looked at, at most.
const STATES: usize = 2000;
/// Paths of every row.
const PATHS: usize = 8;
/// λ: how much states that no row visited count.
const ELSEWHERE: f64 = 1e-5;
/// The largest contribution, as a share of the predicted variance, that is tried to be left out, and the smallest.
const CONTRIBUTIONS: (f64, f64) = (0.2, 1e-8);
/// Of the tolerance, what may be lost by directions of the predictor: they widen every bar, those of the flow only where
/// it spreads. At the whole tolerance held-out rows of concrete and boston (T = 0, split 0) lost 0.008 and 0.014 nats, after
/// calibration, at a tenth 0.002 and nothing; concrete with a flow lost nothing at the whole.
const PREDICTOR_SHARE: f64 = 0.1;
/// −Λ of a direction that is taken to be a rounding error of one that contributes nothing.
const ROUNDING: f64 = 1e-9;

/// What was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compaction {
    /// What predictions lose, in nats per row.
    pub loss: f64,
    /// Directions before, over all outputs of flow and predictor.
    pub before: usize,
    /// Directions after.
    pub after: usize,
    /// The most by which a variance can be wider anywhere, as a share of its kernel's s².
    pub widening: f64,
    least: Least,
}

/// The least that a direction contributes to the predicted variance, as a share of it, if it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Least {
    flow: f64,
    predictor: f64,
}

/// Leaves out of `params` what costs predictions of some rows less than the tolerance of the configuration; `None` if that is
/// nothing.
pub(super) fn compact(
    params: &mut Params,
    rows_of: Standardised<'_>,
    config: &Config,
    threads: &Threads,
) -> Result<Option<Compaction>, ElboError> {
    if config.compact <= 0.0 {
        return Ok(None);
    }
    let Some(directions) = Directions::of(params, rows_of, config, threads)? else { return Ok(None) };
    let inputs = Inputs::at_and_between_rows(rows_of);
    let predict = |params: &Params| inputs.predict(params, paths(params, config, threads), threads);
    let whole = predict(params)?;
    // The first contributions, falling, that cost no more than the tolerance.
    let search = |tolerance: f64, least: &dyn Fn(f64) -> Least| -> Result<Option<(Least, f64)>, ElboError> {
        let mut contribution = CONTRIBUTIONS.0;
        while contribution > CONTRIBUTIONS.1 {
            let least = least(contribution);
            if let Some((compacted, _)) = directions.without(params, least) {
                let loss = loss(&whole, &predict(&compacted)?);
                if loss <= tolerance {
                    return Ok(Some((least, loss)));
                }
            }
            contribution /= 2.0;
        }
        Ok(None)
    };
    let of_predictor = search(PREDICTOR_SHARE * config.compact, &|predictor| Least { predictor, flow: 0.0 })?;
    let (mut least, mut loss) = of_predictor.unwrap_or_default();
    if params.flow.is_some()
        && let Some(of_both) = search(config.compact, &|flow| Least { flow, ..least })?
    {
        (least, loss) = of_both;
    }
    let Some((compacted, Left { before, after })) =
        directions.without(params, least).filter(|(_, left)| left.after < left.before)
    else {
        return Ok(None);
    };
    let compaction = Compaction { loss, before, after, widening: widening(params, &compacted), least };
    *params = compacted;
    Ok(Some(compaction))
}

/// Leaves out of a model like another what was left out of that one.
pub(super) fn compact_as(
    params: &mut Params,
    as_in: &Compaction,
    rows_of: Standardised<'_>,
    config: &Config,
    threads: &Threads,
) -> Result<(), ElboError> {
    let directions = Directions::of(params, rows_of, config, threads)?;
    if let Some((compacted, _)) = directions.and_then(|directions| directions.without(params, as_in.least)) {
        *params = compacted;
    }
    Ok(())
}

/// Mean divergence, at the rows or between them, whichever is larger.
fn loss(whole: &[Said], compacted: &[Said]) -> f64 {
    let divergences: Vec<f64> = whole.iter().zip(compacted).map(|(p, q)| p.divergence(q)).collect();
    let halves = divergences.chunks((whole.len() / 2).max(1));
    halves.map(|half| half.iter().sum::<f64>() / half.len() as f64).fold(0.0, f64::max)
}

/// Inputs in standardised units: those of some rows, and as many where no row is.
struct Inputs {
    /// `[B, D]`.
    x: Vec<f32>,
    /// Rows whose noise they have.
    rows: Vec<usize>,
}

impl Inputs {
    /// Rows that are spread evenly over the data; then inputs half-way from each to the nearest of some others.
    fn at_and_between_rows(rows_of: Standardised<'_>) -> Self {
        let (rows, count) = (rows_of.data.rows(), rows_of.data.rows().min(ROWS));
        let rows: Vec<usize> = (0..count).map(|index| index * rows / count).collect();
        let (all, _) = rows_of.gather(&rows);
        let d = rows_of.data.inputs();
        let row = |index: usize| &all[index % count * d..][..d];
        let between = |index: usize| {
            // Their distance in the order of the data differs, should that have a period.
            let others = (1..=NEIGHBOURS).map(|n| row(index + n * (n + 1) / 2));
            let squares = |other: &[f32]| row(index).iter().zip(other).map(|(x, y)| (x - y).powi(2)).sum::<f32>();
            // A copy of the row is no other one.
            let apart = others.filter(|other| squares(other) > 0.0);
            let nearest = apart.min_by(|a, b| squares(a).total_cmp(&squares(b))).unwrap_or(row(index));
            row(index).iter().zip(nearest).map(|(x, y)| 0.5 * (x + y))
        };
        let between: Vec<f32> = (0..count).flat_map(between).collect();
        Self { x: [all.as_slice(), &between].concat(), rows: rows.repeat(2) }
    }

    /// What a model says of them.
    fn predict(&self, params: &Params, paths: Option<Paths<'_>>, threads: &Threads) -> Result<Vec<Said>, ElboError> {
        let (count, noise) = paths.map_or(Ok((1, None)), |paths| paths.noise(params, &self.rows))?;
        let latent = predict_latent(params, &self.x, count, noise.as_deref(), threads)?;
        let outputs = params.predictor.outputs();
        let of_row = |row: usize| {
            let of_path = |path: usize| {
                let from = (path * self.rows.len() + row) * outputs;
                (from..from + outputs).map(|at| (f64::from(latent.mean[at]), f64::from(latent.variance[at])))
            };
            Said::new(params, &(0..count).flat_map(of_path).collect::<Vec<_>>())
        };
        Ok((0..self.rows.len()).map(of_row).collect())
    }
}

/// A prediction.
enum Said {
    /// Mean and variance of a new observation of every target.
    Targets(Vec<(f64, f64)>),
    /// The probability of every class.
    Classes(Vec<f64>),
}

impl Said {
    /// Of mean and variance of g at the ends of paths: `[S, O]`.
    fn new(params: &Params, latent: &[(f64, f64)]) -> Self {
        let outputs = params.predictor.outputs();
        if let Some(classes) = params.likelihood.with(|density| density.classes(outputs)) {
            return Self::Classes(residuals::probabilities(params, classes, latent));
        }
        let of_target = |(output, noise): (usize, &f64)| {
            let (mean, variance) = residuals::moments(latent.iter().skip(output).step_by(outputs));
            (mean, variance + noise)
        };
        Self::Targets(params.likelihood.noise().iter().enumerate().map(of_target).collect())
    }

    /// Kullback–Leibler divergence of another prediction from this one: of classes, or of Gaussians, target by target.
    fn divergence(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Targets(p), Self::Targets(q)) => {
                let of_target = |(&(m, v), &(n, w)): (&(f64, f64), &(f64, f64))| {
                    0.5 * (v / w - 1.0 - (v / w).ln() + (m - n).powi(2) / w)
                };
                p.iter().zip(q).map(of_target).sum()
            }
            (Self::Classes(p), Self::Classes(q)) => {
                let of_class =
                    |(&p, &q): (&f64, &f64)| if p > 0.0 { p * (p / q.max(f64::MIN_POSITIVE)).ln() } else { 0.0 };
                p.iter().zip(q).map(of_class).sum()
            }
            _ => f64::INFINITY,
        }
    }
}

fn paths<'a>(params: &Params, config: &Config, threads: &'a Threads) -> Option<Paths<'a>> {
    let key = NoiseKey { seed: config.seed, purpose: Purpose::Calibration, iteration: 1 };
    params.flow.as_ref().map(|_| Paths { count: PATHS, key, threads })
}

/// The directions of all outputs, with what they contribute.
struct Directions {
    flow: Vec<Group>,
    predictor: Vec<Group>,
}

/// Outputs with the same directions.
struct Group {
    outputs: Vec<usize>,
    /// e_r in columns.
    vectors: DMatrix<f64>,
    /// Λ_r of every output.
    coefficients: Vec<DVector<f64>>,
    /// What a direction contributes to the predicted variance, as a share of it; infinite where it widens the variance.
    contributions: Vec<f64>,
}

/// Directions, over all outputs.
#[derive(Default)]
struct Left {
    before: usize,
    after: usize,
}

impl Directions {
    /// `None` if a matrix cannot be factorised.
    fn of(
        params: &Params,
        rows_of: Standardised<'_>,
        config: &Config,
        threads: &Threads,
    ) -> Result<Option<Self>, ElboError> {
        let Inputs { x, rows } = Inputs::at_and_between_rows(rows_of);
        let (states, ends) = states(params, &x, &rows, paths(params, config, threads), threads)?;
        let d = params.inputs();
        let (states, ends) = (thinned(&states, d), thinned(&ends, d));
        let predictor = &params.predictor;
        let Some(sigmas) = second_moments(predictor, &ends, params.jitter) else { return Ok(None) };
        // 1/(σ² + E[variance]) of every output; of classes, whose latent functions are of the order of one, σ² is 1.
        let precisions: Vec<f64> = (0..predictor.outputs())
            .map(|o| {
                let noise = params.likelihood.noise().get(o).copied().unwrap_or(1.0);
                let explained = unexplained(&predictor.posteriors[o]).dot(&sigmas[o.min(sigmas.len() - 1)]);
                1.0 / (noise + predictor.kernel(o).variance * (1.0 - explained).max(0.0))
            })
            .collect();
        let weights: Vec<f64> =
            (0..predictor.outputs()).map(|o| predictor.kernel(o).variance * precisions[o]).collect();
        let Some(predictor_groups) = groups(predictor, &sigmas, &weights) else { return Ok(None) };
        let mut flow_groups = Vec::new();
        if let Some(flow) = params.flow.as_ref().filter(|flow| flow.temporal.is_none()) {
            let Some(sigmas) = second_moments(&flow.field, &states, params.jitter) else { return Ok(None) };
            // A variance v of an input becomes v s²/ℓ² of the answer.
            let slope = |d: usize| {
                let of_output = |o: usize| weights[o] / predictor.kernel(o).length_scales[d].powi(2);
                (0..predictor.outputs()).map(of_output).fold(0.0, f64::max)
            };
            let weights: Vec<f64> =
                (0..flow.inputs()).map(|d| flow.field.kernel(d).variance * flow.time * slope(d)).collect();
            let Some(groups) = groups(&flow.field, &sigmas, &weights) else { return Ok(None) };
            flow_groups = groups;
        }
        Ok(Some(Self { flow: flow_groups, predictor: predictor_groups }))
    }

    /// The model without directions that contribute less; `None` if a matrix cannot be factorised.
    fn without(&self, params: &Params, least: Least) -> Option<(Params, Left)> {
        let (mut compacted, mut left) = (params.clone(), Left::default());
        for group in &self.predictor {
            group.cut(&mut compacted.predictor.posteriors, least.predictor, &mut left)?;
        }
        if let Some(flow) = &mut compacted.flow {
            for group in &self.flow {
                group.cut(&mut flow.field.posteriors, least.flow, &mut left)?;
            }
        }
        Some((compacted, left))
    }
}

impl Group {
    fn cut(&self, posteriors: &mut [Posterior], least: f64, left: &mut Left) -> Option<()> {
        // The largest first; the device takes whole blocks.
        let mut order: Vec<usize> = (0..self.contributions.len()).collect();
        order.sort_by(|&i, &j| self.contributions[j].total_cmp(&self.contributions[i]));
        let telling = self.contributions.iter().filter(|&&of| of > least).count();
        order.truncate(telling.next_multiple_of(BLOCK));
        left.before += self.outputs.len() * self.contributions.len();
        left.after += self.outputs.len() * order.len();
        if order.len() == self.contributions.len() {
            return Some(());
        }
        let vectors = self.vectors.select_columns(&order);
        for (&output, coefficients) in self.outputs.iter().zip(&self.coefficients) {
            let posterior = &mut posteriors[output];
            // A′
            let kept = &vectors * DMatrix::from_diagonal(&coefficients.select_rows(&order)) * vectors.transpose();
            let size = kept.nrows();
            posterior.factor = (DMatrix::identity(size, size) - kept).cholesky()?.unpack();
        }
        Some(())
    }
}

/// max λ_max(A − A′) over all outputs.
fn widening(before: &Params, after: &Params) -> f64 {
    let of_process = |before: &Process, after: &Process| {
        let pairs = before.posteriors.iter().zip(&after.posteriors).filter(|(p, q)| p.factor != q.factor);
        let of_output =
            |(p, q): (&Posterior, &Posterior)| (unexplained(p) - unexplained(q)).symmetric_eigenvalues().max();
        pairs.map(of_output).fold(0.0, f64::max)
    };
    let flow = before.flow.iter().zip(&after.flow).map(|(p, q)| of_process(&p.field, &q.field)).fold(0.0, f64::max);
    flow.max(of_process(&before.predictor, &after.predictor))
}

/// The directions of a process whose outputs' variances weigh so much.
fn groups(process: &Process, sigmas: &[DMatrix<f64>], weights: &[f64]) -> Option<Vec<Group>> {
    let matrices: Vec<_> = process.posteriors.iter().map(unexplained).collect();
    if process.kernels.len() == 1
        && let Some(common) = common_directions(&matrices)
    {
        let vectors = common[0].vectors.clone();
        let visited = |r: usize| vectors.column(r).dot(&(&sigmas[0] * vectors.column(r)));
        let contribution = |r: usize| {
            let of_output = |(o, of): (usize, &Common)| share(weights[o], of.coefficients[r]);
            visited(r) * common.iter().enumerate().map(of_output).fold(0.0, f64::max)
        };
        let contributions = (0..vectors.ncols()).map(contribution).collect();
        let coefficients = common.iter().map(|of| of.coefficients.clone()).collect();
        return Some(vec![Group { outputs: (0..matrices.len()).collect(), vectors, coefficients, contributions }]);
    }
    let one = |(output, matrix): (usize, DMatrix<f64>)| {
        // F
        let spread = sigmas[output.min(sigmas.len() - 1)].clone().cholesky()?.unpack();
        let eigen = SymmetricEigen::new(spread.transpose() * matrix * &spread);
        let contributions = eigen.eigenvalues.iter().map(|&value| share(weights[output], value)).collect();
        let vectors = spread.tr_solve_lower_triangular(&eigen.eigenvectors)?;
        Some(Group { outputs: vec![output], vectors, coefficients: vec![eigen.eigenvalues], contributions })
    };
    matrices.into_iter().enumerate().map(one).collect()
}

/// A direction that widens the variance stays: without it bars would be narrower.
fn share(weight: f64, coefficient: f64) -> f64 {
    if coefficient < -ROUNDING { f64::INFINITY } else { weight * coefficient.max(0.0) }
}

/// Σ = E[aaᵀ] + λI of every kernel; `None` if its matrix cannot be factorised.
fn second_moments(process: &Process, states: &[Vec<f64>], jitter: f64) -> Option<Vec<DMatrix<f64>>> {
    let of_kernel = |kernel| {
        let factor = whitening_factor(kernel, &process.inducing, jitter).ok()?;
        let rho = DMatrix::from_fn(process.inducing.nrows(), states.len(), |m, n| {
            correlation(kernel, &states[n], process.inducing.row(m).iter())
        });
        let a = factor.solve_lower_triangular(&rho)?;
        let mut sigma = &a * a.transpose() / states.len().max(1) as f64;
        for i in 0..sigma.nrows() {
            sigma[(i, i)] += ELSEWHERE;
        }
        Some(sigma)
    };
    process.kernels.iter().map(of_kernel).collect()
}

/// The states from which steps are made, and those where they end.
fn states(
    params: &Params,
    x: &[f32],
    rows: &[usize],
    paths: Option<Paths<'_>>,
    threads: &Threads,
) -> Result<(Vec<f32>, Vec<f32>), ElboError> {
    let Some(flow) = &params.flow else { return Ok((Vec::new(), x.to_vec())) };
    let (count, noise) = paths.map_or(Ok((1, None)), |paths| paths.noise(params, rows))?;
    let (mut from, mut ends) = (Vec::new(), Vec::new());
    for (k, states) in trace(params, x, count, noise.as_deref(), threads)?.path.chunks_exact(x.len()).enumerate() {
        let is_end = k % (flow.steps + 1) == flow.steps;
        (if is_end { &mut ends } else { &mut from }).extend_from_slice(states);
    }
    Ok((from, ends))
}

/// Every nth state, so that at most [`STATES`] are left.
fn thinned(states: &[f32], inputs: usize) -> Vec<Vec<f64>> {
    let stride = (states.len() / inputs).div_ceil(STATES).max(1);
    states.chunks_exact(inputs).step_by(stride).map(|state| state.iter().copied().map(f64::from).collect()).collect()
}
