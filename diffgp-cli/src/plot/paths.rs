//! Paths through the flow, state by state, as the device computes them.

use diffgp_infer::{Error, Model, Noise, Run, keyed_rng};
use diffgp_train::evaluate::AnyWorkspace;

/// A path in raw units: K + 1 states of D values.
pub(super) type Path = Vec<Vec<f64>>;

/// The path of one input: along the drift, or with the noise of (seed, row, path).
pub(super) fn path(model: &Model<'_>, x: &[f32], noise: Option<(u64, u32, u32)>) -> Result<Path, Error> {
    let mut workspace = Box::new(AnyWorkspace::new());
    match noise {
        Some((seed, row, path)) => states(model.begin(x, 1, &mut keyed_rng(seed, row, path), &mut *workspace)?),
        None => states(model.begin_drift(x, &mut *workspace)?),
    }
}

fn states<N: Noise>(mut run: Run<'_, '_, N>) -> Result<Path, Error> {
    let mut states = vec![run.position().map(f64::from).collect()];
    while run.step()? {
        states.push(run.position().map(f64::from).collect());
    }
    Ok(states)
}

/// Drift at the beginning of the flow, in raw units per unit of time.
pub(super) fn drift(model: &Model<'_>, x: &[f32]) -> Result<Vec<f64>, Error> {
    let mut workspace = Box::new(AnyWorkspace::new());
    let mut run = model.begin_drift(x, &mut *workspace)?;
    let (mut drift, mut diffusion) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    run.field(&mut drift, &mut diffusion)?;
    let scales = (0..x.len()).filter_map(|index| model.blob().input(index)).map(|input| f64::from(input.scale));
    Ok(drift.into_iter().zip(scales).map(|(drift, scale)| f64::from(drift) / scale).collect())
}

/// t_k of every state.
pub(super) fn times(model: &Model<'_>) -> Vec<f64> {
    let header = model.blob().header();
    let steps = header.steps.max(1);
    (0..=header.steps).map(|k| f64::from(header.flow_time) * f64::from(k) / f64::from(steps)).collect()
}
