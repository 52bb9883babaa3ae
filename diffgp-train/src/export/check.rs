//! The finished blob against the float64 model, through the runtime itself.

use diffgp_infer::{Error, Keyed, Latent, Model, Noise, Replay, Run};

use super::ExportError;
use crate::data::Scaling;
use crate::evaluate::AnyWorkspace;
use crate::exact::Exact;
use crate::params::Params;

/// Error of the mean, in standard deviations of the target, above which a caller should warn.
pub const MEAN_WARNING: f64 = 1e-3;
/// Relative error of the variance above which a caller should warn.
pub const VARIANCE_WARNING: f64 = 1e-2;

/// Worst errors of the device's form against the float64 model.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Errors {
    /// Of the mean, in standard deviations of the target (of g for a classification).
    pub mean: f64,
    /// Of the variance with noise, relative.
    pub variance: f64,
    /// Rows compared, each along the drift and along one sampled path.
    pub rows: usize,
}

impl Errors {
    /// Whether the f32 model is far enough from the float64 model to say so.
    pub fn deserves_warning(&self) -> bool {
        self.mean > MEAN_WARNING || self.variance > VARIANCE_WARNING
    }
}

/// Runs raw rows through the blob and through the float64 model, with the same noise.
pub(super) fn compare(blob: &[u8], params: &Params, scaling: &Scaling, rows: &[f32]) -> Result<Errors, ExportError> {
    let aligned = crate::aligned::AlignedBytes::new(blob);
    let model = Model::parse(aligned.as_slice())?;
    let exact = Exact::new(params)?;
    let mut workspace = Box::new(AnyWorkspace::new());
    let steps = params.flow.as_ref().map_or(0, |flow| flow.steps);
    let mut errors = Errors::default();
    for (row, x) in rows.chunks_exact(model.inputs()).enumerate() {
        let failed = |error| ExportError::Prediction { row, error };
        let standardised: Vec<f64> = x
            .iter()
            .zip(&scaling.inputs)
            .map(|(&x, affine)| (f64::from(x) - f64::from(affine.mean)) / f64::from(affine.scale))
            .collect();
        let mut keyed = Keyed::new(0, row as u32);
        let noise: Vec<f32> = (0..steps * x.len()).map(|_| keyed.normal()).collect();
        let noise_f64: Vec<f64> = noise.iter().map(|&epsilon| f64::from(epsilon)).collect();
        for sampled in [false, true] {
            let mut replay = Replay(&noise);
            let found = if sampled {
                model.begin(x, 1, &mut replay, &mut *workspace).and_then(end)
            } else {
                model.begin_drift(x, &mut *workspace).and_then(end)
            };
            let found = found.map_err(failed)?;
            let path = exact.path(&standardised, sampled.then_some(&noise_f64));
            for (o, (found, expected)) in found.iter().zip(exact.predict(&path[steps])).enumerate() {
                let noise = params.likelihood.noise().get(o).copied().unwrap_or(0.0);
                let variance = (f64::from(found.variance) - expected.variance).abs() / (expected.variance + noise);
                errors.mean = errors.mean.max((f64::from(found.mean) - expected.mean).abs());
                errors.variance = errors.variance.max(variance);
            }
        }
        errors.rows = row + 1;
    }
    Ok(errors)
}

/// What the predictor says of the end of the only path, output by output.
fn end<N: Noise>(mut run: Run<'_, '_, N>) -> Result<Vec<Latent>, Error> {
    run.finish_path()?;
    Ok(run.latents().collect())
}
