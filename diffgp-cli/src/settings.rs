//! Flags that choose how to train: one for every option of the trainer's schema.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use diffgp_train::data::{Dataset, TargetKind};
use diffgp_train::options::{Described, Kind, Options, Value};
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, ConfigError, Task};

use super::failure::mistake;
use super::threads;

/// How to train; everything left out is chosen from the number of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) options: Options,
    /// The flow time is one of --flow-times.
    times_are_listed: bool,
}

impl clap::Args for Settings {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Model and training").args(Options::ALL.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let written =
            Options::ALL.iter().filter_map(|option| Some((option.name.to_owned(), written(option, matches)?)));
        let refused = |error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
        Ok(Self { options: Options::from_values(written).map_err(refused)?, times_are_listed: false })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The name of an option as a flag, without the hyphens before it.
fn long(option: &Described) -> String {
    option.name.replace('_', "-")
}

fn flag(option: &Described) -> Arg {
    let help = option.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let flag = Arg::new(option.name).long(long(option)).help(help.trim_end_matches('.').to_owned());
    match option.kind {
        Kind::Flag => flag.action(ArgAction::SetTrue),
        Kind::Number => flag.value_name(option.value).value_parser(clap::value_parser!(f64)),
        Kind::Count => flag.value_name(option.value).value_parser(clap::value_parser!(u64)),
        Kind::Word(words) => flag.value_name(option.value).value_parser(PossibleValuesParser::new(words)),
    }
}

/// What was written for an option, if anything.
fn written(option: &Described, matches: &ArgMatches) -> Option<Value> {
    match option.kind {
        Kind::Flag => matches.get_flag(option.name).then_some(Value::Flag(true)),
        Kind::Number => matches.get_one(option.name).map(|&value| Value::Number(value)),
        Kind::Count => matches.get_one(option.name).map(|&value| Value::Count(value)),
        Kind::Word(_) => matches.get_one::<String>(option.name).map(|value| Value::Word(value.clone())),
    }
}

impl Settings {
    /// What is predicted.
    pub(crate) fn task(&self) -> Task {
        self.options.task()
    }

    /// What the target column may hold.
    pub(crate) fn target_kind(&self) -> TargetKind {
        match self.options.task {
            Some(Task::Regression) => TargetKind::Real,
            Some(Task::Classification) => TargetKind::Classes,
            None => TargetKind::Detect,
        }
    }

    /// Predicts what the rows hold.
    pub(crate) fn settle_task(&mut self, data: &Dataset) {
        self.options.task.get_or_insert(Task::of(data));
    }

    /// The same with one of several flow times.
    pub(crate) fn with_flow_time(&self, time: f64) -> Self {
        Self { options: Options { flow_time: Some(time), ..self.options.clone() }, times_are_listed: true }
    }

    /// What to say if a flow is to be chosen after so few iterations that T = 0 has not come to its end: the flow, which has
    /// its warm start on top, gains by those alone.
    pub(crate) fn note_short_run(&self, rows: usize) -> Option<String> {
        let usual = Config::for_rows(rows, self.task()).warm_start.iterations;
        let options = &self.options;
        let few = options.sparse_iterations.or(options.iterations).filter(|&iterations| iterations < usual)?;
        options.flow_time.is_none().then(|| {
            format!(
                "{few} iterations are too few to tell whether a flow is worth it; expected {usual} at least, or \
                 --flow-time"
            )
        })
    }

    /// Starts the worker threads.
    pub(crate) fn threads(&self) -> anyhow::Result<Threads> {
        threads::start(self.options.threads.unwrap_or(0))
    }

    /// The validated configuration for that many training rows.
    pub(crate) fn config(&self, rows: usize) -> anyhow::Result<Config> {
        self.options.config(rows).map_err(|error| mistake(in_flags(&error, self.times_are_listed)))
    }
}

/// The options that `diffgp train --config` needs to make this configuration again, as TOML.
pub(crate) fn to_toml(config: &Config) -> anyhow::Result<toml::Table> {
    let serde_json::Value::Object(options) = serde_json::to_value(Options::of(config))? else {
        anyhow::bail!("options are no map");
    };
    let in_toml = |value: serde_json::Value| match value.as_u64() {
        Some(count) => Ok(whole_number(count)),
        None => toml::Value::try_from(value),
    };
    Ok(options.into_iter().map(|(key, value)| Ok((key, in_toml(value)?))).collect::<Result<_, toml::ser::Error>>()?)
}

/// As TOML, whose integers end at 2^63; a larger one is written as text.
pub(crate) fn whole_number(value: u64) -> toml::Value {
    i64::try_from(value).map_or_else(|_| value.to_string().into(), toml::Value::from)
}

/// The error with the flag that sets the option, if there is one.
fn in_flags(error: &ConfigError, times_are_listed: bool) -> String {
    let flag = match Options::ALL.iter().find(|option| option.name == error.option) {
        Some(_) if error.option == "flow_time" && times_are_listed => "--flow-times: a time".to_owned(),
        Some(option) => format!("--{}", long(option)),
        None => error.option.to_owned(),
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

    #[test]
    fn flags_are_the_options_of_the_trainer() {
        assert_eq!(settings("").options, Options::default());
        let typed = settings("--flow-time 3 --steps 7 --kernel matern32 --shared-kernel --seed 18446744073709551615");
        assert_eq!((typed.options.flow_time, typed.options.steps), (Some(3.0), Some(7)));
        assert_eq!((typed.options.shared_kernel, typed.options.seed), (Some(true), Some(u64::MAX)));
        assert_eq!(typed.config(500).unwrap().predictor.kernel, diffgp_core::kernel::KernelKind::Matern32);
        let refused = settings("--training-steps 0").config(500).unwrap_err().to_string();
        assert_eq!(refused, "--training-steps is 0; expected 1 to 4096");
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
    fn the_largest_number_of_iterations_reads_back() {
        let config = settings(&format!("--iterations {}", u64::MAX)).config(500).unwrap();
        let table = to_toml(&config).unwrap();
        assert_eq!(table["iterations"].as_str(), Some("18446744073709551615"));
        assert_eq!(table["warm-iterations"].as_integer(), Some(300));
    }
}
