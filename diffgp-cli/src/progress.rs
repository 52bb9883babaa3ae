//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::mem::{self, Discriminant};
use std::time::{Duration, Instant};

use diffgp_train::score::Score;
use diffgp_train::train::{Observer, Plan, Progress, StageId, StageName, Validated, Warning};
use indicatif::{ProgressBar, ProgressStyle};

use super::console::tell;
use super::{console, interrupt};

/// Warnings of one kind that are shown; a long run may have hundreds.
const SHOWN: usize = 3;

/// A run that may take so long deserves a word before it.
const LONG: Duration = Duration::from_secs(30);

/// Shows how far a run is, stage by stage.
pub(crate) struct Reporter {
    bar: Option<ProgressBar>,
    /// Print lines where there is no bar.
    lines: bool,
    /// When this process began the stage it is in, and with which iteration.
    since: Option<(StageId, Instant, u64)>,
    /// The iterations of the stage.
    end: u64,
    /// The stage that costs most; those before it are short.
    longest: usize,
    /// Some stage has a flow.
    has_flow: bool,
    elbo: f64,
    validation_score: Option<Score>,
    /// Without validation rows, lines come at tenths of the stage.
    next_line: u64,
    /// What warnings begin with: which of many runs it is.
    place: String,
    /// How many of each kind there were.
    warnings: Vec<(Discriminant<Warning>, usize)>,
}

impl Reporter {
    /// For one run.
    pub(crate) fn new() -> Self {
        let bar = (std::io::stderr().is_terminal() && !console::is_silent()).then(|| {
            let bar = ProgressBar::new(1);
            let style = ProgressStyle::with_template("{prefix:12} {bar:30} {pos}/{len}  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            lines: true,
            since: None,
            end: 0,
            longest: 0,
            has_flow: false,
            elbo: f64::NAN,
            validation_score: None,
            next_line: 0,
            place: String::new(),
            warnings: Vec::new(),
        }
    }

    /// For one of many runs: its warnings name the split, and there are no lines where there is no terminal.
    pub(crate) fn of_split(split: usize) -> Self {
        Self { lines: false, place: format!("split {split}: "), ..Self::new() }
    }

    pub(crate) fn plan(&mut self, plan: &Plan) {
        let is_longest = |name| matches!(name, StageName::Flow | StageName::NoFlow);
        self.longest = plan.stages.iter().rposition(|stage| is_longest(stage.name)).unwrap_or(0);
        self.has_flow = plan.stages.iter().any(|stage| stage.flow);
    }

    /// Says how long it may take, if that is long.
    pub(crate) fn estimate(&self, at_most: Duration) {
        if at_most >= LONG {
            let flow = if self.has_flow { "; --flow-time 0 trains without a flow" } else { "" };
            self.say(&format!(
                "at most some {} here, often a fraction of it (--time-limit 5m ends sooner, with the best model so far{flow})",
                console::duration(at_most)
            ));
        }
    }

    pub(crate) fn iteration(&mut self, progress: &Progress) {
        let done = progress.iteration;
        if self.since.is_none_or(|(stage, ..)| stage != progress.stage) {
            self.since = Some((progress.stage, Instant::now(), done));
            (self.end, self.next_line, self.validation_score) = (progress.iterations, progress.iterations / 10, None);
            if let Some(bar) = &self.bar {
                bar.set_length(progress.iterations);
                bar.set_prefix(name(progress.stage));
            }
        }
        self.elbo = progress.elbo;
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(self.figures(done));
        } else if done >= self.next_line && self.validation_score.is_none() {
            self.next_line += (self.end / 10).max(1);
            self.line(progress.stage, done);
        }
    }

    pub(crate) fn validation(&mut self, validated: &Validated) {
        self.validation_score = Some(validated.score);
        match &self.bar {
            Some(bar) => bar.set_message(self.figures(validated.iteration)),
            None => self.line(validated.stage, validated.iteration),
        }
    }

    /// Shows the first warnings of every kind.
    pub(crate) fn warning(&mut self, warning: &Warning) {
        let kind = mem::discriminant(warning);
        let before = self.warnings.iter_mut().find(|(known, _)| *known == kind);
        let count = before.map_or(1, |(_, count)| {
            *count += 1;
            *count
        });
        if count == 1 {
            self.warnings.push((kind, count));
        }
        if count <= SHOWN {
            self.say(&format!("warning: {}{warning}", self.place));
        }
    }

    /// Prints a line above the bar, or just a line.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell!("{line}")),
            None => tell!("{line}"),
        }
    }

    /// Takes the bar away and says how many warnings were not shown.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let hidden: usize = self.warnings.iter().map(|(_, count)| count.saturating_sub(SHOWN)).sum();
        if hidden > 0 {
            tell!("warning: {}{hidden} more warnings like those above", self.place);
        }
    }

    fn line(&self, stage: StageId, done: u64) {
        if self.lines {
            // A model that starts at its optimum has no iterations.
            let place = if self.end == 0 { String::new() } else { format!("{done:>6}/{}  ", self.end) };
            tell!("{:<12}  {place}{}", name(stage), self.figures(done));
        }
    }

    fn figures(&self, done: u64) -> String {
        let mut parts = vec![];
        if self.elbo.is_finite() {
            parts.push(format!("ELBO {:.1}", self.elbo));
        }
        if let Some(score) = self.validation_score {
            if let Some(rmse) = score.rmse {
                parts.push(format!("validation RMSE {}", console::figure(rmse, 4)));
            }
            if let Some(auc) = score.auc {
                parts.push(format!("validation AUC {auc:.4}"));
            }
            parts.push(format!("log-lik. {:.4}", score.log_likelihood));
        }
        parts.extend(self.time_left(done));
        parts.join("  ")
    }

    /// The time left in this stage; stages before the longest cost little.
    fn time_left(&self, done: u64) -> Option<String> {
        let (stage, start, first) = self.since?;
        let counts = done > first && stage.index >= self.longest;
        counts.then(|| {
            let left = self.end.saturating_sub(done);
            let time = start.elapsed().mul_f64(left as f64 / (done - first) as f64);
            format!("at most {} left", console::duration(time))
        })
    }
}

/// A stage in a word or two; of the folds after the first, which one.
pub(crate) fn name(stage: StageId) -> String {
    let name = match stage.name {
        StageName::CandidateKernel => "kernel",
        StageName::NoFlow => "no flow",
        StageName::WarmStart => "warm start",
        StageName::Flow => "flow",
        StageName::NoFlowOnAllRows | StageName::FlowOnAllRows => "all rows",
        StageName::CrossFitWarmStart | StageName::CrossFit => "calibration",
    };
    if stage.fold == 0 { name.to_owned() } else { format!("{name} {}", stage.fold + 1) }
}

/// On its own a reporter watches a run that records nothing and ends on Ctrl-C.
impl Observer for Reporter {
    fn plan(&mut self, plan: &Plan) {
        Reporter::plan(self, plan);
    }

    fn iteration(&mut self, progress: &Progress) {
        Reporter::iteration(self, progress);
    }

    fn validation(&mut self, validated: &Validated) {
        Reporter::validation(self, validated);
    }

    fn warning(&mut self, warning: &Warning) {
        Reporter::warning(self, warning);
    }

    fn should_stop(&mut self) -> bool {
        interrupt::asked()
    }
}
