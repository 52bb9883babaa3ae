//! The rows with the largest errors: what is wrong with them is worth a look.

use std::fmt::Write;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Answer, Known};

use crate::shown::markup;
use crate::{console, model_names};

/// Rows that are listed.
const SHOWN: usize = 8;
const LEVEL: f32 = 0.95;

/// A row, which target, and how large its error is: standardised, or the probability that the truth was not given.
struct Wrong {
    row: usize,
    output: usize,
    error: f64,
}

pub(super) fn list(page: &mut String, model: &Model<'_>, rows: &[Known<'_>], answers: &[Answer]) {
    let mut wrong: Vec<Wrong> =
        answers.iter().zip(rows).enumerate().map(|(row, (answer, known))| worst(model, row, answer, known)).collect();
    wrong.sort_by(|a, b| b.error.total_cmp(&a.error));
    wrong.truncate(SHOWN);
    let (targets, classes, inputs) =
        (model_names::targets(model), model_names::classes(model), model_names::inputs(model));
    let several = targets.len() > 1 && classes.is_empty();
    let outside =
        |row: usize| -> Vec<&str> { answers[row].out_of_range().iter().map(|input| inputs[input].as_str()).collect() };
    let any_outside = wrong.iter().any(|wrong| !outside(wrong.row).is_empty());
    let mut heads = match (classes.is_empty(), several) {
        (false, _) => vec!["row", "is", "given", "most probable"],
        (true, true) => vec!["row", "target", "is", "answer", "95 % bar"],
        (true, false) => vec!["row", "is", "answer", "95 % bar"],
    };
    heads.extend(any_outside.then_some("never seen"));
    page.push_str("<h3>The rows with the largest errors</h3>\n<div class=\"scrolls\"><table><thead><tr>");
    for head in heads {
        let _ = write!(page, "<th scope=\"col\">{head}</th>");
    }
    page.push_str("</tr></thead><tbody>");
    for Wrong { row, output, .. } in wrong {
        let (known, answer) = (&rows[row], &answers[row]);
        let mut cells = vec![known.row.number.to_string()];
        if classes.is_empty() {
            let said = answer.outputs()[output];
            let (low, high) = said.interval(LEVEL).unwrap_or((said.mean(), said.mean()));
            let figure = |value: f32| figure(value.into(), model.blob().target(output).scale.into());
            if several {
                cells.push(targets[output].clone());
            }
            cells.extend([known.targets[output], said.mean()].map(figure));
            cells.push(format!("{} to {}", figure(low), figure(high)));
        } else {
            let truth = known.targets[0] as usize;
            cells.push(classes[truth].clone());
            cells.push(format!("{:.1} %", 100.0 * answer.probabilities()[truth]));
            cells.push(answer.class().map_or_else(String::new, |class| classes[class].clone()));
        }
        cells.extend(any_outside.then(|| outside(row).join(", ")));
        page.push_str("<tr>");
        for cell in cells {
            let _ = write!(page, "<td>{}</td>", markup(&cell));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>\n<p>Rows count from 0.");
    if !classes.is_empty() {
        page.push_str(" Given: the probability of the truth.");
    }
    if any_outside {
        page.push_str(" Never seen: inputs outside the ranges of training.");
    }
    page.push_str("</p>\n");
}

/// With the digits that matter where values are so far apart.
fn figure(value: f64, deviation: f64) -> String {
    let decimals = (2.0 - deviation.log10().floor()).clamp(0.0, 9.0) as usize;
    console::figure_beside(value, deviation, decimals)
}

/// The output whose error is the largest.
fn worst(model: &Model<'_>, row: usize, answer: &Answer, known: &Known<'_>) -> Wrong {
    if model.is_classifier() {
        let error = 1.0 - f64::from(answer.probabilities()[known.targets[0] as usize]);
        return Wrong { row, output: 0, error };
    }
    let error = |output: usize| {
        let off = f64::from(known.targets[output]) - f64::from(answer.outputs()[output].mean());
        (off / f64::from(model.blob().target(output).scale)).abs()
    };
    let all = (0..model.outputs()).map(|output| Wrong { row, output, error: error(output) });
    let larger = |a: Wrong, b: Wrong| if b.error > a.error { b } else { a };
    all.reduce(larger).unwrap_or(Wrong { row, output: 0, error: 0.0 })
}
