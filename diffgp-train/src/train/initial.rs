//! Where training starts: a sparse Gaussian process at q = prior, and later a weak flow in front of it.

use nalgebra::{DMatrix, DVector};

use super::config::{Config, Task};
use super::observer::{Observer, Warning};
use crate::data::{Dataset, Scaling};
use crate::inducing::inducing_points;
use crate::params::{Flow, Kernel, Likelihood, Params, Posterior, Process, Temporal};

/// Inducing points of the predictor and of the flow are chosen independently.
const PREDICTOR_POINTS: u32 = 0;
const FLOW_POINTS: u32 = 1;

/// What training starts from.
pub(super) struct Initial {
    /// T = 0.
    pub(super) sparse: Params,
    /// The same at the optimum of an exact Gaussian process, if there was a search for it.
    pub(super) searched: Params,
    /// A weak flow, if there is to be one.
    pub(super) flow: Option<Flow>,
}

/// O, and what the outputs mean.
fn likelihood(data: &Dataset, config: &Config) -> (usize, Likelihood) {
    match (config.task, data.classes().map_or(2, <[String]>::len)) {
        (Task::Regression, _) => {
            let outputs = data.outputs();
            (outputs, Likelihood::Gaussian { noise: vec![config.predictor.noise; outputs] })
        }
        (Task::Classification, ..=2) => (1, Likelihood::Bernoulli { epsilon: config.probit_epsilon }),
        (Task::Classification, classes) => (classes, Likelihood::Softmax),
    }
}

/// T = 0: k-means inducing points, s_g² = 1, q(v) = N(0, I).
pub(super) fn sparse_gp(data: &Dataset, scaling: &Scaling, config: &Config, observer: &mut dyn Observer) -> Params {
    let wanted = config.predictor.inducing;
    let inducing = points(data, scaling, wanted, config.seed, PREDICTOR_POINTS, observer);
    let length_scale = config.predictor.length_scale * (data.inputs() as f64).sqrt();
    let (kind, scales) = (config.predictor.kernel, vec![length_scale; data.inputs()]);
    let kernel = Kernel { kind, variance: 1.0, length_scales: scales };
    let (outputs, likelihood) = likelihood(data, config);
    Params {
        flow: None,
        predictor: Process {
            posteriors: vec![isotropic(inducing.nrows(), 1.0); outputs],
            inducing,
            kernels: vec![kernel; if config.predictor.per_output { outputs } else { 1 }],
        },
        likelihood,
        jitter: config.jitter,
        variance_floor: config.variance_floor,
    }
}

/// A flow that hardly moves: no drift, small variance, and less diffusion still.
pub(super) fn weak_flow(data: &Dataset, scaling: &Scaling, config: &Config, observer: &mut dyn Observer) -> Flow {
    let flow = &config.flow;
    let inputs = data.inputs();
    let inducing = points(data, scaling, flow.inducing, config.seed, FLOW_POINTS, observer);
    let length_scale = flow.length_scale * (2.0 * inputs as f64).sqrt();
    let kernel = Kernel { kind: flow.kernel, variance: flow.variance, length_scales: vec![length_scale; inputs] };
    let features = inducing.nrows() * flow.inducing_times.max(1);
    Flow {
        time: flow.time,
        steps: flow.training_steps(),
        scheme: flow.scheme,
        temporal: (flow.inducing_times > 0).then(|| temporal(flow.time, flow.inducing_times)),
        field: Process {
            inducing,
            kernels: vec![kernel; if flow.per_dimension { inputs } else { 1 }],
            posteriors: vec![isotropic(features, flow.factor); inputs],
        },
    }
}

/// Times spread evenly over [0, T]; the field starts nearly constant in time.
fn temporal(time: f64, count: usize) -> Temporal {
    let times = match count {
        1 => vec![0.5 * time],
        _ => (0..count).map(|index| time * index as f64 / (count - 1) as f64).collect(),
    };
    Temporal { times, length_scale: time }
}

fn isotropic(size: usize, deviation: f64) -> Posterior {
    Posterior { mean: DVector::zeros(size), factor: DMatrix::from_diagonal_element(size, size, deviation) }
}

fn points(
    data: &Dataset,
    scaling: &Scaling,
    wanted: usize,
    seed: u64,
    number: u32,
    observer: &mut dyn Observer,
) -> DMatrix<f64> {
    let found = inducing_points(data, scaling, wanted, seed, number);
    if found.nrows() < wanted {
        observer.warning(&Warning::InducingLowered { wanted, used: found.nrows() });
    }
    found
}
