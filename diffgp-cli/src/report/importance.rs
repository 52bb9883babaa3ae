//! Which inputs matter, as bars.

use std::fmt::Write;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Known, RowError};
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
    let shuffled = importance::shuffled(model, rows, threads)?;
    let sensitivities = importance::sensitivities(model);
    let names = model_names::inputs(model);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| shuffled[b].total_cmp(&shuffled[a]));
    let most = [&shuffled, &sensitivities].map(|values| values.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
    page.push_str(
        "<table class=\"bars\"><thead><tr><th></th><th scope=\"col\">answer moves by, if shuffled</th>\
         <th scope=\"col\">sensitivity</th></tr></thead><tbody>",
    );
    for &input in order.iter().take(SHOWN) {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", markup(&names[input]));
        let told = if model.is_classifier() {
            format!("{:.1} %", 100.0 * shuffled[input])
        } else {
            format!("{:.3}", shuffled[input])
        };
        bar(page, shuffled[input] / most[0], &told);
        bar(page, sensitivities[input] / most[1], &format!("{:.3}", sensitivities[input]));
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table>\n");
    if names.len() > SHOWN {
        let _ = writeln!(page, "<p>The {SHOWN} of {} that matter most.</p>", names.len());
    }
    let unit = if model.is_classifier() {
        "the probability that changes hands"
    } else {
        "in standard deviations of the target"
    };
    let _ = writeln!(
        page,
        "<p>Shuffled: rows get this one input from each other; the number is the typical change of the answer, {unit}. \
         Sensitivity: one over the length-scale, in standard deviations of the input: large where the answer changes over \
         a short way. The two differ where an input matters only together with others, or the flow moves it first.</p>"
    );
    Ok(())
}

fn bar(page: &mut String, share: f64, told: &str) {
    let width = 100.0 * share.clamp(0.0, 1.0);
    let _ = write!(page, "<td><span class=\"share\"><span style=\"width:{width:.1}%\"></span></span>{told}</td>");
}
