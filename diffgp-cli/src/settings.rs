//! Flags that choose how to train, and the configuration they make.

use diffgp_core::kernel::KernelKind;
use diffgp_train::data::TargetKind;
use diffgp_train::train::{Config, ConfigError, Task};

use super::failure::mistake;
use super::threads::ThreadsArgs;

/// How to train; everything left out is chosen from the number of rows.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Model and training")]
pub(crate) struct Settings {
    /// What to predict: a number, or the probability of class 1 (targets 0 and 1).
    #[arg(long, value_enum, default_value_t = TaskName::Regression)]
    task: TaskName,
    /// T, how long inputs are carried along the flow; 0 for a plain sparse Gaussian process [default: 5 if the
    /// validation rows gain from it, else 0].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) flow_time: Option<f64>,
    /// Steps of the exported flow; the device's work is proportional to it [default: as many as while training].
    #[arg(long, value_name = "K")]
    steps: Option<usize>,
    /// Steps of the flow while training [default: 2, or 5 with --temporal].
    #[arg(long, value_name = "K")]
    training_steps: Option<usize>,
    /// Inducing points of the predictor; model size and work grow with it [default: 100, or the rows if fewer].
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Inducing points of the flow [default: 50, or 100 with more than 2000 rows, never
    /// more than --inducing].
    #[arg(long, value_name = "M")]
    flow_inducing: Option<usize>,
    /// Inducing times of a flow that changes with time; 0 for one that does not [default: 0].
    #[arg(long, value_name = "M")]
    temporal: Option<usize>,
    /// Kernel of flow and predictor [default: rbf, or, with more than 2000 rows, the one of rbf and matern32 that
    /// validation rows prefer after 400 iterations each].
    #[arg(long, value_enum)]
    kernel: Option<KernelName>,
    /// One kernel for all dimensions of the flow instead of one each: less work, less accurate.
    #[arg(long)]
    shared_kernel: bool,
    /// Iterations of the model, with or without a flow, at most [default: from the number of rows].
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Iterations of the model without a flow, at most, where they are to differ [default: --iterations if given,
    /// else from the number of rows].
    #[arg(long, value_name = "N")]
    sparse_iterations: Option<u64>,
    /// Iterations of the sparse Gaussian process before a flow [default: from the number of rows, but no more than
    /// --iterations].
    #[arg(long, value_name = "N")]
    warm_iterations: Option<u64>,
    /// Rows per iteration of a flow and its warm start; ten times as many without a flow [default: all of them up to
    /// 2000, else 1000].
    #[arg(long, value_name = "B")]
    batch: Option<usize>,
    /// Sample paths per row and iteration [default: 1].
    #[arg(long, value_name = "S")]
    paths: Option<usize>,
    /// Share of the training rows kept aside to choose the best iteration by, at most 1000 rows [default: 0.1].
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,
    /// Decides every random number; same seed, data and version: the same model, byte for byte.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgs,
    /// The flow time is one of --flow-times.
    #[arg(skip)]
    times_are_listed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TaskName {
    Regression,
    Classification,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KernelName {
    Rbf,
    Matern32,
    Matern52,
}

impl Settings {
    /// What is predicted.
    pub(crate) fn task(&self) -> Task {
        match self.task {
            TaskName::Regression => Task::Regression,
            TaskName::Classification => Task::Classification,
        }
    }

    /// What the target column may hold.
    pub(crate) fn target_kind(&self) -> TargetKind {
        match self.task {
            TaskName::Regression => TargetKind::Real,
            TaskName::Classification => TargetKind::Binary,
        }
    }

    /// The same with one of several flow times.
    pub(crate) fn with_flow_time(&self, time: f64) -> Self {
        Self { flow_time: Some(time), times_are_listed: true, ..self.clone() }
    }

    /// What to say if a flow is to be chosen after so few iterations that T = 0 has not come to its end: the flow, which has
    /// its warm start on top, gains by those alone.
    pub(crate) fn note_short_run(&self, rows: usize) -> Option<String> {
        let usual = Config::for_rows(rows, self.task()).warm_start.iterations;
        let few = self.sparse_iterations.or(self.iterations).filter(|&iterations| iterations < usual)?;
        self.flow_time.is_none().then(|| {
            format!(
                "{few} iterations are too few to tell whether a flow is worth it; expected {usual} at least, or \
                 --flow-time"
            )
        })
    }

    /// The validated configuration for that many training rows.
    pub(crate) fn config(&self, rows: usize) -> anyhow::Result<Config> {
        let mut config = Config::for_rows(rows, self.task());
        let flow = &mut config.flow;
        set(&mut flow.time, self.flow_time);
        flow.optional = self.flow_time.is_none();
        if let Some(times) = self.temporal {
            flow.set_inducing_times(times);
        }
        set(&mut flow.training_steps, self.training_steps);
        flow.steps = self.steps.unwrap_or(flow.training_steps);
        flow.per_dimension &= !self.shared_kernel;
        // Asking for more inducing points than rows deserves a warning; the default just takes what there is.
        config.predictor.inducing = self.inducing.unwrap_or(config.predictor.inducing.min(rows.max(1)));
        flow.inducing = self.flow_inducing.unwrap_or(flow.inducing.min(config.predictor.inducing));
        if let Some(kernel) = self.kernel {
            let kernel = match kernel {
                KernelName::Rbf => KernelKind::Rbf,
                KernelName::Matern32 => KernelKind::Matern32,
                KernelName::Matern52 => KernelKind::Matern52,
            };
            (flow.kernel, config.predictor.kernel, config.rival_kernel) = (kernel, kernel, None);
        }
        if let Some(iterations) = self.iterations {
            config.main.set_iterations(iterations);
        }
        if let Some(iterations) = self.sparse_iterations.or(self.iterations) {
            config.sparse.set_iterations(iterations);
        }
        // A warm start that is longer than all of T = 0 would speak for the flow.
        let shortened = self.iterations.filter(|&iterations| iterations < config.warm_start.iterations);
        if let Some(iterations) = self.warm_iterations.or(shortened) {
            config.warm_start.set_iterations(iterations);
        }
        if let Some(batch) = self.batch {
            config.set_batch(batch);
        }
        set(&mut config.paths, self.paths);
        set(&mut config.validation.fraction, self.validation);
        config.threads = self.threads.count();
        config.seed = self.seed;
        config.validate().map_err(|error| mistake(in_flags(&error, self.times_are_listed)))?;
        Ok(config)
    }
}

fn set<T>(value: &mut T, flag: Option<T>) {
    if let Some(flag) = flag {
        *value = flag;
    }
}

/// The options that `diffgp train --config` needs to make this configuration again, as TOML.
pub(crate) fn to_toml(config: &Config) -> toml::Table {
    let count = |value: usize| whole_number(value as u64);
    let name = |value: &dyn std::fmt::Debug| toml::Value::from(format!("{value:?}").to_lowercase());
    let flow = &config.flow;
    let mut table = toml::Table::new();
    let mut put = |key: &str, value: toml::Value| table.insert(key.to_owned(), value);
    put("task", name(&config.task));
    if !flow.optional {
        put("flow-time", flow.time.into());
    }
    put("steps", count(flow.steps));
    put("training-steps", count(flow.training_steps));
    put("inducing", count(config.predictor.inducing));
    put("flow-inducing", count(flow.inducing));
    put("temporal", count(flow.inducing_times));
    if config.rival_kernel.is_none() {
        put("kernel", name(&config.predictor.kernel));
    }
    put("shared-kernel", (!flow.per_dimension).into());
    put("iterations", whole_number(config.main.iterations));
    put("sparse-iterations", whole_number(config.sparse.iterations));
    put("warm-iterations", whole_number(config.warm_start.iterations));
    put("batch", count(config.batch));
    put("paths", count(config.paths));
    put("validation", config.validation.fraction.into());
    put("seed", toml::Value::from(config.seed.to_string()));
    table
}

/// As TOML, whose integers end at 2^63; a larger one is written as text.
pub(crate) fn whole_number(value: u64) -> toml::Value {
    i64::try_from(value).map_or_else(|_| value.to_string().into(), toml::Value::from)
}

/// The error with the flag that sets the field, if there is one.
fn in_flags(error: &ConfigError, times_are_listed: bool) -> String {
    let flag = match error.option {
        "flow.time" if times_are_listed => "--flow-times: a time",
        "flow.time" => "--flow-time",
        "flow.steps" => "--steps",
        "flow.training_steps" => "--training-steps",
        "flow.inducing" => "--flow-inducing",
        "flow.inducing_times" => "--temporal",
        "predictor.inducing" => "--inducing",
        "batch" => "--batch",
        "paths" => "--paths",
        "validation.fraction" => "--validation",
        "threads" => "--threads",
        other => other,
    };
    format!("{flag} is {}; expected {}", error.value, error.expected)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        settings: Settings,
    }

    fn settings(arguments: &str) -> Settings {
        let arguments = ["train"].into_iter().chain(arguments.split_whitespace());
        Command::try_parse_from(arguments).unwrap().settings
    }

    fn config(arguments: &str, rows: usize) -> Config {
        settings(arguments).config(rows).unwrap()
    }

    #[test]
    fn a_longer_run_has_more_patience_and_the_default_one_said_aloud_the_same() {
        for rows in [500, 5000, 40_000] {
            let plain = config("", rows);
            let (sparse, main) = (plain.sparse.iterations, plain.main.iterations);
            assert_eq!(config(&format!("--iterations {main} --sparse-iterations {sparse}"), rows), plain);
            let longer = config(&format!("--iterations {}", 4 * main), rows);
            assert_eq!((longer.main.iterations, longer.sparse.iterations), (4 * main, 4 * main));
            assert!(longer.main.patience > plain.main.patience && longer.sparse.patience > plain.sparse.patience);
            let warmer = config("--warm-iterations 50000", rows);
            assert!(warmer.warm_start.patience > plain.warm_start.patience);
        }
    }

    #[test]
    fn a_model_file_has_the_steps_of_its_training_unless_it_is_told_otherwise() {
        let steps = |arguments: &str| {
            let flow = config(arguments, 500).flow;
            (flow.training_steps, flow.steps)
        };
        assert_eq!((steps(""), steps("--temporal 3")), ((2, 2), (5, 5)));
        assert_eq!((steps("--training-steps 7 --temporal 3"), steps("--steps 7")), ((7, 7), (2, 7)));
    }

    #[test]
    fn a_choice_after_few_iterations_is_noted() {
        let note = |arguments: &str| settings(arguments).note_short_run(500);
        assert!(note("--iterations 299").is_some_and(|note| note.contains("300 at least")));
        for enough in
            ["", "--iterations 300", "--iterations 30 --flow-time 5", "--iterations 30 --sparse-iterations 500"]
        {
            assert_eq!(note(enough), None, "{enough}");
        }
    }

    #[test]
    fn a_short_run_has_a_short_warm_start() {
        let warm = |arguments: &str| config(arguments, 500).warm_start.iterations;
        assert_eq!((warm(""), warm("--iterations 400"), warm("--iterations 30")), (300, 300, 30));
        assert_eq!(warm("--iterations 30 --warm-iterations 200"), 200);
    }

    #[test]
    fn the_largest_number_of_iterations_reads_back() {
        let table = to_toml(&config(&format!("--iterations {}", u64::MAX), 500));
        assert_eq!(table["iterations"].as_str(), Some("18446744073709551615"));
        assert_eq!(table["warm-iterations"].as_integer(), Some(300));
    }
}
