//! What a compressed model changed, measured.

use diffgp_infer::Model;
use nalgebra::DMatrix;

use super::rows::InputRows;
use super::states::{Visited, spread};
use super::tensors::{Process, Tensors};
use super::{Bound, COMPARED_ROWS, Certificate, Change, CompressError, END_ROWS};
use crate::discretisation::Discretisation;
use crate::evaluate::{AnyWorkspace, Sampling, evaluate};
use crate::export::tables::Output;
use crate::threads::Threads;

/// How far predictions along the drift are from the original's: H18 to H20.
#[derive(Clone, Copy, Default)]
pub(super) struct Differences {
    /// In standard deviations of the target, the worst over outputs.
    pub(super) mean: f32,
    /// Relative.
    pub(super) variance: f32,
    /// Over so many rows.
    pub(super) rows: u32,
}

/// The worst differences of two models.
pub(super) fn differences(
    original: &Model<'_>,
    compressed: &Model<'_>,
    rows: InputRows<'_>,
    threads: &Threads,
) -> Result<Differences, CompressError> {
    let rows = rows.numbered(&spread(rows.total(), COMPARED_ROWS));
    let before = evaluate(original, &rows, Sampling::Drift, threads)?;
    let after = evaluate(compressed, &rows, Sampling::Drift, threads)?;
    let mut differences = Differences { rows: rows.len() as u32, ..Differences::default() };
    for (before, after) in before.iter().zip(&after) {
        let outputs = before.answer.outputs().iter().zip(after.answer.outputs());
        for (index, (before, after)) in outputs.enumerate() {
            let scale = original.blob().target(index).scale;
            differences.mean = differences.mean.max((after.mean() - before.mean()).abs() / scale);
            differences.variance = differences.variance.max((after.variance() / before.variance() - 1.0).abs());
        }
    }
    Ok(differences)
}

/// How far the steps of a model end from those of another with finer steps, along the drift.
pub(super) fn discretisation(
    model: &Model<'_>,
    finer: &Model<'_>,
    rows: InputRows<'_>,
) -> Result<Discretisation, CompressError> {
    let rows = rows.numbered(&spread(rows.total(), END_ROWS));
    let mut workspace = Box::new(AnyWorkspace::new());
    let (mut start, mut found, mut solution) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        for (model, ends, starts) in [(model, &mut found, Some(&mut start)), (finer, &mut solution, None)] {
            let mut run = model.begin_drift(row.x, &mut *workspace)?;
            starts.into_iter().for_each(|starts| starts.extend(run.state().iter().map(|&x| f64::from(x))));
            while run.step()? {}
            ends.extend(run.state().iter().map(|&x| f64::from(x)));
        }
    }
    Ok(Discretisation::between(&start, &found, &solution, rows.len()))
}

/// What changed at the visited states, next to the bounds: for every dimension of the flow, and for the predictor, the worst
/// over its outputs.
pub(super) fn changes(
    reference: &Tensors,
    stored: &Tensors,
    certificate: &Certificate,
    visited: &Visited,
) -> (Vec<Change>, Change) {
    let none = |bound: Bound| Change { bound, measured: Bound::default(), variance: 0.0 };
    let mut flow: Vec<Change> = certificate.flow.iter().map(|&bound| none(bound)).collect();
    let inputs = flow.len();
    for (kernel, (before, after)) in reference.flow.iter().zip(&stored.flow).enumerate() {
        for (index, (old, new)) in before.outputs.iter().zip(&after.outputs).enumerate() {
            let d = reference.dimension(kernel, index, inputs);
            measure(&mut flow[d], (before, old), (after, new), &visited.flow);
        }
    }
    let mut predictor = none(certificate.predictor);
    for (before, after) in reference.predictor.iter().zip(&stored.predictor) {
        for (old, new) in before.outputs.iter().zip(&after.outputs) {
            measure(&mut predictor, (before, old), (after, new), &visited.ends);
        }
    }
    (flow, predictor)
}

/// Adds the differences of one output to a change.
fn measure(
    change: &mut Change,
    (before, old): (&Process, &Output),
    (after, new): (&Process, &Output),
    states: &DMatrix<f64>,
) {
    let (old_means, old_variances) = moments(before, old, states);
    let (new_means, new_variances) = moments(after, new, states);
    let measured = &mut change.measured;
    for (new, old) in new_means.iter().zip(&old_means) {
        measured.mean = measured.mean.max((new - old).abs() as f32);
    }
    for (new, old) in new_variances.iter().zip(&old_variances) {
        measured.wider = measured.wider.max((new - old) as f32);
        measured.narrower = measured.narrower.max((old - new) as f32);
    }
    let mean = old_variances.iter().sum::<f64>() / old_variances.len().max(1) as f64;
    change.variance = change.variance.max(mean);
}

/// Mean and variance of an output at states, in float64: `[N]` each.
fn moments(process: &Process, output: &Output, states: &DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let features = process.kernel.features(&process.kernel.points, states);
    let means = features.tr_mul(&output.weights);
    let projections = features.tr_mul(&output.directions);
    let variances = projections.row_iter().map(|row| {
        let explained: f64 = row.iter().zip(output.coefficients.iter()).map(|(p, c)| c * p * p).sum();
        process.kernel.variance * (1.0 - explained)
    });
    (means.iter().copied().collect(), variances.collect())
}
