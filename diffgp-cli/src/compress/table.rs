//! The trade-off, the certificate and the measurements, for people and for programs.

use std::fmt::Write;
use std::path::PathBuf;

use diffgp_train::compress::{Change, Choice, Point};
use diffgp_train::export::Bits;
use serde::Serialize;

use super::{Report, ScoreRow};
use crate::{console, shown};

/// One point of the trade-off.
#[derive(Debug, Serialize)]
pub(super) struct PointRow {
    pub(super) bytes: usize,
    pub(super) instructions: u64,
    pub(super) loss: f64,
    steps: usize,
    flow_inducing: usize,
    predictor_inducing: usize,
    /// Mean over the outputs of the flow.
    flow_rank: f64,
    predictor_rank: usize,
    point_bits: u32,
    weight_bits: u32,
    flow_direction_bits: u32,
    predictor_direction_bits: u32,
}

impl PointRow {
    pub(super) fn new(point: &Point) -> Self {
        let Choice { flow_ranks, .. } = &point.choice;
        let outputs = flow_ranks.iter().map(Vec::len).sum::<usize>();
        let total: usize = flow_ranks.iter().flatten().sum();
        Self {
            bytes: point.bytes,
            instructions: point.instructions,
            loss: point.loss,
            steps: point.choice.steps,
            flow_inducing: point.choice.flow_points,
            predictor_inducing: point.choice.predictor_points,
            flow_rank: total as f64 / outputs.max(1) as f64,
            predictor_rank: point.choice.predictor_rank,
            point_bits: bits(point.choice.point_bits),
            weight_bits: bits(point.choice.weight_bits),
            flow_direction_bits: bits(point.choice.flow_bits),
            predictor_direction_bits: bits(point.choice.predictor_bits),
        }
    }
}

fn bits(bits: Bits) -> u32 {
    match bits {
        Bits::Eight => 8,
        Bits::Sixteen => 16,
        Bits::ThirtyTwo => 32,
    }
}

/// What changed in one output, in standardised units.
#[derive(Debug, Serialize)]
pub(super) struct ChangeRow {
    mean_bound: f32,
    mean_measured: f32,
    narrower_bound: f32,
    narrower_measured: f32,
    wider_bound: f32,
    wider_measured: f32,
    /// Mean of the original where it was measured.
    variance: f64,
}

impl ChangeRow {
    pub(super) fn new(change: &Change) -> Self {
        let Change { bound, measured, variance } = *change;
        Self {
            mean_bound: bound.mean,
            mean_measured: measured.mean,
            narrower_bound: bound.narrower,
            narrower_measured: measured.narrower,
            wider_bound: bound.wider,
            wider_measured: measured.wider,
            variance,
        }
    }
}

/// Rows of the trade-off that are shown.
const SHOWN: usize = 16;

pub(super) fn text(report: &Report, pictures: &[PathBuf]) -> String {
    let mut text = String::new();
    let _ = write_text(report, pictures, &mut text);
    text
}

fn write_text(report: &Report, pictures: &[PathBuf], text: &mut String) -> std::fmt::Result {
    writeln!(
        text,
        "\ntrade-off, instructions of a sampled path on {}\n\
         {:>9} {:>12} {:>9}  {:>5} {:>9} {:>13} {:>20}",
        report.core, "bytes", "instructions", "loss", "steps", "M_f, M_g", "ranks", "bits Z, w, V_f, V_g"
    )?;
    let stride = report.curve.len().div_ceil(SHOWN);
    let last = report.curve.len() - 1;
    for (_, row) in report.curve.iter().enumerate().filter(|(index, _)| (last - index).is_multiple_of(stride)) {
        writeln!(
            text,
            "{:>9} {:>12} {:>9.4}  {:>5} {:>9} {:>13} {:>20}",
            row.bytes,
            row.instructions,
            row.loss,
            row.steps,
            format!("{}, {}", row.flow_inducing, row.predictor_inducing),
            format!("{:.1}, {}", row.flow_rank, row.predictor_rank),
            format!(
                "{}, {}, {}, {}",
                row.point_bits, row.weight_bits, row.flow_direction_bits, row.predictor_direction_bits
            )
        )?;
    }
    writeln!(
        text,
        "\nwhat can change at any state (bound), what changed at the states visited (seen), standardised\n\
         {:<12} {:>19} {:>21} {:>21} {:>10}",
        "", "mean: bound, seen", "narrower: bound, seen", "wider: bound, seen", "variance"
    )?;
    let flow = report.flow.iter().enumerate().map(|(d, row)| (format!("flow {d}"), row));
    for (name, row) in flow.chain([("predictor".to_owned(), &report.predictor)]) {
        let pair = |bound: f32, seen: f32| format!("{bound:.1e} {seen:.1e}");
        writeln!(
            text,
            "{name:<12} {:>19} {:>21} {:>21} {:>10.1e}",
            pair(row.mean_bound, row.mean_measured),
            pair(row.narrower_bound, row.narrower_measured),
            pair(row.wider_bound, row.wider_measured),
            row.variance
        )?;
    }
    if report.adapted {
        writeln!(text, "the predictor's mean was adapted to the changed flow; its bounds are against the adapted one")?;
    }
    if let Some(measured) = &report.measured {
        writeln!(text, "\n{} {}{:>17} {:>12}", measured.n, measured.rows, "original", "compressed")?;
        let (before, after) = (&measured.original, &measured.compressed);
        if let (Some(before), Some(after)) = (before.rmse, after.rmse) {
            let shown = [(before, after), (after, before)].map(|(rmse, other)| console::figure_beside(rmse, other, 4));
            writeln!(text, "{:<24} {:>12} {:>12}", "RMSE", shown[0], shown[1])?;
        }
        let mut line = |label: &str, figure: &dyn Fn(&ScoreRow) -> Option<f64>| match (figure(before), figure(after)) {
            (Some(before), Some(after)) => writeln!(text, "{label:<24} {before:>12.4} {after:>12.4}"),
            _ => Ok(()),
        };
        line("AUC", &|score| score.auc)?;
        line("accuracy", &|score| score.accuracy)?;
        line("calibration error", &|score| score.calibration_error)?;
        line("log-likelihood", &|score| Some(score.log_likelihood))?;
        for (index, label) in ["in 50 % bars", "in 90 % bars", "in 95 % bars"].into_iter().enumerate() {
            line(label, &|score| score.coverage.map(|coverage| coverage[index]))?;
        }
        for (before, after) in before.outputs.iter().zip(&after.outputs) {
            let (rmse, other) = (before.figures.rmse, after.figures.rmse);
            let figures = [(rmse, other), (other, rmse)].map(|(rmse, other)| console::figure_beside(rmse, other, 4));
            writeln!(
                text,
                "{:<24} {:>12} {:>12}",
                format!("RMSE of {}", shown::line(&before.name)),
                figures[0],
                figures[1]
            )?;
        }
    }
    // Integers take more work than floats where fewer terms do not make up for it.
    let work = match report.original_instructions as f64 / report.instructions.max(1) as f64 {
        less if less >= 1.0 => format!("{less:.1} times less work"),
        less => format!("{:.1} times the work", 1.0 / less),
    };
    writeln!(
        text,
        "\n{}: {} of {}, {:.1} times smaller and {work}, {}",
        report.model.display(),
        console::bytes(report.bytes),
        console::bytes(report.original_bytes),
        report.original_bytes as f64 / report.bytes as f64,
        console::duration(std::time::Duration::from_secs_f64(report.seconds))
    )?;
    match pictures {
        [svg, png] => writeln!(text, "picture: {}, {}", svg.display(), png.display()),
        _ => Ok(()),
    }
}
