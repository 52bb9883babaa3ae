//! The training itself: watched by the process that writes, followed by the others.

use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::data::Dataset;
use diffgp_train::threads::Threads;
use diffgp_train::train::{self, Config, Observer, TrainError, Trained};

use super::Args;
use super::watch::Watch;
use crate::console::{self, tell};
use crate::failure::training_failed;
use crate::interrupt;
use crate::run_directory::RunDirectory;

/// What is trained.
pub(super) struct Training<'a> {
    pub(super) args: &'a Args,
    pub(super) data: &'a Dataset,
    pub(super) config: &'a Config,
    pub(super) checkpoint: Option<Checkpoint>,
}

/// A process that trains with others and says nothing of it.
struct Follower;

impl Observer for Follower {
    fn should_finish(&mut self) -> bool {
        interrupt::asked()
    }
}

impl Training<'_> {
    fn train(self, threads: &Threads, observer: &mut dyn Observer) -> Result<Trained, TrainError> {
        match self.checkpoint {
            Some(checkpoint) => train::resume_on(threads, self.data, self.config, checkpoint, observer),
            None => train::train_on(threads, self.data, self.config, observer),
        }
    }

    /// In a process that the first one speaks for.
    pub(super) fn follow(self, threads: &Threads) -> anyhow::Result<()> {
        let data = &self.args.rows.data;
        self.train(threads, &mut Follower).map(drop).map_err(|error| training_failed(data, error))
    }

    /// In the process that speaks and writes.
    pub(super) fn watched(self, threads: &Threads, mut watch: Watch) -> anyhow::Result<(Trained, RunDirectory)> {
        let Training { args, data, config, .. } = self;
        let flow = match (config.flow.time, config.flow.optional) {
            (0.0, _) => "no flow".to_owned(),
            (time, true) => format!("T = {time} if it is worth it"),
            (time, false) => format!("T = {time}"),
        };
        let search = if config.searches(data.rows()) { "; exact Gaussian processes first" } else { "" };
        tell!("training on {} rows of {} inputs, {flow}{search}", data.rows(), data.inputs());
        let outcome = self.train(threads, &mut watch);
        let directory = watch.finish().map_err(interrupted)?;
        match outcome {
            Ok(trained) => Ok((trained, directory)),
            Err(TrainError::Checkpoint(error)) => Err(interrupted(error)),
            Err(error) => Err(training_failed(&args.rows.data, error)),
        }
    }
}

/// The run cannot be recorded any more: what was kept stays.
fn interrupted(error: std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("{error}; the last checkpoint is kept, put that right and go on with: {} --resume", this_command())
}

/// The command line as it can be typed again, without `--resume`.
pub(super) fn this_command() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).filter(|word| word != "--resume");
    words.map(|word| console::quoted(&word)).collect::<Vec<_>>().join(" ")
}
