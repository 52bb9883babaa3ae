//! Tensors of a model that is evaluated in integers, in float64, and what integers make of them.

use diffgp_core::blob::{Blob, FixedKernel, FixedOutput, FixedRow, FixedRows, layout};
use diffgp_core::fixed::{EXP2_ERROR, FEATURE_BITS, MATERN_ERROR, STATE_BITS};
use diffgp_core::kernel::KernelKind;
use nalgebra::{DMatrix, DVector};

use super::{KernelTensors, Rounding};
use crate::compress::basis::fixed::unit_of;
use crate::export::tables::Output;

/// An output and the kernel that it uses, of the flow at a step or of the predictor.
pub(super) fn part(blob: &Blob<'_>, step: usize, index: usize) -> Option<(KernelTensors, Output, Rounding)> {
    let (kernel_view, output_view) = blob.fixed_part(step, index)?;
    let kernel = kernel(&kernel_view, output_view.weights.len());
    let output = output(&output_view);
    let rounding = rounding(blob, &kernel_view, &output_view, &output);
    Some((kernel, output, rounding))
}

fn kernel(view: &FixedKernel<'_>, points: usize) -> KernelTensors {
    let unit = (-0.5 * f64::from(view.digits)).exp2();
    let inputs = view.scales.len();
    let stored = view.points.as_flattened();
    let point = |m, i| f64::from(i32::from(stored[layout::position(m, i, inputs)]) - (1 << 15));
    KernelTensors {
        kind: view.kind,
        variance: view.variance.into(),
        scales: view.scales.iter().map(|&s| f64::from(s) * unit * f64::from(STATE_BITS as i32 - 32).exp2()).collect(),
        points: DMatrix::from_fn(points, inputs, |m, i| unit * point(m, i)),
    }
}

/// The halves of a weight.
fn upper(word: i32) -> f64 {
    f64::from(word >> 16)
}

fn lower(word: i32) -> f64 {
    f64::from(word as i16)
}

fn rows(view: &FixedOutput<'_>) -> Vec<FixedRow> {
    let rows: Vec<FixedRow> = view.rows.as_flattened().iter().map(|&word| FixedRow::read(word)).collect();
    // Padding has no factor, and a direction without one is as good as padding.
    let rank = rows.iter().rposition(|row| row.factor != 0).map_or(0, |last| last + 1);
    rows[..rank].to_vec()
}

fn output(view: &FixedOutput<'_>) -> Output {
    let (rows, features) = (rows(view), view.weights.len());
    let stored = |r: usize, m: usize| {
        let place = layout::position(r, m, features);
        match view.directions {
            FixedRows::U16(rows) => i32::from(rows.as_flattened()[place]) - (1 << 15),
            FixedRows::U8(rows) => i32::from(rows.as_flattened()[place]) - (1 << 7),
        }
    };
    // The unit of the sum is that of the weights' upper halves and of features in Q20.
    let unit = f64::from(view.unit) * f64::from(FEATURE_BITS as i32 - 16).exp2();
    Output {
        weights: DVector::from_fn(features, |m, _| unit * (65536.0 * upper(view.weights[m]) + lower(view.weights[m]))),
        directions: DMatrix::from_fn(features, rows.len(), |m, r| unit_of(rows[r]) * f64::from(stored(r, m))),
        coefficients: DVector::from_fn(rows.len(), |r, _| if rows[r].negative { -1.0 } else { 1.0 }),
    }
}

/// By how much the sums of the device can be off, at any state.
fn rounding(blob: &Blob<'_>, kernel: &FixedKernel<'_>, view: &FixedOutput<'_>, output: &Output) -> Rounding {
    let header = blob.header();
    // A unit of what the lower halves are multiplied with is cut off, and a unit of their sum.
    let sizes: f64 = view.weights.iter().map(|&w| lower(w).abs()).sum();
    let of_sum = sizes * f64::from(view.low_shift as i32 - 16).exp2() + 1.0;
    // Half a unit of a state in Q24 and a quarter for its gain, over a step.
    let step = if view.gain == 0 { 0.0 } else { f64::from(header.steps) / f64::from(header.flow_time) };
    let of_correlation = if kernel.kind == KernelKind::Rbf { EXP2_ERROR } else { MATERN_ERROR };
    let rows = rows(view);
    let of_row = |(r, row): (usize, &FixedRow)| {
        let feature = of_correlation + 0.5 * f64::from(row.feature_shift as i32 - FEATURE_BITS as i32).exp2();
        output.directions.column(r).lp_norm(1) * feature + 4.0 * (-30.0_f64).exp2()
    };
    Rounding {
        mean: output.weights.lp_norm(1) * of_correlation
            + f64::from(view.unit) * of_sum
            + 0.75 * step * (-f64::from(STATE_BITS)).exp2(),
        directions: rows.iter().enumerate().map(of_row).collect(),
        share: (1.0 + rows.len() as f64) * (-28.0_f64).exp2(),
        // Half a unit for X and a quarter, |x| < 128, for its scale.
        input: 0.75 * (-0.5 * f64::from(kernel.digits)).exp2() * (kernel.scales.len() as f64).sqrt(),
    }
}
