//! What is done with the news of a run: shown, recorded, and checkpoints kept.

use std::io;
use std::time::{Duration, Instant};

use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::train::{Observer, Plan, Progress, Validated, Warning};

use super::limit::TimeLimit;
use crate::interrupt;
use crate::progress::Reporter;
use crate::run_directory::RunDirectory;

pub(super) struct Watch {
    reporter: Reporter,
    directory: RunDirectory,
    /// The first failure to record something, reported where the trainer asks for errors.
    failed: Option<io::Error>,
    /// When the command began, and how long it may take.
    limit: Option<(Instant, TimeLimit)>,
}

impl Watch {
    pub(super) fn new(directory: RunDirectory, limit: Option<(Instant, TimeLimit)>) -> Self {
        Self { reporter: Reporter::new(), directory, failed: None, limit }
    }

    /// Takes the bar away and hands back the directory.
    pub(super) fn finish(self) -> io::Result<RunDirectory> {
        self.reporter.finish();
        self.failed.map_or(Ok(self.directory), Err)
    }

    fn remember(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.failed.get_or_insert(error);
        }
    }
}

impl Observer for Watch {
    fn plan(&mut self, plan: &Plan) {
        self.reporter.plan(plan);
    }

    fn wants_estimate(&self) -> bool {
        true
    }

    fn estimate(&mut self, at_most: Duration) {
        self.reporter.estimate(at_most);
    }

    fn iteration(&mut self, progress: &Progress) {
        self.reporter.iteration(progress);
        let outcome = self.directory.iteration(progress);
        self.remember(outcome);
    }

    fn validation(&mut self, validated: &Validated) {
        self.reporter.validation(validated);
        let outcome = self.directory.validation(validated);
        self.remember(outcome);
    }

    fn warning(&mut self, warning: &Warning) {
        self.reporter.warning(warning);
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.directory.checkpoint(checkpoint)
    }

    fn should_stop(&mut self) -> bool {
        self.failed.is_some()
    }

    fn should_finish(&mut self) -> bool {
        interrupt::asked() || self.limit.as_ref().is_some_and(|(start, limit)| limit.is_over(*start))
    }
}
