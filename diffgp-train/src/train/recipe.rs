//! The recipe: what a run does unless it is told otherwise. `docs/training.md` has the measurements behind it.
//!
//! One number of rows divides it, [`FULL_BATCH_ROWS`]. Up to there an iteration takes all rows, and what follows from that
//! stands beside each setting; beyond, rows come in batches.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;

use super::config::{
    CalibrationConfig, ClimbConfig, Config, FlowConfig, PredictorConfig, Recipe, RefitConfig, Task, ValidationConfig,
};
use crate::calibration::CalibrationMode;
use crate::optimise::{Regularisation, Schedule};

/// Training sets up to this size use all rows in every iteration: q(u_g) then has a closed form, which is worth more than
/// cheaper iterations.
const FULL_BATCH_ROWS: usize = 2000;

/// Rows per iteration beyond that.
const BATCH: usize = 1000;

/// How often single batches would run through all rows in a run on batches, and its iterations at most. Many rows can
/// teach more before they are overfitted.
const EPOCHS: (usize, u64) = (250, 10_000);

/// The same with a flow; classes are overfitted sooner and have what there is without one.
const FLOW_EPOCHS: (usize, u64) = (1200, 15_000);

/// The iterations of a run on batches at least: below, the learning rate falls before the model is there.
const LEAST_BATCH_ITERATIONS: u64 = 3000;

/// Inducing points of the paper, in flow and predictor.
const PAPER_INDUCING: usize = 100;

/// Inducing points of the exported predictor at most: with 512 its variances take one MiB, which `compress` makes less.
const MOST_POINTS: usize = 512;

/// Rows of an exact Gaussian process: an evaluation then takes a twentieth of a second.
const SEARCH_ROWS: usize = 800;

/// Iterations without a flow on many rows, from the start that was found.
const SEARCHED_ITERATIONS: u64 = 600;

/// Fewer rows than this are left out by tenths, not by fifths, where error bars are calibrated.
const FEW_ROWS_TO_LEAVE_OUT: usize = 500;

/// What directions must tell, in nats per row: held-out rows do not notice less.
const TELLING: f64 = 1e-3;

/// Enough to tell kernels apart.
const CANDIDATE_ITERATIONS: u64 = 400;

/// K of a flow. Five midpoint steps of a trained flow are 0 to 4 % of its displacement away from the solution, where Euler
/// steps must be twenty.
const MIDPOINT_STEPS: usize = 5;
const EULER_STEPS: usize = 20;
/// More steps than those, if the flow needs them, up to this multiple.
const MORE_STEPS: usize = 2;
/// K while a flow is trained on batches.
const BATCH_STEPS: usize = 2;
/// K of a chain, and of one that changes with time: two steps would see it at two times.
const CHAIN_STEPS: usize = 2;
const TEMPORAL_CHAIN_STEPS: usize = 5;

impl Config {
    /// The recipe for that many training rows.
    pub fn for_rows(rows: usize, task: Task) -> Self {
        let full = rows <= FULL_BATCH_ROWS;
        // What has a closed form.
        let exact = task == Task::Regression;
        let flow_epochs = if task == Task::Regression { FLOW_EPOCHS } else { EPOCHS };
        // Without the noise of batches, steps may be larger and fewer.
        let climb = |batch_iterations| if full { climb(1000, 0.05) } else { climb(batch_iterations, 0.02) };
        let inducing = 100.min(rows.max(1));
        let searched_climb = self::climb(SEARCHED_ITERATIONS, 0.03);
        Self {
            task,
            recipe: Recipe::Best,
            seed: 0,
            threads: 0,
            flow: FlowConfig {
                time: 5.0,
                optional: true,
                steps: MIDPOINT_STEPS,
                most_steps: MORE_STEPS * MIDPOINT_STEPS,
                // On batches a flow learns as well in steps that are a little off: its last fit is with the finer ones.
                training_steps: if full { None } else { Some(BATCH_STEPS) },
                scheme: Scheme::Midpoint,
                chain: false,
                // Few rows overfit a flow of many points: 50 were as good on all small sets, at 40 % of the time.
                inducing: inducing.min(if full { 50 } else { 100 }),
                inducing_times: 0,
                kernel: KernelKind::Rbf,
                per_dimension: true,
                length_scale: 1.0,
                variance: 0.1,
                factor: 0.1,
            },
            predictor: PredictorConfig {
                inducing,
                most_inducing: if exact { rows.clamp(1, MOST_POINTS) } else { inducing },
                // Points on rows are as good as learned ones where they can be as many as the rows, or half of them.
                grows: full,
                search_rows: if exact { SEARCH_ROWS } else { 0 },
                kernel: KernelKind::Rbf,
                per_output: false,
                length_scale: 1.0,
                noise: 0.1,
            },
            candidate_kernels: match (full, exact) {
                (_, true) => vec![KernelKind::Matern32, KernelKind::Matern52],
                (false, _) => vec![KernelKind::Matern32],
                // Few rows say little about the kernel of classes, and the smoother one has fared better there.
                (true, false) => vec![],
            },
            batch: if full { rows.max(1) } else { BATCH },
            paths: 1,
            candidate: self::climb(CANDIDATE_ITERATIONS, 0.05),
            warm_start: if full { self::climb(300, 0.05) } else { self::climb(2000, 0.02) },
            no_flow: if exact && !full { searched_climb } else { climb(batch_iterations(rows, EPOCHS)) },
            with_flow: climb(batch_iterations(rows, flow_epochs)),
            regularisation: Regularisation::default(),
            validation: ValidationConfig {
                fraction: 0.1,
                max_rows: 1000,
                // Looks cost little beside iterations on all rows, and there are fewer of those.
                every: if full { 25 } else { 50 },
                paths: 10,
                decision_paths: 100,
                // A tenth of few rows cannot tell a gain of 0.01 nats from none.
                folds: if full { 4 } else { 1 },
                select: true,
                // A tenth of few rows is worth training on in the end.
                again_rows: if full { FULL_BATCH_ROWS } else { 0 },
            },
            averaging: None,
            calibration: CalibrationConfig {
                mode: CalibrationMode::Auto,
                // Of few rows a fifth is much to leave out.
                folds: if !full {
                    0
                } else if rows < FEW_ROWS_TO_LEAVE_OUT {
                    10
                } else {
                    5
                },
                max_rows: 4000,
                paths: 50,
            },
            refit: RefitConfig { paths: 4, max_rows: 20_000 },
            compact: TELLING,
            jitter: 1e-6,
            variance_floor: 1e-8,
            probit_epsilon: 1e-3,
            checkpoint_every: 100,
        }
    }
}

impl Config {
    /// The model of the paper as it is written: RBF kernels, 100 inducing points in flow and predictor, twenty
    /// Euler–Maruyama steps, Adam with a rate of 0.01 on everything, a weak flow (s_f² = 0.01) in front of a sparse Gaussian
    /// process that was trained alone; no rows are kept aside, nothing is chosen, and nothing fitted or calibrated afterwards.
    ///
    /// The paper does not say how many paths a row has while training, how large batches are and how long a run is: one
    /// path, and batches and iterations of [`Config::for_rows`].
    pub fn paper(rows: usize, task: Task) -> Self {
        let mut config = Self { recipe: Recipe::Paper, ..Self::for_rows(rows, task) };
        let inducing = PAPER_INDUCING.min(rows.max(1));
        (config.predictor.inducing, config.predictor.most_inducing) = (inducing, inducing);
        config.predictor.search_rows = 0;
        let flow = &mut config.flow;
        (flow.scheme, flow.optional, flow.inducing, flow.variance) = (Scheme::EulerMaruyama, false, inducing, 0.01);
        flow.set_steps(Some(EULER_STEPS));
        config.candidate_kernels.clear();
        for climb in [&mut config.candidate, &mut config.warm_start, &mut config.no_flow, &mut config.with_flow] {
            let ClimbConfig { iterations, .. } = *climb;
            let (schedule, natural_step) = (Schedule::Constant, Some(0.0));
            *climb = ClimbConfig { iterations, learning_rate: 0.01, schedule, natural_step, patience: 0 };
        }
        config.validation.fraction = 0.0;
        config.calibration.mode = CalibrationMode::None;
        config.refit.paths = 0;
        config.compact = 0.0;
        config
    }
}

impl FlowConfig {
    /// Takes K by default, or the one asked for, which then is the last word.
    pub(crate) fn set_steps(&mut self, asked: Option<usize>) {
        self.steps = asked.unwrap_or(self.default_steps());
        let fixed = asked.is_some() || self.chain;
        if fixed || self.scheme != Scheme::Midpoint {
            self.training_steps = None;
        }
        self.most_steps = if fixed { self.steps } else { MORE_STEPS * self.steps };
    }

    /// K by default.
    fn default_steps(&self) -> usize {
        match (self.chain, self.scheme) {
            (true, _) if self.inducing_times > 0 => TEMPORAL_CHAIN_STEPS,
            (true, _) => CHAIN_STEPS,
            (false, Scheme::EulerMaruyama) => EULER_STEPS,
            (false, Scheme::Midpoint) => MIDPOINT_STEPS,
        }
    }
}

fn climb(iterations: u64, learning_rate: f64) -> ClimbConfig {
    ClimbConfig {
        iterations,
        learning_rate,
        schedule: Schedule::Cosine { final_fraction: 0.01 },
        natural_step: None,
        patience: patience(iterations),
    }
}

/// Patience of a climb: gains come while the rate falls, so a longer one has more.
pub(crate) fn patience(iterations: u64) -> u64 {
    u64::max(300, iterations / 10 * 3)
}

/// Iterations on batches.
fn batch_iterations(rows: usize, (epochs, most): (usize, u64)) -> u64 {
    let batches = rows.saturating_mul(epochs).div_ceil(BATCH);
    (batches as u64).clamp(LEAST_BATCH_ITERATIONS, most)
}
