//! How far the K steps of a flow are from the solution of its equation.
//!
//! ```text
//! error = √(Σ |x_K − x*|² / Σ |x* − x_0|²)
//! ```
//!
//! over some rows, along the drift: x_K is where K steps end, x* where 50 K steps of the same scheme do. Up to
//! [`FLOW`] a model is called a flow, beyond it is a chain of K layers: a good model perhaps, but another one.

use crate::elbo::{ElboError, path_ends};
use crate::params::{Flow, Params};
use crate::threads::Threads;

/// The largest error of a flow.
pub const FLOW: f64 = 0.05;
/// How much finer the steps are that stand for the solution.
pub(crate) const FINER: usize = 50;
/// Numbers that all steps of a field that changes with time may take: where there would be more, the steps that stand for
/// the solution are fewer, but still twice as fine.
const NUMBERS: usize = 1 << 25;

/// What was measured, and on how many rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discretisation {
    /// As a share of the displacement.
    pub error: f64,
    /// Rows.
    pub rows: usize,
}

impl Discretisation {
    /// Of a model on standardised rows, `[B, D]`; `None` without a flow or rows.
    pub fn measure(params: &Params, x: &[f64], threads: &Threads) -> Result<Option<Self>, ElboError> {
        let Some(flow) = params.flow.as_ref().filter(|_| !x.is_empty()) else { return Ok(None) };
        let end = |x: &[f64], time: f64, steps: usize| -> Result<Vec<f64>, ElboError> {
            let flow = Some(Flow { time, steps, ..flow.clone() });
            path_ends(&Params { flow, ..params.clone() }, x, 1, None, threads)
        };
        let found = end(x, flow.time, flow.steps)?;
        let solution = if flow.temporal.is_some() {
            let numbers = flow.steps * flow.inputs() * flow.field.inducing.nrows().pow(2);
            end(x, flow.time, (NUMBERS / numbers).clamp(2, FINER) * flow.steps)?
        } else {
            // Step by step: memory does not grow with K.
            (0..flow.steps).try_fold(x.to_vec(), |x, _| end(&x, flow.step_size(), FINER))?
        };
        Ok(Some(Self::between(x, &found, &solution, x.len() / params.inputs())))
    }

    /// √(Σ |found − solution|² / Σ |solution − start|²) over so many rows; zero where nothing moves.
    pub fn between(start: &[f64], found: &[f64], solution: &[f64], rows: usize) -> Self {
        let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let (missed, moved) = (squares(found, solution), squares(solution, start));
        // The file holds a finite number.
        Self { error: if missed == 0.0 { 0.0 } else { (missed / moved).sqrt().min(f32::MAX.into()) }, rows }
    }
}
