//! Where a predictor without a flow starts: the optimum of a Gaussian process over kernel, length-scales and noise.
//!
//! The marginal likelihood has several optima: one that calls fine structure noise, one that explains it. So every kernel
//! climbs from several starts, as an exact Gaussian process on some of the rows, and the rows left out decide between the
//! ends. Rows that repeat an input count once, with the mean of their targets: their twins would speak for no noise at
//! all. If there are more rows than that, the climb goes on with a sparse Gaussian process on all of them.

mod exact_gp;
mod sparse_gp;

use diffgp_core::kernel::KernelKind;
use rayon::prelude::*;

use self::exact_gp::{ExactGp, Rows};
use self::sparse_gp::{Sparse, SparseGp};
use super::config::Config;
use super::error::TrainError;
use super::objective::Standardised;
use super::observer::Observer;
use super::plan::WORTHWHILE_KERNEL_GAIN;
use crate::optimise::{Ascent, Surface};
use crate::params::{Kernel, Params};
use crate::threads::Threads;

/// Starts: ℓ in units of √(D/2), and σ².
const STARTS: [(f64, f64); 3] = [(std::f64::consts::SQRT_2, 1e-1), (1.0, 1e-4), (2.0, 1e-2)];
/// Iterations of every start, of those that are then still the best, and between two looks for an interrupt.
const ITERATIONS: usize = 15;
const LAST_ITERATIONS: usize = 25;
const ROUND: usize = 5;
/// How many go on.
const FINALISTS: usize = 3;
/// Logarithms of ℓ, s² and σ²/s². Variances lose some 10⁻⁷ s² to f32, which must stay far below σ²: σ² ≥ 3·10⁻⁵ s².
const LENGTH_SCALES: (f64, f64) = (-7.0, 6.0);
const VARIANCES: [(f64, f64); 2] = [(-4.0, 4.0), (-10.4, 3.0)];
/// On all rows: how often points are chosen, and iterations with the same points.
const CHOICES: usize = 4;
const SPARSE_ITERATIONS: usize = 10;
/// Evaluations that an iteration takes, on the average.
const EVALUATIONS: f64 = 1.3;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) kernel: Kernel,
    /// σ², of every target.
    pub(super) noise: f64,
    /// Inducing points that the bound on all rows asks for; `None` for an exact Gaussian process.
    pub(super) inducing: Option<usize>,
}

impl Found {
    /// Gives the predictor this kernel and this noise.
    pub(super) fn apply_to(&self, params: &mut Params) {
        params.predictor.kernels.iter_mut().for_each(|kernel| *kernel = self.kernel.clone());
        params.likelihood.noise_mut().iter_mut().for_each(|noise| *noise = self.noise);
    }
}

/// An ascent with one kernel; the note is the log-likelihood of a row given all others, where it is known.
struct Climb {
    kind: KernelKind,
    ascent: Ascent<f64>,
}

/// Of every parameter, for so many.
fn bounds(parameters: usize) -> Vec<(f64, f64)> {
    let mut bounds = vec![LENGTH_SCALES; parameters - VARIANCES.len()];
    bounds.extend(VARIANCES);
    bounds
}

impl Climb {
    fn new(kind: KernelKind, theta: Vec<f64>, surface: &impl Surface<Note = f64>) -> Option<Self> {
        let bounds = bounds(theta.len());
        Some(Self { kind, ascent: Ascent::new(theta, bounds, surface)? })
    }

    fn left_out(&self) -> f64 {
        self.ascent.at.note
    }

    fn found(&self) -> Found {
        found(self.kind, self.ascent.theta.as_slice())
    }
}

/// What θ = log (ℓ₁ … ℓ_D, s², σ²/s²) stands for.
fn found(kind: KernelKind, theta: &[f64]) -> Found {
    let inputs = theta.len() - 2;
    let (variance, ratio) = (theta[inputs].exp(), theta[inputs + 1].exp());
    let length_scales = theta[..inputs].iter().map(|value| value.exp()).collect();
    Found { kernel: Kernel { kind, variance, length_scales }, noise: variance * ratio, inducing: None }
}

/// The best start by the rows left out, for the kernels of the configuration; for more rows, from there to the optimum of
/// the bound on all of them. `model` is the one that starts there.
pub(super) fn search(
    rows_of: Standardised<'_>,
    model: &Params,
    config: &Config,
    threads: &Threads,
    observer: &mut dyn Observer,
) -> Result<Option<Found>, TrainError> {
    let rows = Rows::gather(rows_of, config);
    let mut kinds = vec![config.predictor.kernel];
    kinds.extend(config.candidate_kernels.iter().filter(|&&kind| kind != config.predictor.kernel));
    let start = |kind| STARTS.map(|(length_scale, noise)| (kind, length_scale, noise));
    let starts: Vec<_> = kinds.iter().copied().flat_map(start).collect();
    let begin = |(kind, length_scale, noise): (KernelKind, f64, f64)| {
        let mut theta = vec![(length_scale * (0.5 * rows.inputs as f64).sqrt()).ln(); rows.inputs];
        theta.extend([0.0, noise.ln()]);
        Climb::new(kind, theta, &ExactGp { kind, rows: &rows })
    };
    let all: Vec<_> = starts.iter().map(|(kind, ..)| (*kind, None)).collect();
    let mut climbs = each_climb(all, rows.inputs + 2, threads, |index, _| begin(starts[index]))?;
    for round in 0..(ITERATIONS + LAST_ITERATIONS) / ROUND {
        if is_over(observer)? {
            break;
        }
        if round == ITERATIONS / ROUND {
            climbs.sort_by(|a, b| b.left_out().total_cmp(&a.left_out()));
            climbs.truncate(FINALISTS);
        }
        let go_on = |_, climb: Option<Climb>| {
            let mut climb = climb?;
            climb.ascent.go_on(ROUND, &ExactGp { kind: climb.kind, rows: &rows });
            Some(climb)
        };
        let all = climbs.into_iter().map(|climb| (climb.kind, Some(climb))).collect();
        climbs = each_climb(all, rows.inputs + 2, threads, go_on)?;
    }
    // The kernel of the configuration, unless another is worth its work.
    let worth = |climb: &Climb| {
        let extra = if climb.kind == config.predictor.kernel { 0.0 } else { WORTHWHILE_KERNEL_GAIN };
        climb.left_out() - extra
    };
    let Some(best) = climbs.into_iter().max_by(|a, b| worth(a).total_cmp(&worth(b))) else { return Ok(None) };
    if rows_of.data.rows() <= config.predictor.search_rows || is_over(observer)? {
        return Ok(Some(best.found()));
    }
    on_all_rows(best, Sparse::new(rows_of, model, config, threads), config, observer).map(Some)
}

/// Does something with every climb, of which every process takes a share; those that are left.
fn each_climb(
    climbs: Vec<(KernelKind, Option<Climb>)>,
    parameters: usize,
    threads: &Threads,
    work: impl Fn(usize, Option<Climb>) -> Option<Climb> + Sync,
) -> Result<Vec<Climb>, TrainError> {
    let exchange = threads.exchange();
    let (own, kinds) = (exchange.share(climbs.len()), climbs.iter().map(|(kind, _)| *kind).collect::<Vec<_>>());
    let of_share = climbs.into_par_iter().enumerate().filter(|(index, _)| own.contains(index));
    let done: Vec<_> = threads.pool.install(|| of_share.map(|(index, (_, climb))| work(index, climb)).collect());
    // Of each whether it is left, and what it is.
    let length = 1 + Ascent::numbers_len(parameters);
    let mut numbers = Vec::with_capacity(done.len() * length);
    for climb in done {
        numbers.push(f64::from(u8::from(climb.is_some())));
        numbers.extend(climb.map_or(vec![0.0; length - 1], |climb| climb.ascent.to_numbers()));
    }
    let numbers = exchange.gather(numbers, kinds.len() * length)?;
    let left = numbers.chunks_exact(length).zip(kinds).filter(|(numbers, _)| numbers[0] == 1.0);
    let climb =
        |(numbers, kind): (&[f64], _)| Climb { kind, ascent: Ascent::of_numbers(&numbers[1..], bounds(parameters)) };
    Ok(left.map(climb).collect())
}

/// What the exact Gaussian processes take at most, in seconds: one evaluation is timed.
pub(super) fn seconds(rows_of: Standardised<'_>, config: &Config, threads: &Threads) -> f64 {
    let rows = Rows::gather(rows_of, config);
    let mut theta = vec![0.0; rows.inputs];
    theta.extend([0.0, -2.0]);
    let kind = config.predictor.kernel;
    let start = std::time::Instant::now();
    let _ = Climb::new(kind, theta, &ExactGp { kind, rows: &rows });
    let kinds = 1 + config.candidate_kernels.iter().filter(|&&other| other != kind).count();
    let iterations = STARTS.len() * kinds * ITERATIONS + FINALISTS * LAST_ITERATIONS;
    start.elapsed().as_secs_f64() * EVALUATIONS * iterations as f64 / threads.pool.current_num_threads() as f64
}

/// Evaluations of the bound after that, times their rows.
pub(super) fn evaluations_on_all_rows(rows: usize, config: &Config) -> f64 {
    if rows <= config.predictor.search_rows {
        return 0.0;
    }
    // Two for a point: the first gives q(u_g).
    2.0 * EVALUATIONS * (CHOICES * SPARSE_ITERATIONS) as f64 * rows.min(config.refit.max_rows) as f64
}

/// The climb goes on with a sparse Gaussian process, whose points are chosen anew from time to time.
fn on_all_rows(
    mut best: Climb,
    mut sparse: Sparse<'_>,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Found, TrainError> {
    for _ in 0..CHOICES {
        sparse.choose_points(&best.found(), config.predictor.most_inducing);
        let surface = SparseGp { kind: best.kind, sparse: &sparse };
        let Some(mut climb) = Climb::new(best.kind, best.ascent.theta.as_slice().to_vec(), &surface) else { break };
        for _ in 0..SPARSE_ITERATIONS {
            if is_over(observer)? {
                break;
            }
            climb.ascent.go_on(1, &surface);
        }
        best = climb;
        if is_over(observer)? {
            break;
        }
    }
    Ok(Found { inducing: Some(sparse.inducing()), ..best.found() })
}

/// Whether what was found has to do; an error if the run is to stop.
fn is_over(observer: &mut dyn Observer) -> Result<bool, TrainError> {
    if observer.should_stop() { Err(TrainError::Stopped { iteration: 0 }) } else { Ok(observer.should_finish()) }
}
