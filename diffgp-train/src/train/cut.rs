//! A run that ends before its plan does, with the best model so far.
//!
//! The climb that is under way ends where it is. Later stages are left out, but those without which there is no model; these
//! end where they begin. What repeats a model on other rows (all rows, or without a share of them) is left out too, even if
//! it was under way: it would be worse than what it repeats. The last fit and the calibration are made as always, as far as
//! there are rows for them. A checkpoint of the moment is kept first, so that the run can be gone on with as if it had not
//! been cut.

use std::io;
use std::time::Duration;

use super::observer::{Observer, Progress, StageId, Validated, Warning};
use super::plan::Plan;
use crate::checkpoint::Checkpoint;

/// Where a run was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// In this stage; `None` before the first.
    pub stage: Option<StageId>,
    /// After so many of its iterations.
    pub iteration: u64,
    /// Out of so many.
    pub iterations: u64,
}

/// The caller's observer, asked whether to cut until it says so once.
pub(super) struct Cutter<'a> {
    observer: &'a mut dyn Observer,
    at: Cut,
    cut: Option<Cut>,
    /// The checkpoint of the cut is there: what comes later is no state of the plan.
    is_kept: bool,
    /// Not to be asked for now.
    pub(super) is_deaf: bool,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        let at = Cut { stage: None, iteration: 0, iterations: 0 };
        Self { observer, at, cut: None, is_kept: false, is_deaf: false }
    }

    /// Where the run was cut, if it was.
    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut
    }
}

impl Observer for Cutter<'_> {
    fn plan(&mut self, plan: &Plan) {
        self.observer.plan(plan);
    }

    fn wants_estimate(&self) -> bool {
        self.observer.wants_estimate()
    }

    fn estimate(&mut self, at_most: Duration) {
        self.observer.estimate(at_most);
    }

    fn iteration(&mut self, progress: &Progress) {
        let &Progress { stage, iteration, iterations, .. } = progress;
        self.at = Cut { stage: Some(stage), iteration, iterations };
        self.observer.iteration(progress);
    }

    fn validation(&mut self, validated: &Validated) {
        self.observer.validation(validated);
    }

    fn warning(&mut self, warning: &Warning) {
        self.observer.warning(warning);
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        if self.is_kept {
            return Ok(());
        }
        self.is_kept = self.cut.is_some();
        self.observer.checkpoint(checkpoint)
    }

    fn should_stop(&mut self) -> bool {
        self.observer.should_stop()
    }

    fn should_finish(&mut self) -> bool {
        if self.cut.is_none() && !self.is_deaf && self.observer.should_finish() {
            self.cut = Some(self.at);
        }
        self.cut.is_some()
    }
}
