//! What the inputs are to a model: how far one has to move to see a change, and what is lost without what it says.
//!
//! ```text
//! sensitivity     1/ℓᵢ, standardised, averaged over the kernels of the predictor, or of the flow
//! loss            mean over rows of log p(y | x) − log p(y | x with input i of another row), in nats
//! ```
//!
//! The loss is of rows that were not trained on, along the drift; a column of words is one column, whatever inputs it has.
//! Inputs that say the same can each do without the other: that both can go is not said.

use std::ops::Range;

use diffgp_core::blob::KernelView;
use diffgp_infer::Model;

use crate::comparison::Gain;
use crate::data::fields;
use crate::evaluate::{Known, Row, RowError, Sampling, log_likelihoods};
use crate::threads::Threads;

/// Inputs that cost less than this without them are not worth their work, in nats per row.
pub const LEAST_LOSS: f64 = 0.01;
/// Rows get the input of rows so many shares of all further on.
const SHIFTS: [usize; 2] = [2, 3];

/// The columns that the inputs are made of: the name, if the model holds names, and the inputs.
pub fn columns(model: &Model<'_>) -> Vec<(Option<String>, Range<usize>)> {
    let names: Vec<String> = model.blob().names().take(model.inputs()).map(str::to_owned).collect();
    if names.is_empty() {
        return (0..model.inputs()).map(|input| (None, input..input + 1)).collect();
    }
    of_names(&names).into_iter().map(|(name, inputs)| (Some(name), inputs)).collect()
}

/// The columns that inputs of these names are made of.
pub fn of_names(names: &[String]) -> Vec<(String, Range<usize>)> {
    let mut next = 0;
    let placed = fields(names).into_iter().map(|field| {
        let start = next;
        next += field.width();
        (field.name().to_owned(), start..next)
    });
    placed.collect()
}

/// Of the predictor; `None` in integers, whose scales are rounded.
pub fn sensitivities(model: &Model<'_>) -> Option<Vec<f64>> {
    let blob = model.blob();
    mean(model, (0..blob.header().predictor_kernels.into()).map(|index| blob.predictor_kernel(index)))
}

/// Of the drift, averaged over the dimensions that it moves; `None` in integers and without a flow.
pub fn flow_sensitivities(model: &Model<'_>) -> Option<Vec<f64>> {
    let blob = model.blob();
    if model.steps() == 0 {
        return None;
    }
    mean(model, (0..model.inputs()).map(|dimension| blob.flow_kernel(dimension)))
}

/// The file holds c/(ℓ t).
fn mean<'a>(model: &Model<'_>, kernels: impl Iterator<Item = Option<KernelView<'a>>>) -> Option<Vec<f64>> {
    let kernels: Vec<KernelView<'_>> = kernels.collect::<Option<_>>()?;
    let of_input = |input: usize| {
        let inverse = kernels.iter().filter_map(|kernel| {
            let unit = f64::from(kernel.points.unit) / kernel.kind.distance_scale();
            Some(f64::from(*kernel.scales.get(input)?) * unit)
        });
        inverse.sum::<f64>() / kernels.len().max(1) as f64
    };
    Some((0..model.inputs()).map(of_input).collect())
}

/// What rows lose if one column after the other comes from another row; up to `most` rows, evenly spaced, are asked. `None` for
/// a column without which a density is no number.
pub fn losses(
    model: &Model<'_>,
    rows: &[Known<'_>],
    most: usize,
    threads: &Threads,
) -> Result<Vec<Option<Gain>>, RowError> {
    let step = rows.len().div_ceil(most).max(1);
    let rows: Vec<Known<'_>> = rows.iter().step_by(step).copied().collect();
    let before = log_likelihoods(model, &rows, Sampling::Drift, threads)?;
    let of_column = |inputs: Range<usize>| {
        let mut after = vec![0.0; rows.len()];
        for shift in SHIFTS {
            let given = |index: usize| {
                let mut x = rows[index].row.x.to_vec();
                let other = rows[(index + rows.len() / shift) % rows.len()].row.x;
                x[inputs.clone()].copy_from_slice(&other[inputs.clone()]);
                x
            };
            let shuffled: Vec<Vec<f32>> = (0..rows.len()).map(given).collect();
            let known: Vec<Known<'_>> = (rows.iter().zip(&shuffled))
                .map(|(known, x)| Known { row: Row { number: known.row.number, x }, targets: known.targets })
                .collect();
            let of_shift = log_likelihoods(model, &known, Sampling::Drift, threads).ok()?;
            after.iter_mut().zip(of_shift).for_each(|(sum, value)| *sum += value / SHIFTS.len() as f64);
        }
        Gain::paired(&before, &after)
    };
    Ok(columns(model).into_iter().map(|(_, inputs)| of_column(inputs)).collect())
}
