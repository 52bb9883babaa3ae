//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use diffgp_train::train::{Config, Observer, Phase, Progress, Score, Validated};
use indicatif::{ProgressBar, ProgressStyle};

use super::{console, interrupt};

/// Shows how far a run is.
pub(crate) struct Reporter {
    /// Iterations of the phases.
    warm: u64,
    total: u64,
    bar: Option<ProgressBar>,
    /// Print lines where there is no bar.
    lines: bool,
    /// When this process began the phase it is in, and with which iteration.
    since: Option<(Phase, Instant, u64)>,
    elbo: f64,
    held_out: Option<Score>,
    /// Without validation rows, lines come at these shares of the whole.
    next_line: u64,
}

impl Reporter {
    /// For a run with this configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let warm = config.warm_start.iterations;
        let total = if config.flow.time > 0.0 { warm + config.main.iterations } else { warm };
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total);
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { warm, total, bar, lines: true, since: None, elbo: f64::NAN, held_out: None, next_line: total / 10 }
    }

    /// Silent where there is no terminal: for work that consists of many runs.
    pub(crate) fn bar_only(config: &Config) -> Self {
        Self { lines: false, ..Self::new(config) }
    }

    pub(crate) fn iteration(&mut self, progress: &Progress) {
        let done = self.done(progress.phase, progress.iteration);
        if self.since.is_none_or(|(phase, ..)| phase != progress.phase) {
            self.since = Some((progress.phase, Instant::now(), done));
        }
        self.elbo = progress.elbo;
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(self.figures(done));
        } else if done >= self.next_line && self.held_out.is_none() {
            self.next_line += (self.total / 10).max(1);
            self.line(progress.phase, done);
        }
    }

    pub(crate) fn validation(&mut self, validated: &Validated) {
        let done = self.done(validated.phase, validated.iteration);
        self.held_out = Some(validated.score);
        match &self.bar {
            Some(bar) => bar.set_message(self.figures(done)),
            None => self.line(validated.phase, done),
        }
    }

    /// Prints a line above the bar, or just a line.
    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn done(&self, phase: Phase, iteration: u64) -> u64 {
        match phase {
            Phase::WarmStart => iteration,
            Phase::Flow => self.warm + iteration,
        }
    }

    fn line(&self, phase: Phase, done: u64) {
        if !self.lines {
            return;
        }
        let phase = match phase {
            Phase::WarmStart => "sparse GP",
            Phase::Flow => "flow",
        };
        eprintln!("{done:>6}/{}  {phase:<9}  {}", self.total, self.figures(done));
    }

    fn figures(&self, done: u64) -> String {
        let mut parts = vec![format!("ELBO {:.1}", self.elbo)];
        if let Some(score) = self.held_out {
            if let Some(rmse) = score.rmse {
                parts.push(format!("held-out RMSE {rmse:.4}"));
            }
            if let Some(auc) = score.auc {
                parts.push(format!("held-out AUC {auc:.4}"));
            }
            parts.push(format!("log-lik. {:.4}", score.log_likelihood));
        }
        parts.extend(self.time_left(done));
        parts.join("  ")
    }

    /// Said of the last phase only: what an iteration of it costs is not known before.
    fn time_left(&self, done: u64) -> Option<String> {
        let (phase, start, first) = self.since?;
        let counts = done > first && (phase == Phase::Flow || self.warm == self.total);
        let left = self.total.saturating_sub(done);
        counts.then(|| {
            let time = start.elapsed().mul_f64(left as f64 / (done - first) as f64);
            format!("{} left", console::duration(time))
        })
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

    fn should_stop(&mut self) -> bool {
        interrupt::asked()
    }
}
