//! What `train` says about the finished model.

use std::path::Path;
use std::time::Duration;

use diffgp_train::train::{Compaction, Cut, Gain, Trained, WORTHWHILE_GAIN, WORTHWHILE_KERNEL_GAIN};
use serde::Serialize;

use super::Args;
use super::relevant::{self, Relevant};
use super::select::Selection;
use crate::calibrate::Calibrated;
use crate::dirt::Warned;
use crate::{console, progress};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) model: String,
    pub(super) run_dir: String,
    pub(super) bytes: usize,
    /// Nats per row that compression lost on training rows; null if there was none.
    pub(super) compression_loss: Option<f64>,
    pub(super) rows: usize,
    pub(super) inputs: usize,
    /// What the columns are to the model, on held-out rows if there are some.
    pub(super) relevance: Vec<Relevant>,
    /// Null without --select.
    pub(super) selection: Option<Selection>,
    #[serde(skip)]
    pub(super) held_out: bool,
    /// What looks wrong in the data.
    pub(super) warnings: Vec<Warned>,
    /// 0 if no flow was asked for or none was worth it.
    pub(super) flow_time: f64,
    pub(super) iteration: u64,
    pub(super) validation_log_likelihood: Option<f64>,
    /// K; 0 without a flow.
    pub(super) steps: usize,
    /// How a step of the flow is made; null without one.
    pub(super) scheme: Option<&'static str>,
    /// How far the flow is from the solution of its equation, as a share of the displacement; null without one.
    pub(super) discretisation_error: Option<f64>,
    /// What was left out of the variances; null if nothing was.
    pub(super) compaction: Option<LeftOut>,
    /// What the error bars were calibrated on; null if they were not.
    pub(super) calibration: Option<Calibrated>,
    /// Where --time-limit ended training; null if it did not.
    pub(super) cut: Option<CutRow>,
    /// Of the predictor.
    pub(super) kernel: String,
    /// What the flow adds to the log-likelihood of a validation row, kept or not, if it was to be chosen, with its
    /// standard error.
    pub(super) flow_gain: Option<f64>,
    pub(super) flow_gain_se: Option<f64>,
    /// What the other kernel adds to it, used or not, if kernels were compared.
    pub(super) kernel_gain: Option<f64>,
    pub(super) kernel_gain_se: Option<f64>,
    /// What the last fit of the noise added to it, if there was one.
    pub(super) noise_gain: Option<f64>,
    pub(super) noise_gain_se: Option<f64>,
    pub(super) mean_error: f64,
    pub(super) variance_error: f64,
    pub(super) seconds: f64,
}

/// Variance directions that predictions cannot tell.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    /// Directions before and after, over all outputs of flow and predictor.
    before: usize,
    after: usize,
    /// What predictions lose, in nats per row.
    loss: f64,
    /// The most by which a variance can be wider anywhere, as a share of its kernel's.
    widening: f64,
}

impl LeftOut {
    pub(super) fn of(trained: &Trained) -> Option<Self> {
        let Compaction { before, after, loss, widening, .. } = trained.compaction?;
        Some(Self { before, after, loss, widening })
    }

    fn text(&self) -> String {
        format!(
            "{} of {} variance directions are left out, which predictions tell by {:.1e} nats per row (--compact 0 keeps \
             them)",
            self.before - self.after,
            self.before,
            self.loss
        )
    }
}

impl Summary {
    /// For people; `checked` rows were compared, and `page` is the report if there is one.
    pub(super) fn text(&self, args: &Args, trained: &Trained, checked: usize, page: Option<&Path>) -> String {
        let validated = self
            .validation_log_likelihood
            .map_or_else(String::new, |value| format!(", validation log-likelihood {value:.4}"));
        let choices: String = choices(trained).into_iter().map(|choice| choice + "\n").collect();
        let inputs: String =
            relevant::lines(&self.relevance, self.held_out).into_iter().map(|line| line + "\n").collect();
        let steps =
            self.discretisation_error.map_or_else(String::new, |error| format!("{}\n", console::steps_error(error)));
        let left_out = self.compaction.as_ref().map_or_else(String::new, |left| format!("{}\n", left.text()));
        let bars = self.calibration.as_ref().map_or_else(String::new, |bars| format!("error bars {}\n", bars.text()));
        let compression = self.compression_loss.map_or_else(String::new, |loss| {
            format!("compressed to fit: {loss:.4} nats per row from the whole model, which is in the run directory\n")
        });
        let compared = if self.compression_loss.is_some() { "against the whole model" } else { "f32 against float64" };
        let page = page.map_or_else(String::new, |page| format!("report: {}\n", page.display()));
        let [model, data] = [&args.out, &args.rows.data].map(|path| console::quoted(&path.to_string_lossy()));
        // A model that holds the target's name finds it.
        let target = args.rows.target.as_deref().filter(|name| args.strip_names || name.parse::<usize>().is_ok());
        let target = target.map_or_else(String::new, |target| format!(" --target {}", console::quoted(target)));
        format!(
            "{model}: {}, iteration {}{validated}, {}\n{choices}{inputs}{steps}{left_out}{bars}{compression}\
             {compared} on {} rows: mean within {:.1e} standard deviations, variance within {:.1e}\n\
             {page}\n\
             next:\n  diffgp eval {model} {data}{target}{}{}\n  diffgp inspect {model}\n",
            console::bytes(self.bytes),
            self.iteration,
            console::duration(Duration::from_secs_f64(self.seconds)),
            checked,
            self.mean_error,
            self.variance_error,
            args.rows.layout.as_typed(),
            args.test_rows.as_typed()
        )
    }
}

/// Where training was ended before its plan did, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct CutRow {
    /// Null before the first stage.
    stage: Option<&'static str>,
    iteration: u64,
    iterations: u64,
}

impl CutRow {
    pub(super) fn of(cut: &Cut) -> Self {
        let Cut { stage, iteration, iterations } = *cut;
        Self { stage: stage.map(|stage| stage.name.id()), iteration, iterations }
    }
}

/// The same for people.
fn cut_short(cut: &Cut) -> String {
    let place = match cut.stage {
        None => "before the first iteration".to_owned(),
        Some(stage) => {
            format!("in \"{}\", iteration {} of {}", progress::name(stage), cut.iteration, cut.iterations)
        }
    };
    format!(
        "training ended early, {place}: this is the best model so far, and its bytes depend on how fast the machine was; the same \
         command with --resume goes on"
    )
}

/// What was chosen, and why: a line each.
pub(super) fn choices(trained: &Trained) -> Vec<String> {
    let cut = trained.cut.as_ref().map(cut_short);
    let kernel = format!("{:?}", trained.params.predictor.kernel(0).kind).to_lowercase();
    let kernel = trained.kernel_gain.map(|gain| kernel_choice(&kernel, &gain));
    let flow = trained.flow_gain.map(|gain| flow_choice(trained.params.flow.is_some(), &gain));
    let noise = trained
        .noise_gain
        .map(|gain| format!("the noise was fitted to validation rows, which gained {gain} nats per row"));
    [cut, kernel, flow, noise].into_iter().flatten().collect()
}

fn flow_choice(has_flow: bool, gain: &Gain) -> String {
    let (rows, needed) = (gain.rows, gain.needed(WORTHWHILE_GAIN));
    match has_flow {
        true => format!("the flow adds {gain} nats per row, on {rows} rows kept aside"),
        false => format!(
            "no flow: it would add {gain} nats per row, on {rows} rows kept aside, and {needed:.3} is the least that is \
             worth its work (--flow-time 5 insists)"
        ),
    }
}

fn kernel_choice(kernel: &str, gain: &Gain) -> String {
    let (rows, needed) = (gain.rows, gain.needed(WORTHWHILE_KERNEL_GAIN));
    match gain.is_worth(WORTHWHILE_KERNEL_GAIN) {
        true => format!("kernel {kernel}: it adds {gain:.4} nats per row, on {rows} validation rows"),
        false => format!(
            "kernel {kernel}: matern32 would add {gain:.4} nats per row, on {rows} validation rows, and {needed:.4} is the \
             least that is worth its work (--kernel matern32 insists)"
        ),
    }
}
