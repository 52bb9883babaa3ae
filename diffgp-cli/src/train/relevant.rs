//! What the inputs are to the finished model, column by column.

use std::ops::Range;

use diffgp_infer::Model;
use diffgp_train::comparison::Gain;
use diffgp_train::evaluate::{Known, RowError};
use diffgp_train::relevance::{self, LEAST_LOSS};
use diffgp_train::threads::Threads;
use serde::Serialize;

use crate::importance::MOST_ROWS;

/// Columns that one line names at most.
const NAMED: usize = 5;

/// One column.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Relevant {
    /// Its name, or the number of its input.
    column: String,
    /// One over the length-scale of the predictor, in deviations; the largest of its inputs.
    sensitivity: Option<f64>,
    /// The same of the flow; null without one.
    flow_sensitivity: Option<f64>,
    /// Nats per row that are lost if it comes from another row; null if that is no number.
    loss: Option<f64>,
    loss_se: Option<f64>,
}

/// Of all columns, on rows with known targets.
pub(super) fn measure(model: &Model<'_>, rows: &[Known<'_>], threads: &Threads) -> Result<Vec<Relevant>, RowError> {
    let losses = relevance::losses(model, rows, MOST_ROWS, threads)?;
    let (predictor, flow) = (relevance::sensitivities(model), relevance::flow_sensitivities(model));
    let largest = |of: &Option<Vec<f64>>, inputs: &Range<usize>| {
        of.as_ref().map(|of| of[inputs.clone()].iter().copied().fold(0.0, f64::max))
    };
    let column = |((name, inputs), loss): ((Option<String>, Range<usize>), Option<Gain>)| Relevant {
        column: name.unwrap_or_else(|| format!("input {}", inputs.start)),
        sensitivity: largest(&predictor, &inputs),
        flow_sensitivity: largest(&flow, &inputs),
        loss: loss.map(|loss| loss.mean),
        loss_se: loss.map(|loss| loss.standard_error),
    };
    Ok(relevance::columns(model).into_iter().zip(losses).map(column).collect())
}

/// Which matter, and which could go; nothing to say of a single one.
pub(super) fn lines(all: &[Relevant], held_out: bool) -> Vec<String> {
    if all.len() < 2 {
        return Vec::new();
    }
    let rows = if held_out { "held-out rows" } else { "training rows" };
    let mut known: Vec<(f64, &Relevant)> = all.iter().filter_map(|of| Some((of.loss?, of))).collect();
    known.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (strong, weak): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|&(loss, of)| loss >= LEAST_LOSS.max(of.loss_se.unwrap_or(0.0)));
    let named = |of: &[(f64, &Relevant)], told: &dyn Fn(f64, &Relevant) -> String| {
        let mut names: Vec<String> = of.iter().take(NAMED).map(|&(loss, of)| told(loss, of)).collect();
        if of.len() > NAMED {
            names.push(format!("{} more", of.len() - NAMED));
        }
        names.join(", ")
    };
    let mut lines = Vec::new();
    if !strong.is_empty() {
        let told = named(&strong, &|loss, of| format!("{} {loss:.2}", of.column));
        lines.push(format!("inputs that matter, by the nats per row lost if shuffled: {told} ({rows})"));
    }
    if !weak.is_empty() {
        let told =
            named(&weak, &|loss, of| format!("{} ({loss:.3} \u{b1} {:.3})", of.column, of.loss_se.unwrap_or(0.0)));
        lines.push(format!("inputs that hardly do: {told}; --select leaves such out if nothing is lost"));
    }
    lines
}
