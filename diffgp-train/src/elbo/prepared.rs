//! Everything that all rows of an evaluation share: shapes checked, factors computed, model rounded, work cut up.

use nalgebra::DMatrix;

use super::chunk::{Chunk, FlowModel, Model};
use super::layer::Layer;
use super::real::Real;
use super::temporal::TimeFeatures;
use super::whitened::Whitened;
use super::workspace::{CHUNK, slots};
use super::{ElboError, check_length};
use crate::params::{Flow, Kernel, Params, Posterior};

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
        let whitened = Whitened::new(
            std::slice::from_ref(&predictor.kernel),
            centred(&predictor.inducing, &centre),
            std::slice::from_ref(&predictor.posterior),
            jitter,
            None,
            "K_ZZ of the predictor",
        )?;
        let layer = Layer::new(std::slice::from_ref(&predictor.kernel), &whitened);
        let mut raised = whitened.raised(jitter);
        let (mut flow_model, mut flow_whitened, mut times) = (None, None, None);
        if let Some(flow) = &params.flow {
            times = TimeFeatures::new(flow, jitter)?;
            let process = Whitened::new(
                &flow.kernels,
                centred(&flow.inducing, &centre),
                &flow.posteriors,
                jitter,
                times.as_ref(),
                "K_ZZ of the flow",
            )?;
            let temporal = times.as_ref().map(|times| times.factor.raise).filter(|&raise| raise > 1.0);
            raised = [raised, process.raised(jitter), temporal.map(|raise| raise * jitter)]
                .into_iter()
                .flatten()
                .reduce(f64::max);
            let layer = Layer::new(&flow.kernels, &process);
            flow_model = Some(FlowModel {
                slots: slots(&layer, flow.steps),
                layer,
                steps: flow.steps,
                dt: T::from_f64(flow.step_size()),
            });
            flow_whitened = Some(process);
        }
        let model = Model {
            centre,
            flow: flow_model,
            predictor: layer,
            likelihood: params.likelihood,
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
    let inducing = params.flow.as_ref().map_or(&params.predictor.inducing, |flow| &flow.inducing);
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
    let predictor = &params.predictor;
    check_kernel("length-scales of the predictor", &predictor.kernel, d)?;
    check_posterior(&predictor.posterior, predictor.inducing.nrows(), "m_g", "L_g")?;
    if let Some(flow) = &params.flow {
        check_flow(flow, d)?;
    }
    let steps = params.flow.as_ref().map_or(0, |flow| flow.steps);
    noise.map_or(Ok(()), |noise| check_length("noise", noise.len(), paths * steps * batch * d))
}

fn check_flow(flow: &Flow, d: usize) -> Result<(), ElboError> {
    check_length("Z_f, per row,", flow.inducing.ncols(), d)?;
    check_length("flow posteriors", flow.posteriors.len(), d)?;
    if flow.kernels.len() != 1 {
        check_length("flow kernels", flow.kernels.len(), d)?;
    }
    flow.kernels.iter().try_for_each(|kernel| check_kernel("length-scales of the flow", kernel, d))?;
    flow.posteriors.iter().try_for_each(|posterior| check_posterior(posterior, flow.features(), "m_f", "L_f"))?;
    check_length("flow steps", flow.steps, flow.steps.max(1))
}

fn check_kernel(array: &'static str, kernel: &Kernel, d: usize) -> Result<(), ElboError> {
    check_length(array, kernel.length_scales.len(), d)
}

fn check_posterior(q: &Posterior, m: usize, mean: &'static str, factor: &'static str) -> Result<(), ElboError> {
    check_length(mean, q.mean.len(), m)?;
    check_length(factor, q.factor.len(), m * m)
}
