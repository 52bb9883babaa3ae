//! From trained parameters to the blob that the device runs.
//!
//! Everything that can be computed ahead is computed ahead, in float64 (`tables`), rounded once to f32 and laid out in
//! the order in which the device reads (`writer`). The finished blob is then run through `diffgp-infer` and compared
//! with the float64 model (`check`); the worst errors are stored in it.

mod check;
pub(crate) mod numbers;
pub(crate) mod tables;
pub(crate) mod writer;

use diffgp_core::blob::{Header, ParseError, TargetRecord, layout, limits};

use crate::data::Scaling;
use crate::discretisation::Discretisation;
use crate::exact::NotPositiveDefinite;
use crate::params::{Likelihood, Params};
pub use check::{Errors, MEAN_WARNING, VARIANCE_WARNING};
pub use numbers::Bits;
pub use tables::NEGLIGIBLE;
use writer::Body;

/// What goes into a blob beside the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    /// Raw units to standardised units, and the ranges seen in training.
    pub scaling: &'a Scaling,
    /// Names of the inputs and then the targets; empty to leave them out.
    pub names: &'a [String],
    /// Names of the classes in order; empty to leave them out, and for real targets.
    pub classes: &'a [String],
    /// Up to 32 bytes that identify the model; empty for a fingerprint of its numbers.
    pub model_id: &'a [u8],
    /// How far the flow is from its equation, if that was measured.
    pub discretisation: Option<Discretisation>,
}

/// A blob, and how far its predictions are from the float64 model.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The `.dgp` file.
    pub bytes: Vec<u8>,
    /// Worst errors on the rows it was checked on.
    pub errors: Errors,
}

/// Why a model cannot be exported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A kernel matrix cannot be factorised.
    #[error(transparent)]
    NotPositiveDefinite(#[from] NotPositiveDefinite),
    /// A size is beyond the format's limits.
    #[error("the model has {found} {what}, the format holds at most {limit}")]
    TooLarge {
        /// Of what there are too many.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The metadata do not fit the model.
    #[error("{what}: the model has {expected} inputs, but {found} were given")]
    Metadata {
        /// Which part.
        what: &'static str,
        /// What the model has.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// The metadata do not fit the model's targets.
    #[error("the model has {expected} targets or classes, but {found} {what} were given")]
    Targets {
        /// Which part.
        what: &'static str,
        /// What the model has.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A name is longer than the format allows.
    #[error("the name {0:?} is longer than 255 bytes; shorten it or leave the names out")]
    Name(String),
    /// The finished blob is not one that the runtime accepts: a parameter is out of range or not finite in f32.
    #[error("the runtime would refuse this model: {0}")]
    Refused(#[from] ParseError),
    /// The runtime accepts the blob but cannot predict a row with it.
    #[error("the runtime cannot predict row {row}: {error}")]
    Prediction {
        /// The row.
        row: usize,
        /// Why.
        error: diffgp_infer::Error,
    },
}

/// Exports a model and checks it on raw input rows (row-major, D values each; training rows are the natural choice).
///
/// Without rows nothing is checked and the recorded errors are zero over zero rows.
pub fn export(params: &Params, metadata: &Metadata<'_>, rows: &[f32]) -> Result<Exported, ExportError> {
    let inputs = params.inputs();
    check_sizes(params, metadata)?;
    let (names, classes) = (encode_names(metadata.names)?, encode_names(metadata.classes)?);
    let scaling = metadata.scaling;

    let mut body = Body::default();
    body.singles(scaling.inputs.iter().map(|affine| affine.mean));
    body.singles(scaling.inputs.iter().map(|affine| (1.0 / f64::from(affine.scale)) as f32));
    body.singles(scaling.ranges.iter().map(|range| range.min));
    body.singles(scaling.ranges.iter().map(|range| range.max));
    let mut tables = 0;
    let mut inducing_times = 0;
    if let Some(flow) = &params.flow {
        let flow_tables = tables::flow_tables(params, flow)?;
        tables = flow_tables.tables;
        inducing_times = flow_tables.time_features.first().map_or(0, |a| a.len());
        body.singles(flow_tables.time_features.iter().flatten().map(|&a| a as f32));
        for kernel in &flow.field.kernels {
            body.kernel(kernel, &flow.field.inducing);
        }
        for output in &flow_tables.outputs {
            body.output(output);
        }
    }
    let predictor = &params.predictor;
    for kernel in &predictor.kernels {
        body.kernel(kernel, &predictor.inducing);
    }
    for output in &tables::outputs(predictor, params.jitter, 1)? {
        body.output(output);
    }

    let fingerprint = fingerprint(&body).to_le_bytes();
    let epsilon = match &params.likelihood {
        Likelihood::Gaussian { noise } => {
            for (target, &noise) in scaling.targets.iter().zip(noise) {
                body.target(TargetRecord { mean: target.mean, scale: target.scale, noise: noise as f32 });
            }
            0.0
        }
        Likelihood::Bernoulli { epsilon } => *epsilon as f32,
        Likelihood::Softmax => 0.0,
    };
    let flow = params.flow.as_ref();
    let header = Header {
        inputs: inputs as u8,
        outputs: predictor.outputs() as u8,
        likelihood: params.likelihood.with(|density| density.number()),
        arithmetic: 0,
        scheme: flow.map_or(0, |flow| flow.scheme.number()),
        calibration: 0,
        epsilon,
        variance_floor: params.variance_floor as f32,
        flow_time: params.flow_time() as f32,
        steps: flow.map_or(0, |flow| flow.steps) as u16,
        flow_kernels: flow.map_or(0, |flow| flow.field.kernels.len()) as u8,
        flow_inducing: flow.map_or(0, |flow| flow.field.inducing.nrows()) as u16,
        inducing_times: inducing_times as u16,
        tables: tables as u16,
        predictor_kernels: predictor.kernels.len() as u8,
        predictor_inducing: predictor.inducing.nrows() as u16,
        block: layout::BLOCK as u8,
        mean_error: 0.0,
        variance_error: 0.0,
        checked_rows: 0,
        discretisation_error: metadata.discretisation.map_or(0.0, |of| of.error as f32),
        discretisation_rows: metadata.discretisation.map_or(0, |of| of.rows as u32),
        model_id: if metadata.model_id.is_empty() { &fingerprint } else { metadata.model_id },
        names: &names,
        classes: &classes,
        units: &[],
        certificate: &[],
    };
    let errors = check::compare(&body.finish(&header), params, scaling, rows)?;
    let header = Header {
        mean_error: errors.mean as f32,
        variance_error: errors.variance as f32,
        checked_rows: errors.rows as u32,
        ..header
    };
    Ok(Exported { bytes: body.finish(&header), errors })
}

fn check_sizes(params: &Params, metadata: &Metadata<'_>) -> Result<(), ExportError> {
    let at_most = |what, found, limit| {
        if found <= limit { Ok(()) } else { Err(ExportError::TooLarge { what, found, limit }) }
    };
    let inputs = params.inputs();
    at_most("inputs", inputs, limits::MAX_INPUTS)?;
    at_most("outputs", params.predictor.outputs(), limits::MAX_OUTPUTS)?;
    at_most("inducing points in the predictor", params.predictor.inducing.nrows(), limits::MAX_FEATURES)?;
    at_most("bytes in its id", metadata.model_id.len(), limits::MAX_MODEL_ID)?;
    if let Some(flow) = &params.flow {
        at_most("inducing points times inducing times in the flow", flow.features(), limits::MAX_FEATURES)?;
        at_most("steps", flow.steps, limits::MAX_STEPS)?;
    }
    let expect = |what, found| {
        if found == inputs { Ok(()) } else { Err(ExportError::Metadata { what, expected: inputs, found }) }
    };
    expect("scaling", metadata.scaling.inputs.len())?;
    expect("ranges", metadata.scaling.ranges.len())?;
    let targets = params.likelihood.targets();
    if metadata.scaling.targets.len() != targets {
        let found = metadata.scaling.targets.len();
        return Err(ExportError::Targets { what: "scalings", expected: targets, found });
    }
    let classes = params.likelihood.with(|density| density.classes(params.predictor.outputs())).unwrap_or(0);
    if !metadata.classes.is_empty() && metadata.classes.len() != classes {
        let found = metadata.classes.len();
        return Err(ExportError::Targets { what: "names of classes", expected: classes, found });
    }
    if metadata.names.is_empty() {
        return Ok(());
    }
    expect("names (without the targets)", metadata.names.len().saturating_sub(targets))
}

/// H24, H25.
fn encode_names(names: &[String]) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.push(u8::try_from(name.len()).map_err(|_| ExportError::Name(name.clone()))?);
        bytes.extend_from_slice(name.as_bytes());
    }
    Ok(bytes)
}

/// FNV-1a over the tensors: tells models apart, protects against nothing.
pub(crate) fn fingerprint(body: &Body) -> u64 {
    body.tensors
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
