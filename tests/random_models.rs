//! Random but well-behaved models of every shape that the format knows.

use diffgp_core::kernel::KernelKind;
use diffgp_core::noise::{Noise, keyed_rng};
use diffgp_core::scheme::Scheme;
use diffgp_train::data::{Affine, Range, Scaling};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process, Temporal};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::Strategy;
use proptest::sample::select;

/// What to make; zero `flow_inducing` makes a model without a flow.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) inputs: usize,
    pub(crate) flow_inducing: usize,
    pub(crate) inducing_times: usize,
    pub(crate) steps: usize,
    pub(crate) per_dimension: bool,
    pub(crate) predictor_inducing: usize,
    pub(crate) kind: KernelKind,
    /// Classes instead of real targets: two with one output, else as many as outputs.
    pub(crate) classifier: bool,
    pub(crate) outputs: usize,
    pub(crate) per_output: bool,
    pub(crate) seed: u64,
}

impl Shape {
    /// A small regression with a flow.
    pub(crate) const SMALL: Self = Self {
        inputs: 2,
        flow_inducing: 5,
        inducing_times: 0,
        steps: 4,
        per_dimension: true,
        predictor_inducing: 6,
        kind: KernelKind::Rbf,
        classifier: false,
        outputs: 1,
        per_output: false,
        seed: 1,
    };

    /// Targets of a row: one for a class.
    pub(crate) fn targets(&self) -> usize {
        if self.classifier { 1 } else { self.outputs }
    }

    /// Classes to choose from; none of real targets.
    pub(crate) fn classes(&self) -> usize {
        match (self.classifier, self.outputs) {
            (false, _) => 0,
            (true, 1) => 2,
            (true, outputs) => outputs,
        }
    }
}

/// Every shape, biased to the edges of blocks and to the smallest sizes.
pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    let sizes = || select(vec![1_usize, 2, 7, 8, 9, 17]);
    let kinds = select(vec![KernelKind::Rbf, KernelKind::Matern32, KernelKind::Matern52]);
    let flow = (select(vec![0_usize, 1, 3, 8, 13]), select(vec![0_usize, 0, 1, 3]), 1..7_usize);
    let answers = select(vec![(false, 1), (false, 2), (false, 5), (true, 1), (true, 3), (true, 6)]);
    let bools = (proptest::bool::ANY, proptest::bool::ANY);
    (1..5_usize, flow, bools, sizes(), kinds, answers, 0..1_000_000_u64).prop_map(
        |(
            inputs,
            (flow_inducing, inducing_times, steps),
            (per_dimension, per_output),
            predictor_inducing,
            kind,
            (classifier, outputs),
            seed,
        )| Shape {
            inputs,
            flow_inducing,
            inducing_times,
            steps,
            per_dimension,
            predictor_inducing,
            kind,
            classifier,
            outputs,
            per_output,
            seed,
        },
    )
}

/// A stream of standard normals.
pub(crate) struct Normals(diffgp_core::noise::DefaultRng);

impl Normals {
    pub(crate) fn new(seed: u64) -> Self {
        Self(keyed_rng(seed, 0, 0))
    }

    pub(crate) fn next(&mut self) -> f64 {
        f64::from(self.0.normal())
    }

    /// A positive number around `centre`.
    pub(crate) fn positive(&mut self, centre: f64) -> f64 {
        centre * (0.3 * self.next()).exp()
    }

    pub(crate) fn vector(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.next()).collect()
    }

    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.next())
    }
}

/// A model of this shape: spread inducing points, posterior covariances on both sides of the prior.
pub(crate) fn model(shape: &Shape) -> Params {
    let mut normals = Normals::new(shape.seed);
    let d = shape.inputs;
    let mut kernel = |variance| Kernel {
        kind: shape.kind,
        variance: normals.positive(variance),
        length_scales: (0..d).map(|_| normals.positive(1.0)).collect(),
    };
    let mut predictor_kernels = vec![kernel(1.0)];
    let kernels: Vec<Kernel> = (0..if shape.per_dimension { d } else { 1 }).map(|_| kernel(0.3)).collect();
    let others = if shape.per_output { shape.outputs - 1 } else { 0 };
    predictor_kernels.extend((0..others).map(|_| kernel(1.0)));
    let mut posterior = |size: usize| Posterior {
        mean: DVector::from_fn(size, |_, _| normals.next()),
        factor: DMatrix::from_fn(size, size, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => normals.positive(0.5),
            std::cmp::Ordering::Greater => 0.1 * normals.next(),
        }),
    };
    let features = shape.flow_inducing * shape.inducing_times.max(1);
    let mut predictor_posteriors = vec![posterior(shape.predictor_inducing)];
    let posteriors = (0..d).map(|_| posterior(features)).collect();
    predictor_posteriors.extend((1..shape.outputs).map(|_| posterior(shape.predictor_inducing)));
    let flow = (shape.flow_inducing > 0).then(|| Flow {
        time: 1.5,
        steps: shape.steps,
        scheme: Scheme::EulerMaruyama,
        temporal: (shape.inducing_times > 0).then(|| Temporal {
            times: (0..shape.inducing_times).map(|t| 1.5 * t as f64 / shape.inducing_times as f64).collect(),
            length_scale: 0.8,
        }),
        field: Process { inducing: normals.matrix(shape.flow_inducing, d) * 1.5, kernels, posteriors },
    });
    Params {
        flow,
        predictor: Process {
            inducing: normals.matrix(shape.predictor_inducing, d) * 1.5,
            kernels: predictor_kernels,
            posteriors: predictor_posteriors,
        },
        likelihood: match (shape.classifier, shape.outputs) {
            (false, outputs) => Likelihood::Gaussian { noise: (0..outputs).map(|o| 0.05 * (1 + o) as f64).collect() },
            (true, 1) => Likelihood::Bernoulli { epsilon: 1e-3 },
            (true, _) => Likelihood::Softmax,
        },
        jitter: 1e-3,
        variance_floor: 1e-12,
    }
}

/// Raw units as sensors have them.
pub(crate) fn scaling(shape: &Shape) -> Scaling {
    let mut normals = Normals::new(shape.seed + 1);
    let mut affine = || Affine { mean: 20.0 + normals.next() as f32, scale: normals.positive(3.0) as f32 };
    let inputs: Vec<Affine> = (0..shape.inputs).map(|_| affine()).collect();
    let targets = (0..shape.targets()).map(|_| if shape.classifier { Affine::IDENTITY } else { affine() }).collect();
    let ranges = inputs.iter().map(|a| Range { min: a.mean - 3.0 * a.scale, max: a.mean + 3.0 * a.scale }).collect();
    Scaling { inputs, targets, ranges }
}

/// A raw input near the data.
pub(crate) fn input(scaling: &Scaling, normals: &mut Normals) -> Vec<f32> {
    scaling.inputs.iter().map(|affine| affine.mean + affine.scale * normals.next() as f32).collect()
}

/// Names x0, x1, …, y0, y1, ….
pub(crate) fn names(shape: &Shape) -> Vec<String> {
    let inputs = (0..shape.inputs).map(|i| format!("x{i}"));
    inputs.chain((0..shape.targets()).map(|i| format!("y{i}"))).collect()
}

/// Names c0, c1, … of the classes.
pub(crate) fn classes(shape: &Shape) -> Vec<String> {
    (0..shape.classes()).map(|i| format!("c{i}")).collect()
}
