//! How to train: every choice in one validated value.

use diffgp_core::blob::limits;
use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use serde::{Deserialize, Serialize};

use super::plan::{ROWS_TO_SPLIT, plan};
use crate::calibration::CalibrationMode;
use crate::data::Dataset;
use crate::optimise::{Regularisation, Schedule};
use crate::provenance::RECIPE;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A real number with Gaussian noise.
    Regression,
    /// A class.
    Classification,
}

impl Task {
    /// What a data set is for: its classes, or its numbers.
    pub fn of(data: &Dataset) -> Self {
        if data.classes().is_some() { Self::Classification } else { Self::Regression }
    }
}

/// Where a configuration starts from, before anything else is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// What measured best: [`Config::for_rows`].
    #[default]
    Best,
    /// The model of the paper as it is written: [`Config::paper`].
    Paper,
}

/// Everything that decides the result of a run, beside the data, the version and the kind of CPU (instruction set); and
/// `threads` and `checkpoint_every`, which do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// What is predicted.
    pub task: Task,
    /// Where the others come from.
    pub recipe: Recipe,
    /// Decides every random number.
    pub seed: u64,
    /// Worker threads; zero means one per core. The result does not depend on it.
    pub threads: usize,
    /// The flow; its time 0 means none.
    pub flow: FlowConfig,
    /// The predictor.
    pub predictor: PredictorConfig,
    /// Kernels to try in flow and predictor; one is used if the validation rows prefer it to those configured there.
    #[serde(with = "kernel_names")]
    pub candidate_kernels: Vec<KernelKind>,
    /// Rows per iteration, ten times as many without a flow; more than there are means all of them.
    pub batch: usize,
    /// S, sample paths per row and iteration.
    pub paths: usize,
    /// The model without a flow of each kernel, if there is a choice.
    pub candidate: ClimbConfig,
    /// The model without a flow that a flow is put in front of.
    pub warm_start: ClimbConfig,
    /// The model without a flow.
    pub no_flow: ClimbConfig,
    /// The model with a flow.
    pub with_flow: ClimbConfig,
    /// How error bars are calibrated.
    pub calibration: CalibrationConfig,
    /// Terms beside the bound.
    pub regularisation: Regularisation,
    /// Rows kept aside to watch and choose by.
    pub validation: ValidationConfig,
    /// β of the running average θ̄ ← β θ̄ + (1 − β) θ that is validated and kept instead of θ itself.
    pub averaging: Option<f64>,
    /// The last fit of q(u_g) and σ², and the one that ends every stage that is compared with another.
    pub refit: RefitConfig,
    /// What predictions may lose by variance directions that are left out in the end, in nats per row; zero leaves none out.
    pub compact: f64,
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
    /// K, of the exported model and while training.
    pub steps: usize,
    /// The exported model has more than `steps`, up to this, as long as its steps are too far from the equation.
    pub most_steps: usize,
    /// Another K while training; the exported model is then fitted with its own.
    pub training_steps: Option<usize>,
    /// What a step does; with inducing times only Euler–Maruyama.
    #[serde(with = "SchemeName")]
    pub scheme: Scheme,
    /// Whether the steps may be far from the solution of the equation: nobody is warned.
    pub chain: bool,
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
    /// M_g behind a flow, while it is trained.
    pub inducing: usize,
    /// M_g at most of a model without a flow, and of every exported one if points are added at the end: as many as the
    /// bound asks for.
    pub most_inducing: usize,
    /// Whether points are chosen anew once everything in front of them is learned; else they are learned with the rest.
    pub grows: bool,
    /// Rows on which exact Gaussian processes look for the kernel, its length-scales and σ²; zero for none.
    pub search_rows: usize,
    /// ρ_g.
    #[serde(with = "KernelName")]
    pub kernel: KernelKind,
    /// One kernel per output instead of one for all.
    pub per_output: bool,
    /// Initial ℓ_g, in units of √D.
    pub length_scale: f64,
    /// Initial σ².
    pub noise: f64,
}

/// One climb of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClimbConfig {
    /// Iterations at most.
    pub iterations: u64,
    /// Adam's learning rate at the start.
    pub learning_rate: f64,
    /// How it develops.
    pub schedule: Schedule,
    /// γ for q(u_g); zero leaves q(u_g) to Adam, `None` chooses by the rows of an iteration.
    pub natural_step: Option<f64>,
    /// Early stopping: after so many iterations without a better validation; zero means never.
    pub patience: u64,
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
    /// Sample paths per row while a stage climbs.
    pub paths: usize,
    /// Sample paths per row where models are compared: a flow scored with ten paths looks 0.03 nats worse than with a
    /// hundred on some sets.
    pub decision_paths: usize,
    /// Folds over which a flow is compared with none, one after the other until the answer is clear.
    pub folds: usize,
    /// Keep the parameters of the best validation log-likelihood instead of the last.
    pub select: bool,
    /// Up to so many rows, train once more on all of them, validation rows included, for as many iterations as were
    /// best; only with `select`.
    pub again_rows: usize,
}

/// The calibration of the error bars, at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationConfig {
    /// How far.
    pub mode: CalibrationMode,
    /// Models that are trained like the final one without a share of the rows, which they then predict; zero takes the
    /// validation rows instead, and keeps them out of the last fit.
    pub folds: usize,
    /// Validation rows at most, if those calibrate.
    pub max_rows: usize,
    /// Sample paths per row.
    pub paths: usize,
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
    /// The option of [`Options`](crate::Options), as in `flow_time`, or else the field, as in `flow.variance`.
    pub option: &'static str,
    /// What it is.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

impl FlowConfig {
    /// K while training.
    pub fn training_steps(&self) -> usize {
        self.training_steps.unwrap_or(self.steps)
    }
}

impl Config {
    /// The recipe for the rows of a data set: what `diffgp train` does without options.
    pub fn default_for(data: &Dataset) -> Self {
        Self::for_rows(data.rows(), Task::of(data))
    }

    /// Whether exact Gaussian processes say where that many rows start.
    pub fn searches(&self, rows: usize) -> bool {
        self.task == Task::Regression && self.predictor.search_rows > 0 && rows >= ROWS_TO_SPLIT
    }

    /// Whether the predictor of that many rows may get more points in the end.
    pub fn grows(&self, rows: usize) -> bool {
        let predictor = &self.predictor;
        self.searches(rows) && predictor.grows && predictor.most_inducing > predictor.inducing && self.refit.paths > 0
    }

    /// Whether models that leave out a part of that many rows calibrate the error bars.
    pub fn cross_fits(&self, rows: usize) -> bool {
        self.calibration.mode != CalibrationMode::None && self.calibration.folds > 1 && rows >= ROWS_TO_SPLIT
    }

    /// Whether the validation rows do, and are not trained on in the end.
    pub fn keeps_apart(&self) -> bool {
        self.calibration.mode != CalibrationMode::None && self.calibration.folds == 0
    }

    /// Refuses what cannot work, naming the field and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let flow = &self.flow;
        // Before the flow, which has no more points than the predictor unless that is asked for.
        check_count("inducing", self.predictor.inducing, 1, limits::MAX_FEATURES, "1 to 1024")?;
        check_count("predictor.most_inducing", self.predictor.most_inducing, 1, limits::MAX_FEATURES, "1 to 1024")?;
        check_count("predictor.search_rows", self.predictor.search_rows, 0, 5000, "0 (no search) to 5000")?;
        let shortest = f64::from(*limits::FLOW_TIME.start());
        check("flow_time", flow.time, "0 (no flow) or 1e-6 to 100", |t| t == 0.0 || (shortest..=100.0).contains(&t))?;
        if flow.time > 0.0 {
            if let Some(steps) = flow.training_steps {
                // Before the others, which may follow from it.
                check_count("training_steps", steps, 1, limits::MAX_STEPS, "1 to 4096")?;
            }
            check_count("steps", flow.steps, 1, limits::MAX_STEPS, "1 to 4096")?;
            check_count("flow.most_steps", flow.most_steps, 0, limits::MAX_STEPS, "at most 4096")?;
            check_count("flow_inducing", flow.inducing, 1, limits::MAX_FEATURES, "1 to 1024")?;
            check_count("temporal", flow.inducing_times, 0, 64, "0 (none) to 64")?;
            if flow.inducing * flow.inducing_times > limits::MAX_FEATURES {
                let expected = "at most 1024 inducing points times inducing times";
                let value = flow.inducing_times.to_string();
                return Err(ConfigError { option: "temporal", value, expected });
            }
            if flow.inducing_times > 0 && flow.scheme != Scheme::EulerMaruyama {
                let (option, value) = ("scheme", flow.scheme.id().to_owned());
                return Err(ConfigError { option, value, expected: "euler-maruyama with temporal" });
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
        check_count("validation.decision_paths", self.validation.decision_paths, 1, 10_000, "1 to 10000")?;
        check_count("validation.folds", self.validation.folds, 1, 100, "1 to 100")?;
        check_count("calibration.folds", self.calibration.folds, 0, 100, "0 (validation rows) to 100")?;
        check_count("calibration.paths", self.calibration.paths, 1, 10_000, "1 to 10000")?;
        check_count("refit.paths", self.refit.paths, 0, 1000, "0 (no refit) to 1000")?;
        for (rate, step, climb) in [
            ("candidate.learning_rate", "candidate.natural_step", self.candidate),
            ("warm_start.learning_rate", "warm_start.natural_step", self.warm_start),
            ("no_flow.learning_rate", "no_flow.natural_step", self.no_flow),
            ("with_flow.learning_rate", "with_flow.natural_step", self.with_flow),
        ] {
            positive(rate, climb.learning_rate)?;
            let natural_step = climb.natural_step.unwrap_or(1.0);
            check(step, natural_step, "0 (Adam instead) to 1", |step| (0.0..=1.0).contains(&step))?;
        }
        let (validation, regularisation) = (&self.validation, &self.regularisation);
        check("validation", validation.fraction, "0 to 0.5", |f| (0.0..=0.5).contains(&f))?;
        check_count("validation.every", validation.every as usize, 1, usize::MAX, "at least 1")?;
        if let Some(beta) = self.averaging {
            check("averaging", beta, "0 to below 1", |beta| (0.0..1.0).contains(&beta))?;
        }
        positive("regularisation.flow_kl_weight", regularisation.flow_kl_weight)?;
        for prior in regularisation.priors() {
            positive("regularisation: median of a prior", prior.median)?;
            positive("regularisation: sigma of a prior", prior.sigma)?;
        }
        check("compact", self.compact, "0 (nothing is left out) to 1", |nats| (0.0..=1.0).contains(&nats))?;
        check("jitter", self.jitter, "1e-10 to 1e-2", |jitter| (1e-10..=1e-2).contains(&jitter))?;
        check("variance_floor", self.variance_floor, "0 to 1e-2", |floor| (0.0..=1e-2).contains(&floor))?;
        check("probit_epsilon", self.probit_epsilon, "0 to 0.1", |e| (0.0..=0.1).contains(&e))
    }

    /// A number that changes with every choice, and every recipe, that can change the result of a run on that many rows.
    pub fn fingerprint(&self, rows: usize) -> u64 {
        let plan = plan(rows, self);
        // Settings of stages that there are not decide nothing.
        let flow = FlowConfig { training_steps: Some(self.flow.training_steps()), ..self.flow.clone() };
        let flow = plan.stages.iter().any(|stage| stage.flow).then_some(flow);
        let stages = (RECIPE, &plan, flow, &self.predictor, self.task, self.seed);
        let constants = (self.paths, self.regularisation, self.averaging, self.jitter, self.variance_floor);
        let searched = self.searches(rows).then(|| self.candidate_kernels.iter().map(|kind| kind.number()).collect());
        let searched: Option<Vec<_>> = searched;
        let rest = (self.validation, self.refit, self.probit_epsilon, searched, self.calibration, self.compact);
        let bytes = postcard::to_allocvec(&(stages, constants, rest)).expect("a configuration is plain data");
        bytes
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
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

/// How configurations spell schemes.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Scheme", rename_all = "kebab-case")]
pub(super) enum SchemeName {
    EulerMaruyama,
    Midpoint,
}

mod kernel_names {
    use super::{Deserialize, KernelKind, KernelName, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Named(#[serde(with = "KernelName")] KernelKind);

    pub(super) fn serialize<S: serde::Serializer>(kernels: &[KernelKind], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(kernels.iter().map(|&kernel| Named(kernel)))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<KernelKind>, D::Error> {
        Ok(Vec::<Named>::deserialize(from)?.into_iter().map(|named| named.0).collect())
    }
}

#[cfg(test)]
mod tests;
