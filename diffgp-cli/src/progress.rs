//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::mem::{self, Discriminant};
use std::time::{Duration, Instant};

use diffgp_train::train::{Config, Observer, Phase, Progress, Score, Validated, Warning};
use indicatif::{ProgressBar, ProgressStyle};

use super::console::tell;
use super::{console, interrupt};

/// Warnings of one kind that are shown; a long run may have hundreds.
const SHOWN: usize = 3;

/// Shows how far a run is, phase by phase.
pub(crate) struct Reporter {
    bar: Option<ProgressBar>,
    /// Print lines where there is no bar.
    lines: bool,
    /// When this process began the phase it is in, and with which iteration.
    since: Option<(Phase, Instant, u64)>,
    /// The iterations of the phase.
    end: u64,
    /// The last phase of the run, which costs most.
    last: Phase,
    elbo: f64,
    held_out: Option<Score>,
    /// Without validation rows, lines come at tenths of the phase.
    next_line: u64,
    /// What warnings begin with: which of many runs it is.
    place: String,
    /// How many of each kind there were.
    warnings: Vec<(Discriminant<Warning>, usize)>,
}

impl Reporter {
    /// For a run with this configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1);
            let style = ProgressStyle::with_template("{prefix:10} {bar:30} {pos}/{len}  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let last = if config.flow.time > 0.0 { Phase::Flow } else { Phase::Sparse };
        Self {
            bar,
            lines: true,
            since: None,
            end: 0,
            last,
            elbo: f64::NAN,
            held_out: None,
            next_line: 0,
            place: String::new(),
            warnings: Vec::new(),
        }
    }

    /// For one of many runs: its warnings name the split, and there are no lines where there is no terminal.
    pub(crate) fn of_split(config: &Config, split: usize) -> Self {
        Self { lines: false, place: format!("split {split}: "), ..Self::new(config) }
    }

    pub(crate) fn iteration(&mut self, progress: &Progress) {
        let done = progress.iteration;
        if self.since.is_none_or(|(phase, ..)| phase != progress.phase) {
            self.since = Some((progress.phase, Instant::now(), done));
            (self.end, self.next_line, self.held_out) = (progress.iterations, progress.iterations / 10, None);
            if let Some(bar) = &self.bar {
                bar.set_length(progress.iterations);
                bar.set_prefix(name(progress.phase));
            }
        }
        self.elbo = progress.elbo;
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(self.figures(done));
        } else if done >= self.next_line && self.held_out.is_none() {
            self.next_line += (self.end / 10).max(1);
            self.line(progress.phase, done);
        }
    }

    pub(crate) fn validation(&mut self, validated: &Validated) {
        self.held_out = Some(validated.score);
        match &self.bar {
            Some(bar) => bar.set_message(self.figures(validated.iteration)),
            None => self.line(validated.phase, validated.iteration),
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

    fn line(&self, phase: Phase, done: u64) {
        if self.lines {
            tell!("{:<10}  {done:>6}/{}  {}", name(phase), self.end, self.figures(done));
        }
    }

    fn figures(&self, done: u64) -> String {
        let mut parts = vec![format!("ELBO {:.1}", self.elbo)];
        if let Some(score) = self.held_out {
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

    /// The time left in this phase; phases before the last cost little.
    fn time_left(&self, done: u64) -> Option<String> {
        let (phase, start, first) = self.since?;
        let counts = done > first && phase >= self.last;
        counts.then(|| {
            let left = self.end.saturating_sub(done);
            let time = start.elapsed().mul_f64(left as f64 / (done - first) as f64);
            format!("at most {} left", console::duration(time))
        })
    }
}

/// A phase in a word or two.
fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Trial => "kernel 1/2",
        Phase::RivalTrial => "kernel 2/2",
        Phase::Sparse => "sparse GP",
        Phase::WarmStart => "warm start",
        Phase::Flow => "flow",
        Phase::SparseAgain | Phase::FlowAgain => "all rows",
    }
}

/// On its own a reporter watches a run that records nothing and ends on Ctrl-C.
impl Observer for Reporter {
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
