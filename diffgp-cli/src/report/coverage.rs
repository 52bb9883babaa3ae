//! What error bars promise beside what they held, with the chance that is in so many rows.

use std::fmt::Write;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Figures, LEVELS};

use crate::model_names;
use crate::shown::markup;

/// Whether the table says what this line of `eval` says. Lines about a part of the rows name it.
pub(super) fn is_told((label, value): &(String, String)) -> bool {
    value.parse::<f64>().is_ok() && LEVELS.iter().any(|level| *label == format!("in {:.0} % bars", 100.0 * level))
}

/// Of real targets: promised and found shares, the latter with the standard error of a share of so many rows where the
/// promise is kept, √(p (1 − p) / n).
pub(super) fn table(page: &mut String, model: &Model<'_>, figures: &Figures) {
    if figures.outputs.is_empty() {
        return;
    }
    let names = model_names::targets(model);
    let several = figures.outputs.len() > 1;
    page.push_str(
        "<table><caption>True values inside the error bars</caption><thead><tr><th scope=\"col\">promised</th>",
    );
    for name in &names {
        let of = if several { format!(", {}", markup(name)) } else { String::new() };
        let _ = write!(page, "<th scope=\"col\">found{of}</th>");
    }
    page.push_str("</tr></thead><tbody>");
    for (index, level) in LEVELS.into_iter().enumerate() {
        let promised = f64::from(level);
        let _ = write!(page, "<tr><td>{:.0} %</td>", 100.0 * promised);
        for output in &figures.outputs {
            let error = standard_error(promised, output.n);
            let found = output.coverage()[index];
            let _ = write!(page, "<td>{:.1} % ± {:.1} %</td>", 100.0 * found, 100.0 * error);
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table>\n");
    page.push_str("<p>± is one standard error: by so much chance alone moves the share of so many rows.</p>\n");
}

fn standard_error(promised: f64, rows: usize) -> f64 {
    (promised * (1.0 - promised) / rows as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_the_table_repeats_are_those_of_eval() {
        let line = |label: &str, value: &str| (label.to_owned(), value.to_owned());
        assert!(is_told(&line("in 95 % bars", "0.9500")) && is_told(&line("in 50 % bars", "0.4667")));
        assert!(!is_told(&line("95 % bar width", "1.2000")));
        assert!(!is_told(&line("in 90 % bars", "0.9000, of the rows outside the ranges seen in training")));
    }

    #[test]
    fn the_error_is_that_of_a_binomial_share() {
        // The spread of the share of heads in n throws of a coin with p = 0.9, counted out for n = 2: 0, 1, 2 heads.
        let shares = [(0.01, 0.0), (0.18, 0.5), (0.81, 1.0_f64)];
        let variance: f64 = shares.iter().map(|(chance, share)| chance * (share - 0.9).powi(2)).sum();
        assert!((standard_error(0.9, 2) - variance.sqrt()).abs() < 1e-12);
    }
}
