//! What is done with the news of a run: shown, recorded, and checkpoints kept.

use std::io;

use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::train::{Config, Observer, Progress, Validated, Warning};

use crate::command::console::tell;
use crate::command::interrupt;
use crate::command::progress::Reporter;
use crate::command::run_directory::RunDirectory;

/// Warnings of one kind that are shown; a long run may have hundreds.
const SHOWN: usize = 3;

pub(super) struct Watch {
    reporter: Reporter,
    directory: RunDirectory,
    /// The first failure to record something, reported where the trainer asks for errors.
    failed: Option<io::Error>,
    warnings: Vec<(std::mem::Discriminant<Warning>, usize)>,
}

impl Watch {
    pub(super) fn new(config: &Config, directory: RunDirectory) -> Self {
        Self { reporter: Reporter::new(config), directory, failed: None, warnings: Vec::new() }
    }

    /// Takes the bar away, says what was not shown, and hands back the directory.
    pub(super) fn finish(self) -> io::Result<RunDirectory> {
        self.reporter.finish();
        let hidden: usize = self.warnings.iter().map(|(_, count)| count.saturating_sub(SHOWN)).sum();
        if hidden > 0 {
            tell!("warning: {hidden} more warnings like those above");
        }
        self.failed.map_or(Ok(self.directory), Err)
    }

    fn remember(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.failed.get_or_insert(error);
        }
    }
}

impl Observer for Watch {
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
        let kind = std::mem::discriminant(warning);
        if !self.warnings.iter().any(|&(known, _)| known == kind) {
            self.warnings.push((kind, 0));
        }
        let counted = self.warnings.iter_mut().find(|(known, _)| *known == kind);
        if counted.is_some_and(|(_, count)| {
            *count += 1;
            *count <= SHOWN
        }) {
            self.reporter.say(&format!("warning: {warning}"));
        }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.directory.checkpoint(checkpoint)
    }

    fn should_stop(&mut self) -> bool {
        interrupt::asked() || self.failed.is_some()
    }
}
