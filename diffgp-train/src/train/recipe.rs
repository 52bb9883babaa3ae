//! The recipe: what a run does unless it is told otherwise. `docs/training.md` has the measurements behind it.
//!
//! One number of rows divides it, [`FULL_BATCH_ROWS`]. Up to there an iteration takes all rows, and what follows from that
//! stands beside each setting; beyond, rows come in batches.

use diffgp_core::kernel::KernelKind;

use super::config::{ClimbConfig, Config, FlowConfig, PredictorConfig, RefitConfig, Task, ValidationConfig};
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

/// Enough to tell kernels apart.
const CANDIDATE_ITERATIONS: u64 = 400;

/// K of a flow, and of one that changes with time: two steps would see it at two times.
const STEPS: usize = 2;
const TEMPORAL_STEPS: usize = 5;

impl Config {
    /// The recipe for that many training rows.
    pub fn for_rows(rows: usize, task: Task) -> Self {
        let full = rows <= FULL_BATCH_ROWS;
        let flow_epochs = if task == Task::Regression { FLOW_EPOCHS } else { EPOCHS };
        // Without the noise of batches, steps may be larger and fewer.
        let climb = |batch_iterations| if full { climb(1000, 0.05) } else { climb(batch_iterations, 0.02) };
        let inducing = 100.min(rows.max(1));
        Self {
            task,
            seed: 0,
            threads: 0,
            flow: FlowConfig {
                time: 5.0,
                optional: true,
                steps: STEPS,
                training_steps: None,
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
                kernel: KernelKind::Rbf,
                per_output: false,
                length_scale: 1.0,
                noise: 0.1,
            },
            // Few rows say little about kernels, and the smoother one has fared better there.
            candidate_kernels: if full { vec![] } else { vec![KernelKind::Matern32] },
            batch: if full { rows.max(1) } else { BATCH },
            paths: 1,
            candidate: self::climb(CANDIDATE_ITERATIONS, 0.05),
            warm_start: if full { self::climb(300, 0.05) } else { self::climb(2000, 0.02) },
            no_flow: climb(batch_iterations(rows, EPOCHS)),
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
                folds: if full { 5 } else { 1 },
                select: true,
                // A tenth of few rows is worth training on in the end.
                again_rows: if full { FULL_BATCH_ROWS } else { 0 },
            },
            averaging: None,
            refit: RefitConfig { paths: 4, max_rows: 20_000 },
            jitter: 1e-6,
            variance_floor: 1e-8,
            probit_epsilon: 1e-3,
            checkpoint_every: 100,
        }
    }
}

impl FlowConfig {
    /// K by default, with or without inducing times.
    pub(crate) fn default_steps(inducing_times: usize) -> usize {
        if inducing_times > 0 { TEMPORAL_STEPS } else { STEPS }
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
