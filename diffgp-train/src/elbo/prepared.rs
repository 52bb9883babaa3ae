//! Everything that all rows of an evaluation share: shapes checked, factors computed, model rounded, work cut up.

use nalgebra::DMatrix;

use super::chunk::{Chunk, FlowModel, Model};
use super::layer::Layer;
use super::real::Real;
use super::temporal::TimeFeatures;
use super::whitened::Whitened;
use super::workspace::{CHUNK, slots};
use super::{ElboError, check_length};
use crate::params::{Params, Process};

/// At most so many lanes: as many threads can work at once.
const LANES: usize = 64;

/// Bytes that the sums of all lanes may take before there are fewer lanes (but at least [`FEWEST`]).
const SUMS_BUDGET: usize = 256 << 20;
const FEWEST: usize = 8;

/// A model ready for its rows.
pub(super) struct Prepared<T> {
    pub(super) model: Model<T>,
    pub(super) flow: Option<Whitened>,
    pub(super) times: Option<TimeFeatures>,
    pub(super) predictor: Whitened,
    pub(super) jitter_raised: Option<f64>,
}

impl<T: Real> Prepared<T> {
    pub(super) fn new(params: &Params, x: &[T], paths: usize, noise: Option<&[T]>) -> Result<Self, ElboError> {
        check_shapes(params, x, paths, noise)?;
        let (predictor, jitter) = (&params.predictor, params.jitter);
        let centre: Vec<T> = centre_of(params);
        let points = centred(&predictor.inducing, &centre);
        let whitened = Whitened::new(predictor, points, jitter, None, "K_ZZ of the predictor")?;
        let layer = Layer::new(&predictor.kernels, &whitened);
        let mut raised = whitened.raised(jitter);
        let (mut flow_model, mut flow_whitened, mut times) = (None, None, None);
        if let Some(flow) = &params.flow {
            times = TimeFeatures::new(flow, jitter)?;
            let points = centred(&flow.field.inducing, &centre);
            let process = Whitened::new(&flow.field, points, jitter, times.as_ref(), "K_ZZ of the flow")?;
            let temporal = times.as_ref().map(|times| times.factor.raise).filter(|&raise| raise > 1.0);
            raised = [raised, process.raised(jitter), temporal.map(|raise| raise * jitter)]
                .into_iter()
                .flatten()
                .reduce(f64::max);
            let layer = Layer::new(&flow.field.kernels, &process);
            flow_model = Some(FlowModel {
                slots: slots(&layer, flow.evaluations()),
                layer,
                steps: flow.steps,
                scheme: flow.scheme,
                dt: T::from_f64(flow.step_size()),
            });
            flow_whitened = Some(process);
        }
        let model = Model {
            centre,
            flow: flow_model,
            predictor: layer,
            likelihood: params.likelihood.clone(),
            floor: T::from_f64(params.variance_floor),
        };
        Ok(Self { model, flow: flow_whitened, times, predictor: whitened, jitter_raised: raised })
    }

    /// The rows cut into chunks, neighbouring chunks gathered into lanes. Threads play no part.
    pub(super) fn lanes(&self, rows: usize) -> Vec<Vec<Chunk>> {
        let chunks = chunks(rows);
        let flow = self.model.flow.as_ref().map_or(0, |flow| flow.layer.sums_len());
        let bytes = (flow + self.model.predictor.sums_len()) * size_of::<T>();
        let lanes = (SUMS_BUDGET / bytes.max(1)).clamp(FEWEST, LANES).min(chunks.len());
        (0..lanes).map(|i| chunks[i * chunks.len() / lanes..(i + 1) * chunks.len() / lanes].to_vec()).collect()
    }
}

/// The median of the inducing points where the rows come in, input by input: a far point hardly moves it.
fn centre_of<T: Real>(params: &Params) -> Vec<T> {
    let inducing = params.flow.as_ref().map_or(&params.predictor.inducing, |flow| &flow.field.inducing);
    let median = |column: &[f64]| {
        let mut column = column.to_vec();
        column.sort_unstable_by(f64::total_cmp);
        T::from_f64(column.get(column.len() / 2).copied().unwrap_or(0.0))
    };
    (0..inducing.ncols()).map(|i| median(inducing.column(i).as_slice())).collect()
}

/// Z − centre.
fn centred<T: Real>(inducing: &DMatrix<f64>, centre: &[T]) -> DMatrix<f64> {
    DMatrix::from_fn(inducing.nrows(), inducing.ncols(), |j, i| inducing[(j, i)] - centre[i].to_f64())
}

/// The rows in pieces of [`CHUNK`].
pub(super) fn chunks(rows: usize) -> Vec<Chunk> {
    (0..rows).step_by(CHUNK).map(|first| Chunk { first, count: CHUNK.min(rows - first) }).collect()
}

fn check_shapes<T>(params: &Params, x: &[T], paths: usize, noise: Option<&[T]>) -> Result<(), ElboError> {
    let d = params.inputs();
    let batch = x.len() / d.max(1);
    check_length("x", x.len(), batch.max(1) * d)?;
    if paths == 0 {
        return Err(ElboError::Shape { array: "paths", found: 0, expected: 1 });
    }
    let (predictor, likelihood) = (&params.predictor, &params.likelihood);
    check_process(predictor, d, predictor.inducing.nrows(), PREDICTOR)?;
    check_length("predictor posteriors", predictor.outputs(), likelihood.outputs(predictor.outputs()))?;
    if let Some(flow) = &params.flow {
        check_length("flow posteriors", flow.field.outputs(), d)?;
        check_process(&flow.field, d, flow.features(), FLOW)?;
        check_length("flow steps", flow.steps, flow.steps.max(1))?;
        // The midpoint lies between two times of the inducing times' features.
        let per_step = if flow.temporal.is_some() { 1 } else { flow.scheme.evaluations() };
        check_length("a step with inducing times", flow.scheme.evaluations(), per_step)?;
    }
    let steps = params.flow.as_ref().map_or(0, |flow| flow.steps);
    noise.map_or(Ok(()), |noise| check_length("noise", noise.len(), paths * steps * batch * d))
}

/// What the arrays of a process are called in errors.
struct ArrayNames {
    inducing: &'static str,
    kernels: &'static str,
    length_scales: &'static str,
    mean: &'static str,
    factor: &'static str,
}

const FLOW: ArrayNames = ArrayNames {
    inducing: "Z_f, per row,",
    kernels: "flow kernels",
    length_scales: "length-scales of the flow",
    mean: "m_f",
    factor: "L_f",
};

const PREDICTOR: ArrayNames = ArrayNames {
    inducing: "Z_g, per row,",
    kernels: "predictor kernels",
    length_scales: "length-scales of the predictor",
    mean: "m_g",
    factor: "L_g",
};

fn check_process(process: &Process, d: usize, features: usize, names: ArrayNames) -> Result<(), ElboError> {
    check_length(names.inducing, process.inducing.ncols(), d)?;
    if process.kernels.len() != 1 {
        check_length(names.kernels, process.kernels.len(), process.outputs())?;
    }
    for kernel in &process.kernels {
        check_length(names.length_scales, kernel.length_scales.len(), d)?;
    }
    for q in &process.posteriors {
        check_length(names.mean, q.mean.len(), features)?;
        check_length(names.factor, q.factor.len(), features * features)?;
    }
    Ok(())
}
