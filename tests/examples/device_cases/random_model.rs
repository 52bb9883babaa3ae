//! Random models of any shape: not useful, but valid, and as much work as trained ones.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_infer::{Keyed, Noise};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process, Temporal};
use nalgebra::{DMatrix, DVector};
use std::cmp::Ordering;

/// What a model looks like.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) inputs: usize,
    pub(crate) inducing: usize,
    /// Steps of the flow; 0 for a model without one.
    pub(crate) steps: usize,
    pub(crate) scheme: Scheme,
    /// Inducing times; 0 for a flow that does not change with time.
    pub(crate) times: usize,
    pub(crate) shared: bool,
    /// Directions in the variance of every dimension of the flow; all of them if there are fewer.
    pub(crate) rank: usize,
    pub(crate) outputs: usize,
    /// A kernel for every output.
    pub(crate) per_output: bool,
    /// The outputs are those of classes, three or more.
    pub(crate) classes: bool,
    /// 3 or 5 for Matérn 3/2 or 5/2.
    pub(crate) matern: Option<u8>,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            inputs: 1,
            inducing: 1,
            steps: 0,
            scheme: Scheme::EulerMaruyama,
            times: 0,
            shared: false,
            rank: usize::MAX,
            outputs: 1,
            per_output: false,
            classes: false,
            matern: None,
        }
    }
}

pub(crate) fn random_model(shape: &Shape) -> Params {
    let mut noise = Keyed::new(42, 0);
    let flow = (shape.steps > 0).then(|| random_flow(shape, &mut noise));
    let likelihood =
        if shape.classes { Likelihood::Softmax } else { Likelihood::Gaussian { noise: vec![0.05; shape.outputs] } };
    let kernels = if shape.per_output { shape.outputs } else { 1 };
    let predictor = Process {
        inducing: random_points(shape, &mut noise),
        kernels: (0..kernels).map(|_| random_kernel(shape, 1.0, &mut noise)).collect(),
        posteriors: (0..shape.outputs).map(|_| random_posterior(shape.inducing, usize::MAX, &mut noise)).collect(),
    };
    Params { flow, predictor, likelihood, jitter: 1e-5, variance_floor: 1e-9 }
}

fn random_flow(shape: &Shape, noise: &mut Keyed) -> Flow {
    let kernels = if shape.shared { 1 } else { shape.inputs };
    let time = 2.0;
    let spread = |t: usize| time * t as f64 / (shape.times.max(2) - 1) as f64;
    Flow {
        time,
        steps: shape.steps,
        scheme: shape.scheme,
        temporal: (shape.times > 0)
            .then(|| Temporal { times: (0..shape.times).map(spread).collect(), length_scale: 1.0 }),
        field: Process {
            inducing: random_points(shape, noise),
            kernels: (0..kernels).map(|_| random_kernel(shape, 0.1, noise)).collect(),
            posteriors: (0..shape.inputs)
                .map(|_| random_posterior(shape.inducing * shape.times.max(1), shape.rank, noise))
                .collect(),
        },
    }
}

fn random_points(shape: &Shape, noise: &mut Keyed) -> DMatrix<f64> {
    DMatrix::from_fn(shape.inducing, shape.inputs, |_, _| f64::from(noise.normal()))
}

fn random_kernel(shape: &Shape, variance: f64, noise: &mut Keyed) -> Kernel {
    let kind = match shape.matern {
        Some(3) => KernelKind::Matern32,
        Some(_) => KernelKind::Matern52,
        None => KernelKind::Rbf,
    };
    let length_scales = (0..shape.inputs).map(|_| 1.5 + 0.2 * f64::from(noise.normal())).collect();
    Kernel { kind, variance, length_scales }
}

/// L = ½ I and a little below the diagonal in the first `rank` rows: I − L Lᵀ has that rank. Below them, L = I.
fn random_posterior(size: usize, rank: usize, noise: &mut Keyed) -> Posterior {
    let mut normal = || f64::from(noise.normal());
    Posterior {
        mean: DVector::from_fn(size, |_, _| 0.5 * normal()),
        factor: DMatrix::from_fn(size, size, |row, column| match row.cmp(&column) {
            Ordering::Equal => {
                if row < rank {
                    0.5
                } else {
                    1.0
                }
            }
            Ordering::Greater if row < rank => 0.01 * normal(),
            _ => 0.0,
        }),
    }
}
