//! Finished splits, summed up: means and standard errors for every flow time, and gains split by split.

use std::collections::BTreeSet;
use std::fmt::Write;

use diffgp_train::evaluate::OutputFigures;
use diffgp_train::provenance::RECIPE;
use diffgp_train::train::Task;
use serde::Serialize;

use super::bars::Bars;
use super::journal::{Line, SplitFigures};
use crate::eval::NamedOutput;
use crate::{console, shown};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(skip)]
    task: Task,
    /// That of this program.
    recipe: u64,
    results: Vec<Summary>,
}

/// One flow time; figures that do not apply are left out, and the error of a single split is null.
#[derive(Debug, Serialize)]
struct Summary {
    flow_time: f64,
    /// K, as in 2, or as in 5/20 if the model file has other steps than training had; a list if recipes chose differently.
    steps: Option<String>,
    /// How far these steps are from the flow's equation, as a share of the displacement: the worst split; null if no line
    /// says so.
    discretisation_error: Option<f64>,
    /// The recipes that trained the splits.
    recipes: BTreeSet<u64>,
    splits: usize,
    #[serde(skip)]
    without_auc: usize,
    #[serde(flatten)]
    figures: Means,
    /// Held-out rows of all splits together, and the share of them in their intervals of 50, 90 and 95 %.
    rows: usize,
    coverage: Option<[f64; 3]>,
    /// Of one target: error bars of all splits together.
    #[serde(skip_serializing_if = "Option::is_none")]
    bars: Option<Bars>,
    /// Of several targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<OutputMeans>,
    ten_paths: Means,
    drift: Means,
    training: Means,
    bound_mean: f64,
    /// Against the first flow time of the list, on the splits that both have.
    gain: Option<Means>,
    /// The worst of all splits.
    mean_error: f64,
    variance_error: f64,
    bytes: usize,
    /// The most of any split, estimated for a Cortex-M4F: along the drift, per sampled path.
    m4f_instructions: Option<[u64; 2]>,
    /// The iterations that were kept.
    iteration_mean: f64,
    seconds_mean: f64,
    processor_seconds_mean: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Means {
    #[serde(flatten)]
    rmse: Option<Rmse>,
    #[serde(flatten)]
    auc: Option<Auc>,
    #[serde(flatten)]
    accuracy: Option<Accuracy>,
    log_likelihood_mean: f64,
    log_likelihood_se: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Rmse {
    rmse_mean: f64,
    rmse_se: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Auc {
    auc_mean: f64,
    auc_se: Option<f64>,
}

/// Of a classification.
#[derive(Debug, Serialize)]
struct Accuracy {
    accuracy_mean: f64,
    accuracy_se: Option<f64>,
    calibration_error_mean: f64,
    calibration_error_se: Option<f64>,
}

/// One of several targets.
#[derive(Debug, Serialize)]
struct OutputMeans {
    name: String,
    rmse_mean: f64,
    rmse_se: Option<f64>,
    log_likelihood_mean: f64,
    log_likelihood_se: Option<f64>,
    /// Over the held-out rows of all splits together.
    coverage_95: f64,
}

impl Report {
    /// One summary for every flow time that has a finished split.
    pub(super) fn new(task: Task, flow_times: &[f64], lines: &[Line]) -> Self {
        let of_time = |time: f64| lines.iter().filter(move |line| line.flow_time == time).collect::<Vec<_>>();
        let first = flow_times.first().map(|&time| of_time(time)).unwrap_or_default();
        let summed = |&time: &f64| {
            let lines = of_time(time);
            let gains = paired_differences(&lines, &first);
            let gain = (Some(&time) != flow_times.first() && !gains.is_empty()).then(|| Means::of(&gains));
            (!lines.is_empty()).then(|| Summary::new(time, &lines, gain))
        };
        Self { task, recipe: RECIPE, results: flow_times.iter().filter_map(summed).collect() }
    }

    /// What the means leave out, and what they are not.
    pub(super) fn notes(&self) -> Vec<String> {
        let (missing, splits) =
            self.results.iter().map(|summary| (summary.without_auc, summary.splits)).max().unwrap_or_default();
        let one_class = (self.task == Task::Classification && missing > 0).then(|| {
            format!(
                "{missing} of {splits} splits hold out rows of one class only; they have no AUC and are not in its mean"
            )
        });
        let others: BTreeSet<u64> = self
            .results
            .iter()
            .flat_map(|summary| &summary.recipes)
            .copied()
            .filter(|&recipe| recipe != RECIPE)
            .collect();
        let other_recipes = (!others.is_empty()).then(|| {
            let others = others.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            format!(
                "some splits were trained by recipe {others}, and this program has recipe {RECIPE}, which trains otherwise; \
                 without --finished they are trained anew"
            )
        });
        one_class.into_iter().chain(other_recipes).collect()
    }

    /// A table for people.
    pub(super) fn text(&self) -> String {
        let second = match self.task {
            Task::Regression => "RMSE",
            // Lines of before have no accuracy.
            Task::Classification if self.results.iter().any(|summary| summary.figures.accuracy.is_none()) => "AUC",
            Task::Classification => "accuracy",
        };
        let mut text = format!(
            "{:>9}  {:>5}  {:>6}  {second:<20}  {:<20}  in 95 % bars\n",
            "flow time", "steps", "splits", "log-likelihood"
        );
        for summary in &self.results {
            let shown = summary.figures.named(second);
            let likelihood = figure(summary.figures.log_likelihood_mean, summary.figures.log_likelihood_se);
            let coverage = summary.coverage.map_or("-".to_owned(), |[_, _, share]| format!("{:.1} %", 100.0 * share));
            let steps = summary.steps.as_deref().unwrap_or("-");
            let line = format!(
                "{:>9}  {steps:>5}  {:>6}  {shown:<20}  {likelihood:<20}  {coverage}",
                summary.flow_time, summary.splits
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for summary in &self.results {
            for output in &summary.outputs {
                let _ = writeln!(
                    text,
                    "T = {}, {}: RMSE {}, log-likelihood {}, {:.1} % in 95 % bars",
                    summary.flow_time,
                    shown::line(&output.name),
                    in_units(output.rmse_mean, output.rmse_se),
                    figure(output.log_likelihood_mean, output.log_likelihood_se),
                    100.0 * output.coverage_95
                );
            }
            if let (Some(auc), Some(accuracy)) = (&summary.figures.auc, &summary.figures.accuracy) {
                let _ = writeln!(
                    text,
                    "T = {}: AUC {}, calibration error {}",
                    summary.flow_time,
                    figure(auc.auc_mean, auc.auc_se),
                    figure(accuracy.calibration_error_mean, accuracy.calibration_error_se)
                );
            }
        }
        let Some(first) = self.results.first() else { return text };
        for summary in &self.results {
            if let Some(gain) = &summary.gain {
                let _ = writeln!(
                    text,
                    "T = {} against T = {}, split by split: {second} {}, log-likelihood {}",
                    summary.flow_time,
                    first.flow_time,
                    gain.named(second),
                    figure(gain.log_likelihood_mean, gain.log_likelihood_se)
                );
            }
        }
        text
    }
}

impl Summary {
    fn new(flow_time: f64, lines: &[&Line], gain: Option<Means>) -> Self {
        let of =
            |figures: fn(&Line) -> SplitFigures| Means::of(&lines.iter().map(|line| figures(line)).collect::<Vec<_>>());
        let rows: usize = lines.iter().map(|line| line.n).sum();
        let covered = |level: usize| {
            let of_split = |line: &&Line| line.coverage.map(|coverage| coverage[level] * line.n as f64);
            lines.iter().map(of_split).sum::<Option<f64>>().map(|covered| covered / rows as f64)
        };
        let steps: BTreeSet<(usize, usize)> =
            lines.iter().filter(|line| line.steps > 0).map(|line| (line.training_steps, line.steps)).collect();
        let steps: Vec<String> = steps.into_iter().map(shown_steps).collect();
        let worst = |error: fn(&Line) -> f64| lines.iter().map(|line| error(line)).fold(0.0, f64::max);
        Self {
            flow_time,
            steps: (!steps.is_empty()).then(|| steps.join(", ")),
            discretisation_error: lines.iter().filter_map(|line| line.discretisation_error).reduce(f64::max),
            recipes: lines.iter().map(|line| line.provenance.recipe).collect(),
            splits: lines.len(),
            without_auc: lines.iter().filter(|line| line.figures.auc.is_none()).count(),
            figures: of(|line| line.figures),
            rows,
            coverage: covered(0)
                .zip(covered(1))
                .zip(covered(2))
                .map(|((half, most), nearly_all)| [half, most, nearly_all]),
            bars: Bars::pooled(&lines.iter().map(|line| line.bars).collect::<Vec<_>>()),
            outputs: OutputMeans::of(lines),
            ten_paths: of(|line| line.ten_paths),
            drift: of(|line| line.drift),
            training: of(|line| line.training),
            bound_mean: lines.iter().map(|line| line.bound.unwrap_or(f64::NAN)).sum::<f64>() / lines.len() as f64,
            gain,
            mean_error: worst(|line| line.mean_error),
            variance_error: worst(|line| line.variance_error),
            bytes: lines.iter().map(|line| line.bytes).max().unwrap_or(0),
            m4f_instructions: lines
                .iter()
                .filter_map(|line| line.m4f_instructions)
                .reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]),
            iteration_mean: lines.iter().map(|line| line.iteration as f64).sum::<f64>() / lines.len() as f64,
            processor_seconds_mean: lines
                .iter()
                .map(|line| line.processor_seconds)
                .sum::<Option<f64>>()
                .map(|seconds| seconds / lines.len() as f64),
            seconds_mean: lines.iter().map(|line| line.seconds).sum::<f64>() / lines.len() as f64,
        }
    }
}

impl Means {
    /// Of every figure over the splits that have it: rows of one class have no AUC.
    fn of(figures: &[SplitFigures]) -> Self {
        let of = |figure: fn(&SplitFigures) -> Option<f64>| {
            let values: Vec<f64> = figures.iter().filter_map(figure).collect();
            (!values.is_empty()).then(|| mean_and_error(&values))
        };
        let (log_likelihood_mean, log_likelihood_se) =
            of(|figures| Some(figures.log_likelihood)).unwrap_or((f64::NAN, None));
        Self {
            rmse: of(|figures| figures.rmse).map(|(rmse_mean, rmse_se)| Rmse { rmse_mean, rmse_se }),
            auc: of(|figures| figures.auc).map(|(auc_mean, auc_se)| Auc { auc_mean, auc_se }),
            accuracy: of(|figures| figures.accuracy).zip(of(|figures| figures.calibration_error)).map(
                |((accuracy_mean, accuracy_se), (calibration_error_mean, calibration_error_se))| Accuracy {
                    accuracy_mean,
                    accuracy_se,
                    calibration_error_mean,
                    calibration_error_se,
                },
            ),
            log_likelihood_mean,
            log_likelihood_se,
        }
    }

    /// The figure of a column.
    fn named(&self, name: &str) -> String {
        match (&self.rmse, &self.accuracy, &self.auc) {
            (Some(rmse), _, _) => in_units(rmse.rmse_mean, rmse.rmse_se),
            (_, Some(accuracy), _) if name == "accuracy" => figure(accuracy.accuracy_mean, accuracy.accuracy_se),
            (_, _, Some(auc)) if name == "AUC" => figure(auc.auc_mean, auc.auc_se),
            _ => "-".to_owned(),
        }
    }
}

impl OutputMeans {
    /// Of every target over the splits.
    fn of(lines: &[&Line]) -> Vec<Self> {
        let first = lines.first().map_or(&[][..], |line| line.outputs.as_slice());
        let means = |(index, output): (usize, &NamedOutput)| {
            let figures: Vec<&OutputFigures> =
                lines.iter().filter_map(|line| Some(&line.outputs.get(index)?.figures)).collect();
            let of = |figure: fn(&OutputFigures) -> f64| {
                mean_and_error(&figures.iter().map(|figures| figure(figures)).collect::<Vec<_>>())
            };
            let rows: usize = figures.iter().map(|figures| figures.n).sum();
            let covered: f64 = figures.iter().map(|figures| figures.coverage_95 * figures.n as f64).sum();
            let ((rmse_mean, rmse_se), (log_likelihood_mean, log_likelihood_se)) =
                (of(|figures| figures.rmse), of(|figures| figures.log_likelihood));
            Self {
                name: output.name.clone(),
                rmse_mean,
                rmse_se,
                log_likelihood_mean,
                log_likelihood_se,
                coverage_95: covered / rows as f64,
            }
        };
        first.iter().enumerate().map(means).collect()
    }
}

/// lines − first, for every split that both have.
fn paired_differences(lines: &[&Line], first: &[&Line]) -> Vec<SplitFigures> {
    let difference = |line: &&Line| {
        let base = first.iter().find(|base| base.split == line.split)?.figures;
        let minus = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a - b);
        Some(SplitFigures {
            rmse: minus(line.figures.rmse, base.rmse),
            auc: minus(line.figures.auc, base.auc),
            accuracy: minus(line.figures.accuracy, base.accuracy),
            calibration_error: minus(line.figures.calibration_error, base.calibration_error),
            log_likelihood: line.figures.log_likelihood - base.log_likelihood,
        })
    };
    lines.iter().filter_map(difference).collect()
}

/// K while training and in the model file.
fn shown_steps((training, file): (usize, usize)) -> String {
    if training == file { file.to_string() } else { format!("{training}/{file}") }
}

/// Mean, and standard error of the mean if there is more than one value.
fn mean_and_error(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()))
}

fn figure(mean: f64, error: Option<f64>) -> String {
    error.map_or_else(|| format!("{mean:.4}"), |error| format!("{mean:.4} ± {error:.4}"))
}

/// The same in the target's own units, which may be small.
fn in_units(mean: f64, error: Option<f64>) -> String {
    let Some(error) = error else { return console::figure(mean, 4) };
    format!("{} ± {}", console::figure_beside(mean, error, 4), console::figure_beside(error, mean, 4))
}

#[cfg(test)]
mod tests {
    use super::mean_and_error;

    #[test]
    fn means_and_standard_errors_by_hand() {
        assert_eq!(mean_and_error(&[3.0]), (3.0, None));
        // Deviation √2 with divisor n − 1, over √2.
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, Some(1.0)));
    }
}
