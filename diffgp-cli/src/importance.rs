//! Which inputs matter: by how far one has to move to see a change, and by how much the answer changes when one is shuffled.

use std::ops::Range;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Answer, Known, Row, RowError, Sampling, evaluate};
use diffgp_train::relevance;
use diffgp_train::threads::Threads;

/// Rows that are shuffled at most.
pub(crate) const MOST_ROWS: usize = 100;

/// 1/ℓᵢ of the predictor; zeros in integers.
pub(crate) fn sensitivities(model: &Model<'_>) -> Vec<f64> {
    relevance::sensitivities(model).unwrap_or_else(|| vec![0.0; model.inputs()])
}

/// The inputs, the one with the largest sensitivity first.
pub(crate) fn by_sensitivity(model: &Model<'_>) -> Vec<usize> {
    let sensitivities = sensitivities(model);
    let mut inputs: Vec<usize> = (0..sensitivities.len()).collect();
    inputs.sort_by(|&a, &b| sensitivities[b].total_cmp(&sensitivities[a]));
    inputs
}

/// Of every column the typical change of the answer along the drift when rows get it from each other: the root of the mean
/// square, of real targets as a share of the target's deviation and averaged over them, of classes the probability that
/// changes hands.
pub(crate) fn shuffled(model: &Model<'_>, rows: &[Known<'_>], threads: &Threads) -> Result<Vec<f64>, RowError> {
    let step = rows.len().div_ceil(MOST_ROWS).max(1);
    let rows: Vec<&[f32]> = rows.iter().step_by(step).map(|known| known.row.x).collect();
    let answers = |places: &[Vec<f32>]| -> Result<Vec<Answer>, RowError> {
        let rows: Vec<Row<'_>> = places.iter().zip(0..).map(|(x, number)| Row { number, x }).collect();
        Ok(evaluate(model, &rows, Sampling::Drift, threads)?.into_iter().map(|row| row.answer).collect())
    };
    let before = answers(&rows.iter().map(|x| x.to_vec()).collect::<Vec<_>>())?;
    let of_column = |inputs: Range<usize>| {
        let changed = |index: usize| {
            let mut x = rows[index].to_vec();
            // Half of the rows further is far away even where rows are sorted.
            let other = rows[(index + rows.len() / 2) % rows.len()];
            x[inputs.clone()].copy_from_slice(&other[inputs.clone()]);
            x
        };
        let after = answers(&(0..rows.len()).map(changed).collect::<Vec<_>>())?;
        let squares: f64 = before.iter().zip(&after).map(|(before, after)| square(model, before, after)).sum();
        Ok((squares / rows.len() as f64).sqrt())
    };
    relevance::columns(model).into_iter().map(|(_, inputs)| of_column(inputs)).collect()
}

/// How far two answers are apart, squared.
fn square(model: &Model<'_>, before: &Answer, after: &Answer) -> f64 {
    if model.is_classifier() {
        let moved: f32 = before.probabilities().iter().zip(after.probabilities()).map(|(a, b)| (a - b).abs()).sum();
        return f64::from(0.5 * moved).powi(2);
    }
    let apart = |output: usize| {
        let [before, after] = [before, after].map(|answer| f64::from(answer.outputs()[output].mean()));
        ((after - before) / f64::from(model.blob().target(output).scale)).powi(2)
    };
    (0..model.outputs()).map(apart).sum::<f64>() / model.outputs() as f64
}
