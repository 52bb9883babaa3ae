//! Which inputs matter, as bars.

use std::fmt::Write;
use std::ops::Range;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Known, RowError};
use diffgp_train::relevance;
use diffgp_train::threads::Threads;

use crate::shown::markup;
use crate::{importance, model_names};

/// Inputs at most.
const SHOWN: usize = 20;

pub(super) fn table(
    page: &mut String,
    model: &Model<'_>,
    rows: &[Known<'_>],
    threads: &Threads,
) -> Result<(), RowError> {
    let moved = importance::shuffled(model, rows, threads)?;
    let losses = relevance::losses(model, rows, importance::MOST_ROWS, threads)?;
    let of_inputs = importance::sensitivities(model);
    let columns = relevance::columns(model);
    let largest = |inputs: &Range<usize>| of_inputs[inputs.clone()].iter().copied().fold(0.0, f64::max);
    let sensitivities: Vec<f64> = columns.iter().map(|(_, inputs)| largest(inputs)).collect();
    let numbered = model_names::inputs(model);
    let name = |column: usize| columns[column].0.clone().unwrap_or_else(|| numbered[column].clone());
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| moved[b].total_cmp(&moved[a]));
    let most = [&moved, &sensitivities].map(|values| values.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
    page.push_str(
        "<table class=\"bars\"><thead><tr><th></th><th scope=\"col\">answer moves by, if shuffled</th>\
         <th scope=\"col\">nats per row lost, if shuffled</th><th scope=\"col\">sensitivity</th></tr></thead><tbody>",
    );
    for &column in order.iter().take(SHOWN) {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", markup(&name(column)));
        let told = if model.is_classifier() {
            format!("{:.1} %", 100.0 * moved[column])
        } else {
            format!("{:.3}", moved[column])
        };
        bar(page, moved[column] / most[0], &told);
        let lost = losses[column].map_or_else(|| "no number".to_owned(), |loss| loss.to_string());
        let _ = write!(page, "<td>{lost}</td>");
        bar(page, sensitivities[column] / most[1], &format!("{:.3}", sensitivities[column]));
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table>\n");
    if columns.len() > SHOWN {
        let _ = writeln!(page, "<p>The {SHOWN} of {} that matter most.</p>", columns.len());
    }
    let unit = if model.is_classifier() {
        "the probability that changes hands"
    } else {
        "in standard deviations of the target"
    };
    let _ = writeln!(
        page,
        "<p>Shuffled: rows get this one input from each other; the answer moves by its typical change, {unit}, and a \
         row loses so many nats of log-likelihood: near 0, the model does as well without it (train --select tries that). \
         Sensitivity: one over the length-scale, in standard deviations of the input: large where the answer changes over \
         a short way. The two differ where an input matters only together with others, or the flow moves it first.</p>"
    );
    Ok(())
}

fn bar(page: &mut String, share: f64, told: &str) {
    let width = 100.0 * share.clamp(0.0, 1.0);
    let _ = write!(page, "<td><span class=\"share\"><span style=\"width:{width:.1}%\"></span></span>{told}</td>");
}
