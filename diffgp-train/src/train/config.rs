//! How to train: every choice in one validated value.

use diffgp_core::blob::limits;
use diffgp_core::kernel::KernelKind;
use serde::{Deserialize, Serialize};

use crate::optimise::{Regularisation, Schedule};

/// Training sets up to this size use all rows in every iteration.
const FULL_BATCH_ROWS: usize = 2000;

/// Rows per iteration beyond that.
const BATCH: usize = 1000;

/// How often single batches would run through all rows in a run on batches, and its iterations at most. Many rows can teach
/// more before they are overfitted.
const EPOCHS: (usize, u64) = (250, 10_000);

/// The same with a flow; classes are overfitted sooner and have what there is without one.
const FLOW_EPOCHS: (usize, u64) = (1200, 15_000);

/// The iterations of a run on batches at least.
const LEAST_BATCH_ITERATIONS: u64 = 3000;

/// Enough to tell kernels apart.
const TRIAL_ITERATIONS: u64 = 400;

/// Raised whenever the same configuration trains otherwise than before, so that checkpoints and results of before are not
/// taken for those of now. The fit of σ² to validation rows left it: models that no step of it improves keep their bits,
/// and `docs/training.md` says which results were made again.
const RECIPE: u64 = 1;

/// Natural-gradient step of q(u_g) on batches.
const BATCH_STEP: f64 = 0.2;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A real number with Gaussian noise.
    Regression,
    /// A class, 0 or 1.
    Classification,
}

/// Everything that decides the result of a run, and `threads` and `checkpoint_every`, which do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// What is predicted.
    pub task: Task,
    /// Decides every random number.
    pub seed: u64,
    /// Worker threads; zero means one per core. The result does not depend on it.
    pub threads: usize,
    /// The flow; its time 0 means none.
    pub flow: FlowConfig,
    /// The predictor.
    pub predictor: PredictorConfig,
    /// A kernel to try in flow and predictor; used if the validation rows prefer it to the ones configured there.
    #[serde(with = "optional_kernel")]
    pub rival_kernel: Option<KernelKind>,
    /// Rows per iteration, ten times as many without a flow; more than there are means all of them.
    pub batch: usize,
    /// S, sample paths per row and iteration.
    pub paths: usize,
    /// The sparse Gaussian process of each kernel, if there is a choice.
    pub trial: PhaseConfig,
    /// The sparse Gaussian process before the flow.
    pub warm_start: PhaseConfig,
    /// The model without a flow.
    pub sparse: PhaseConfig,
    /// The whole model with a flow.
    pub main: PhaseConfig,
    /// Terms beside the bound.
    pub regularisation: Regularisation,
    /// Rows kept aside to watch and choose by.
    pub validation: ValidationConfig,
    /// β of the running average θ̄ ← β θ̄ + (1 − β) θ that is validated and kept instead of θ itself.
    pub averaging: Option<f64>,
    /// The last fit of q(u_g) and σ², and the one that ends every phase that is compared with another.
    pub refit: RefitConfig,
    /// Absolute jitter to start with.
    pub jitter: f64,
    /// Floor of every posterior variance.
    pub variance_floor: f64,
    /// e of the Bernoulli likelihood.
    pub probit_epsilon: f64,
    /// Iterations between checkpoints handed to the observer; zero means only on stopping.
    pub checkpoint_every: u64,
}

/// The flow and where it starts, in standardised units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowConfig {
    /// T; zero for none.
    pub time: f64,
    /// Keep the flow only if the validation rows gain from it.
    pub optional: bool,
    /// K of the exported model: a flow is used as it was trained unless somebody wants finer steps.
    pub steps: usize,
    /// K while training.
    pub training_steps: usize,
    /// M_f.
    pub inducing: usize,
    /// M_t; zero for a field that does not change with time.
    pub inducing_times: usize,
    /// ρ_f.
    #[serde(with = "KernelName")]
    pub kernel: KernelKind,
    /// One kernel per dimension instead of one for all.
    pub per_dimension: bool,
    /// Initial ℓ_f, in units of √(2D), the usual distance of two rows.
    pub length_scale: f64,
    /// Initial s_f².
    pub variance: f64,
    /// Initial L_f = factor·I.
    pub factor: f64,
}

/// The predictor and where it starts, in standardised units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictorConfig {
    /// M_g.
    pub inducing: usize,
    /// ρ_g.
    #[serde(with = "KernelName")]
    pub kernel: KernelKind,
    /// Initial ℓ_g, in units of √D.
    pub length_scale: f64,
    /// Initial σ².
    pub noise: f64,
}

/// One phase of ascent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseConfig {
    /// Iterations at most.
    pub iterations: u64,
    /// Adam's learning rate at the start.
    pub learning_rate: f64,
    /// How it develops.
    pub schedule: Schedule,
    /// γ for q(u_g), 1 for a regression without a flow on more rows than a batch; zero leaves q(u_g) to Adam.
    pub natural_step: f64,
    /// Stop after so many iterations without a better validation; zero means never.
    pub patience: u64,
}

/// K of a flow that changes with time: two steps would see it at two times.
const TEMPORAL_STEPS: usize = 5;

impl FlowConfig {
    /// A field that changes with time, at so many inducing times (0: one that does not), with the steps for it.
    pub fn set_inducing_times(&mut self, times: usize) {
        self.inducing_times = times;
        if times > 0 {
            (self.training_steps, self.steps) = (TEMPORAL_STEPS, TEMPORAL_STEPS);
        }
    }
}

impl PhaseConfig {
    /// So many iterations; gains come while the rate falls, so a longer run has more patience.
    pub fn set_iterations(&mut self, iterations: u64) {
        self.iterations = iterations;
        if self.patience > 0 {
            self.patience = self.patience.max(iterations / 10 * 3);
        }
    }
}

/// Validation rows: a part of the training rows, never of the test rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationConfig {
    /// Their share of the rows; zero for none.
    pub fraction: f64,
    /// Never more rows than this.
    pub max_rows: usize,
    /// Iterations between validations.
    pub every: u64,
    /// Sample paths per row.
    pub paths: usize,
    /// Keep the parameters of the best validation log-likelihood instead of the last.
    pub select: bool,
    /// Up to so many rows, train once more on all of them, validation rows included, for as many iterations as were
    /// best; only with `select`.
    pub again_rows: usize,
}

/// The last fit of q(u_g) and σ², at the exported number of steps, validation rows included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefitConfig {
    /// Sample paths per row; zero leaves the fit out.
    pub paths: usize,
    /// Rows at most.
    pub max_rows: usize,
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{option} is {value}; expected {expected}")]
pub struct ConfigError {
    /// The field, as in `flow.time`.
    pub option: &'static str,
    /// What it is.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

impl Config {
    /// The recipe measured best so far for that many training rows (docs/training.md).
    pub fn for_rows(rows: usize, task: Task) -> Self {
        let full = rows <= FULL_BATCH_ROWS;
        let conjugate = task == Task::Regression;
        let natural_step = match (full, conjugate) {
            (true, true) => 1.0,
            (false, true) => BATCH_STEP,
            (_, false) => 0.1,
        };
        let phase = |iterations, learning_rate| PhaseConfig {
            iterations,
            learning_rate,
            schedule: Schedule::Cosine { final_fraction: 0.01 },
            natural_step,
            patience: if full { 300 } else { u64::max(iterations / 3, 1000) },
        };
        let main = |limits| if full { phase(1000, 0.05) } else { phase(batch_iterations(rows, limits), 0.02) };
        Self {
            task,
            seed: 0,
            threads: 0,
            flow: FlowConfig {
                time: 5.0,
                optional: false,
                steps: 2,
                training_steps: 2,
                inducing: if full { 50 } else { 100 },
                inducing_times: 0,
                kernel: KernelKind::Rbf,
                per_dimension: true,
                length_scale: 1.0,
                variance: 0.1,
                factor: 0.1,
            },
            predictor: PredictorConfig { inducing: 100, kernel: KernelKind::Rbf, length_scale: 1.0, noise: 0.1 },
            // Few rows say little about kernels, and the smoother one has fared better there.
            rival_kernel: if full { None } else { Some(KernelKind::Matern32) },
            batch: if full { rows.max(1) } else { BATCH },
            paths: 1,
            trial: phase(TRIAL_ITERATIONS, 0.05),
            warm_start: if full { phase(300, 0.05) } else { phase(2000, 0.02) },
            sparse: main(EPOCHS),
            main: main(if conjugate { FLOW_EPOCHS } else { EPOCHS }),
            regularisation: Regularisation::default(),
            validation: ValidationConfig {
                fraction: 0.1,
                max_rows: 1000,
                every: if full { 25 } else { 50 },
                paths: if full { 20 } else { 10 },
                select: true,
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

    /// So many rows per iteration of a flow and its warm start. Of fewer than all, q(u_g) must not take the optimum.
    pub fn set_batch(&mut self, batch: usize) {
        if batch < self.batch {
            for phase in [&mut self.trial, &mut self.warm_start, &mut self.sparse, &mut self.main] {
                phase.natural_step = phase.natural_step.min(BATCH_STEP);
            }
        }
        self.batch = batch;
    }

    /// Refuses what cannot work, naming the field and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let flow = &self.flow;
        // Before the flow, which has no more points than the predictor unless that is asked for.
        check_count("predictor.inducing", self.predictor.inducing, 1, limits::MAX_FEATURES, "1 to 1024")?;
        let shortest = f64::from(*limits::FLOW_TIME.start());
        check("flow.time", flow.time, "0 (no flow) or 1e-6 to 100", |t| t == 0.0 || (shortest..=100.0).contains(&t))?;
        if flow.time > 0.0 {
            // Before the exported steps, which are as many unless others are asked for.
            check_count("flow.training_steps", flow.training_steps, 1, limits::MAX_STEPS, "1 to 4096")?;
            check_count("flow.steps", flow.steps, 1, limits::MAX_STEPS, "1 to 4096")?;
            check_count("flow.inducing", flow.inducing, 1, limits::MAX_FEATURES, "1 to 1024")?;
            check_count("flow.inducing_times", flow.inducing_times, 0, 64, "0 (none) to 64")?;
            if flow.inducing * flow.inducing_times > limits::MAX_FEATURES {
                let expected = "at most 1024 inducing points times inducing times";
                let value = flow.inducing_times.to_string();
                return Err(ConfigError { option: "flow.inducing_times", value, expected });
            }
            positive("flow.length_scale", flow.length_scale)?;
            positive("flow.variance", flow.variance)?;
            positive("flow.factor", flow.factor)?;
        }
        positive("predictor.length_scale", self.predictor.length_scale)?;
        positive("predictor.noise", self.predictor.noise)?;
        check_count("batch", self.batch, 1, usize::MAX, "at least 1")?;
        check_count("paths", self.paths, 1, 1000, "1 to 1000")?;
        check_count("threads", self.threads, 0, 256, "0 (one per core) to 256")?;
        check_count("validation.paths", self.validation.paths, 1, 10_000, "1 to 10000")?;
        check_count("refit.paths", self.refit.paths, 0, 1000, "0 (no refit) to 1000")?;
        for (rate, step, phase) in [
            ("trial.learning_rate", "trial.natural_step", self.trial),
            ("warm_start.learning_rate", "warm_start.natural_step", self.warm_start),
            ("sparse.learning_rate", "sparse.natural_step", self.sparse),
            ("main.learning_rate", "main.natural_step", self.main),
        ] {
            positive(rate, phase.learning_rate)?;
            check(step, phase.natural_step, "0 (Adam instead) to 1", |step| (0.0..=1.0).contains(&step))?;
        }
        let (validation, regularisation) = (&self.validation, &self.regularisation);
        check("validation.fraction", validation.fraction, "0 to 0.5", |f| (0.0..=0.5).contains(&f))?;
        check_count("validation.every", validation.every as usize, 1, usize::MAX, "at least 1")?;
        if let Some(beta) = self.averaging {
            check("averaging", beta, "0 to below 1", |beta| (0.0..1.0).contains(&beta))?;
        }
        positive("regularisation.flow_kl_weight", regularisation.flow_kl_weight)?;
        for prior in regularisation.priors() {
            positive("regularisation: median of a prior", prior.median)?;
            positive("regularisation: sigma of a prior", prior.sigma)?;
        }
        check("jitter", self.jitter, "1e-10 to 1e-2", |jitter| (1e-10..=1e-2).contains(&jitter))?;
        check("variance_floor", self.variance_floor, "0 to 1e-2", |floor| (0.0..=1e-2).contains(&floor))?;
        check("probit_epsilon", self.probit_epsilon, "0 to 0.1", |e| (0.0..=0.1).contains(&e))
    }

    /// A number that changes with every choice that can change the result.
    pub fn fingerprint(&self) -> u64 {
        let mut decisive = Self { threads: 0, checkpoint_every: 0, ..self.clone() };
        // Phases that there are not: what a flow needs without one, the other way round unless both are compared, and the
        // trials without a rival.
        if self.flow.time == 0.0 {
            (decisive.warm_start, decisive.main) = (self.sparse, self.sparse);
            // Any numbers would do; the first results had these.
            (decisive.flow.steps, decisive.flow.training_steps) = (20, 5);
        } else if !self.flow.optional {
            decisive.sparse = self.main;
        }
        if self.rival_kernel.is_none() {
            decisive.trial = decisive.main;
        }
        let bytes = postcard::to_allocvec(&decisive).expect("a configuration is plain data");
        bytes.into_iter().fold(0xcbf2_9ce4_8422_2325 ^ RECIPE, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// Iterations on batches.
fn batch_iterations(rows: usize, (epochs, most): (usize, u64)) -> u64 {
    let batches = rows.saturating_mul(epochs).div_ceil(BATCH);
    (batches as u64).clamp(LEAST_BATCH_ITERATIONS, most)
}

fn check(
    option: &'static str,
    value: f64,
    expected: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), ConfigError> {
    if holds(value) { Ok(()) } else { Err(ConfigError { option, value: value.to_string(), expected }) }
}

fn positive(option: &'static str, value: f64) -> Result<(), ConfigError> {
    check(option, value, "a positive finite number", |value| value > 0.0 && value.is_finite())
}

fn check_count(
    option: &'static str,
    value: usize,
    least: usize,
    most: usize,
    expected: &'static str,
) -> Result<(), ConfigError> {
    let fits = (least..=most).contains(&value);
    if fits { Ok(()) } else { Err(ConfigError { option, value: value.to_string(), expected }) }
}

/// How configurations spell kernels; the core crate stays free of serde here.
#[derive(Serialize, Deserialize)]
#[serde(remote = "KernelKind", rename_all = "lowercase")]
pub(super) enum KernelName {
    Rbf,
    Matern32,
    Matern52,
}

mod optional_kernel {
    use super::{Deserialize, KernelKind, KernelName, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Named(#[serde(with = "KernelName")] KernelKind);

    pub(super) fn serialize<S: serde::Serializer>(kernel: &Option<KernelKind>, to: S) -> Result<S::Ok, S::Error> {
        kernel.map(Named).serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<KernelKind>, D::Error> {
        Ok(Option::<Named>::deserialize(from)?.map(|named| named.0))
    }
}

#[cfg(test)]
mod tests;
