//! What a user may choose about training: one schema, read by the command line, files of options, `config.toml`, examples
//! and other languages. Whatever is left out is chosen from the number of rows.
//!
//! Every option is declared once, below. Its doc comment is its help, its type says what may be written.

mod value;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use serde::{Deserialize, Serialize};

pub use value::{Kind, Value};

use crate::calibration::CalibrationMode;
use crate::train::recipe::patience;
use crate::train::{ClimbConfig, Config, ConfigError, Recipe, Task};

/// An option: how it is written, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// With underscores, as in `flow_time`.
    pub name: &'static str,
    /// A word for its value, as in `T`; empty if it has none.
    pub value: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// What it does, line by line.
    pub help: &'static [&'static str],
}

macro_rules! options {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = $value:literal;)+) => {
        /// What a user may choose; `None` leaves the choice to the trainer.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct Options {
            $($(#[doc = $help])+ #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)+
        }

        impl Options {
            /// All of them.
            pub const ALL: &[Described] = &[$(Described {
                name: stringify!($name),
                value: $value,
                kind: <$type as value::Written>::KIND,
                help: &[$($help),+],
            }),+];
        }
    };
}

options! {
    /// What to predict: numbers, or a class of two to 32 (words or whole numbers) [default: classification if the
    /// target holds words, else regression].
    task: Task = "TASK";
    /// Where the other options start from: best, what measured best, or paper, the published model as it is written (RBF
    /// kernels, 100 inducing points twice, 20 euler-maruyama steps, Adam at 0.01, no validation rows) [default: best].
    recipe: Recipe = "RECIPE";
    /// T, how long inputs are carried along the flow; 0 for a plain sparse Gaussian process [default: 5 if the
    /// validation rows gain from it, else 0].
    flow_time: f64 = "T";
    /// Steps of the flow; the device's work is proportional to it [default: 5, or up to 10 where the equation
    /// needs them; 20 to 40 with scheme euler-maruyama or temporal; 2 with chain, or 5 with chain and temporal].
    steps: usize = "K";
    /// Steps of the flow while training, if they are to differ [default: as many as steps, or 2 with more than 2000
    /// rows unless steps, chain, temporal or another scheme is given].
    training_steps: usize = "K";
    /// How a step is made [default: midpoint, which evaluates the drift twice, or euler-maruyama with chain or temporal].
    scheme: SchemeOption = "SCHEME";
    /// A few Euler–Maruyama steps that need not follow the equation: not a flow, but a fifth of its work on the device.
    chain: bool = "";
    /// Inducing points of the predictor; model size and work grow with it [default: 100, or the rows if fewer; up to
    /// 2000 rows with numbers to predict, as many as the bound asks for in the end, at most 512].
    inducing: usize = "M";
    /// Inducing points of the flow [default: 50, or 100 with more than 2000 rows, never more than inducing].
    flow_inducing: usize = "M";
    /// Inducing times of a flow that changes with time; 0 for one that does not [default: 0].
    temporal: usize = "M";
    /// Kernel of flow and predictor [default: without a flow and up to 2000 rows the one of rbf, matern32 and matern52
    /// that exact Gaussian processes prefer; with more rows rbf or matern32, by validation rows; else rbf].
    kernel: KernelOption = "KERNEL";
    /// One kernel for all dimensions of the flow instead of one each: less work, less accurate.
    shared_kernel: bool = "";
    /// One kernel for every output of the predictor (target or class) instead of one for all: more work.
    kernel_per_output: bool = "";
    /// Iterations of the model, with or without a flow, at most [default: from the number of rows].
    iterations: u64 = "N";
    /// Iterations of the model without a flow, at most, where they are to differ [default: iterations if given,
    /// else from the number of rows].
    sparse_iterations: u64 = "N";
    /// Iterations of the sparse Gaussian process before a flow [default: from the number of rows, but no more than
    /// iterations].
    warm_iterations: u64 = "N";
    /// Rows per iteration of a flow and its warm start; ten times as many without a flow [default: all of them up to
    /// 2000, else 1000].
    batch: usize = "B";
    /// Sample paths per row and iteration [default: 1].
    paths: usize = "S";
    /// Share of the training rows kept aside to choose the best iteration by, at most 1000 rows [default: 0.1].
    validation: f64 = "SHARE";
    /// How error bars are calibrated: auto (quantiles, and a local scale where it pays), table (quantiles alone) or none
    /// [default: auto; none with recipe paper]. Up to 2000 rows it takes up to three times as long.
    calibration: CalibrationMode = "HOW";
    /// Leave out what predictions can tell by less than so many nats per row: variance directions, which are most of the
    /// file and of the device's work; 0 for none [default: 0.001; 0 with recipe paper].
    compact: f64 = "NATS";
    /// Decides every random number. The same version, data, options and kind of CPU (instruction set) give the same
    /// model, byte for byte [default: 0].
    seed: u64 = "N";
    /// Worker threads [default: one per core]; the result does not depend on it.
    threads: usize = "N";
}

/// A scheme by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemeOption {
    /// The field once per step.
    EulerMaruyama,
    /// The drift twice per step.
    Midpoint,
}

impl From<SchemeOption> for Scheme {
    fn from(scheme: SchemeOption) -> Self {
        match scheme {
            SchemeOption::EulerMaruyama => Self::EulerMaruyama,
            SchemeOption::Midpoint => Self::Midpoint,
        }
    }
}

impl From<Scheme> for SchemeOption {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::EulerMaruyama => Self::EulerMaruyama,
            Scheme::Midpoint => Self::Midpoint,
        }
    }
}

/// A kernel by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelOption {
    /// exp(−r²/2).
    Rbf,
    /// (1 + √3 r) exp(−√3 r).
    Matern32,
    /// (1 + √5 r + 5r²/3) exp(−√5 r).
    Matern52,
}

impl From<KernelOption> for KernelKind {
    fn from(kernel: KernelOption) -> Self {
        match kernel {
            KernelOption::Rbf => Self::Rbf,
            KernelOption::Matern32 => Self::Matern32,
            KernelOption::Matern52 => Self::Matern52,
        }
    }
}

impl From<KernelKind> for KernelOption {
    fn from(kernel: KernelKind) -> Self {
        match kernel {
            KernelKind::Rbf => Self::Rbf,
            KernelKind::Matern32 => Self::Matern32,
            KernelKind::Matern52 => Self::Matern52,
        }
    }
}

impl Options {
    /// What is predicted.
    pub fn task(&self) -> Task {
        self.task.unwrap_or(Task::Regression)
    }

    /// The validated configuration for that many training rows.
    pub fn config(&self, rows: usize) -> Result<Config, ConfigError> {
        let recipe = self.recipe.unwrap_or_default();
        let mut config = match recipe {
            Recipe::Best => Config::for_rows(rows, self.task()),
            Recipe::Paper => Config::paper(rows, self.task()),
        };
        // More inducing points than rows deserve a warning if they were asked for; the recipe takes what there is.
        if let Some(inducing) = self.inducing {
            (config.predictor.inducing, config.predictor.most_inducing) = (inducing, inducing);
        }
        let flow = &mut config.flow;
        set(&mut flow.time, self.flow_time);
        flow.optional &= self.flow_time.is_none();
        set(&mut flow.inducing_times, self.temporal);
        flow.chain = self.chain.unwrap_or(false);
        let simple = flow.chain || flow.inducing_times > 0;
        flow.scheme = self.scheme.map_or(if simple { Scheme::EulerMaruyama } else { flow.scheme }, Scheme::from);
        // Those of the paper are the last word.
        flow.set_steps(self.steps.or((recipe == Recipe::Paper && !flow.chain).then_some(flow.steps)));
        flow.training_steps = self.training_steps.or(flow.training_steps);
        flow.per_dimension = !self.shared_kernel.unwrap_or(false);
        config.predictor.per_output = self.kernel_per_output.unwrap_or(false);
        flow.inducing = self.flow_inducing.unwrap_or(flow.inducing.min(config.predictor.inducing));
        if let Some(kernel) = self.kernel {
            (flow.kernel, config.predictor.kernel) = (kernel.into(), kernel.into());
            config.candidate_kernels.clear();
        }
        set_iterations(&mut config.with_flow, self.iterations);
        set_iterations(&mut config.no_flow, self.sparse_iterations.or(self.iterations));
        // A warm start that is longer than all of T = 0 would speak for the flow.
        let shortened = self.iterations.filter(|&iterations| iterations < config.warm_start.iterations);
        set_iterations(&mut config.warm_start, self.warm_iterations.or(shortened));
        set(&mut config.batch, self.batch);
        set(&mut config.paths, self.paths);
        set(&mut config.validation.fraction, self.validation);
        set(&mut config.calibration.mode, self.calibration);
        set(&mut config.compact, self.compact);
        set(&mut config.threads, self.threads);
        set(&mut config.seed, self.seed);
        config.validate()?;
        Ok(config)
    }

    /// The options that make a configuration again, whatever a later recipe chooses. Threads are left out: they do not
    /// change the model.
    pub fn of(config: &Config) -> Self {
        let (flow, predictor) = (&config.flow, &config.predictor);
        Self {
            task: Some(config.task),
            recipe: Some(config.recipe),
            flow_time: (!flow.optional).then_some(flow.time),
            // A number would be the last word.
            steps: (flow.steps == flow.most_steps).then_some(flow.steps),
            training_steps: flow.training_steps,
            scheme: Some(flow.scheme.into()),
            chain: Some(flow.chain),
            // A number would be the last word.
            inducing: (predictor.inducing == predictor.most_inducing).then_some(predictor.inducing),
            flow_inducing: Some(flow.inducing),
            temporal: Some(flow.inducing_times),
            kernel: config.candidate_kernels.is_empty().then(|| config.predictor.kernel.into()),
            shared_kernel: Some(!flow.per_dimension),
            kernel_per_output: Some(config.predictor.per_output),
            iterations: Some(config.with_flow.iterations),
            sparse_iterations: Some(config.no_flow.iterations),
            warm_iterations: Some(config.warm_start.iterations),
            batch: Some(config.batch),
            paths: Some(config.paths),
            validation: Some(config.validation.fraction),
            calibration: Some(config.calibration.mode),
            compact: Some(config.compact),
            seed: Some(config.seed),
            threads: None,
        }
    }
}

fn set<T>(value: &mut T, option: Option<T>) {
    if let Some(option) = option {
        *value = option;
    }
}

fn set_iterations(climb: &mut ClimbConfig, iterations: Option<u64>) {
    if let Some(iterations) = iterations {
        // No patience means no early stopping, however long.
        let patience = if climb.patience == 0 { 0 } else { patience(iterations) };
        (climb.iterations, climb.patience) = (iterations, patience);
    }
}

#[cfg(test)]
mod tests;
