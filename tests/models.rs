//! Small random models and batches for tests, the same ones in every run.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::elbo::{Batch, Evaluation, Real, value_and_gradient};
use diffgp_train::params::{Flow, Likelihood, Params, Posterior};
use diffgp_train::threads::Threads;

use crate::random_models::{Normals, Shape, model};

/// What kind of model to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) kind: KernelKind,
    pub(crate) inputs: usize,
    /// M_s = M_g.
    pub(crate) inducing: usize,
    /// M_t.
    pub(crate) times: usize,
    /// K; zero for no flow.
    pub(crate) steps: usize,
    pub(crate) scheme: Scheme,
    pub(crate) per_dimension: bool,
    pub(crate) bernoulli: bool,
    /// One output per class.
    pub(crate) softmax: bool,
    /// O.
    pub(crate) outputs: usize,
    /// One kernel per output of the predictor.
    pub(crate) per_output: bool,
    pub(crate) rows: usize,
    pub(crate) paths: usize,
}

impl Spec {
    /// D = 2, M = 5, K = 4, seven rows, two paths, one shared RBF kernel, one Gaussian output.
    pub(crate) const SMALL: Self = Self {
        kind: KernelKind::Rbf,
        inputs: 2,
        inducing: 5,
        times: 0,
        steps: 4,
        scheme: Scheme::EulerMaruyama,
        per_dimension: false,
        bernoulli: false,
        softmax: false,
        outputs: 1,
        per_output: false,
        rows: 7,
        paths: 2,
    };
}

/// A model with rows to evaluate it on.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) params: Params,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) eps: Vec<f64>,
    pub(crate) paths: usize,
    pub(crate) total_rows: usize,
}

/// The problem of a kind and a seed.
pub(crate) fn problem(spec: Spec, seed: u64) -> Problem {
    let Spec { inputs, inducing, rows, .. } = spec;
    let shape = Shape {
        inputs,
        flow_inducing: if spec.steps > 0 { inducing } else { 0 },
        inducing_times: spec.times,
        steps: spec.steps,
        per_dimension: spec.per_dimension,
        predictor_inducing: inducing,
        kind: spec.kind,
        classifier: spec.bernoulli,
        outputs: 1,
        per_output: false,
        seed,
    };
    let mut params = Params { jitter: 1e-5, variance_floor: 1e-10, ..model(&shape) };
    params.flow.iter_mut().for_each(|flow| flow.scheme = spec.scheme);
    for output in 1..spec.outputs {
        let other = model(&Shape { seed: seed + 1000 * output as u64, ..shape.clone() }).predictor;
        params.predictor.posteriors.extend(other.posteriors);
        params.predictor.kernels.extend(other.kernels.into_iter().filter(|_| spec.per_output));
        if let Likelihood::Gaussian { noise } = &mut params.likelihood {
            noise.push(0.05 * (output + 1) as f64);
        }
    }
    if spec.softmax {
        params.likelihood = Likelihood::Softmax;
    }
    let mut r = Normals::new(seed + 1);
    let target = |y: f64| match () {
        () if spec.bernoulli => f64::from(y > 0.0),
        () if spec.softmax => (5.0 * y.abs()).floor() % spec.outputs as f64,
        () => y,
    };
    let y = r.vector(rows * params.likelihood.targets()).into_iter().map(target).collect();
    let eps = r.vector(spec.paths * spec.steps * rows * inputs);
    Problem { params, x: r.vector(rows * inputs), y, eps, paths: spec.paths, total_rows: 3 * rows }
}

impl Problem {
    /// The bound with the problem's own noise, in `T`.
    pub(crate) fn evaluate<T: Real>(&self, threads: &Threads) -> Evaluation {
        let round = |values: &[f64]| -> Vec<T> { values.iter().map(|&value| T::from_f64(value)).collect() };
        let (x, y, eps) = (round(&self.x), round(&self.y), round(&self.eps));
        let batch = Batch { x: &x, y: &y, total_rows: self.total_rows };
        value_and_gradient(&self.params, &batch, self.paths, Some(&eps), threads).unwrap()
    }
}

/// Every learned number of a model with the name of its group, in the order of θ; triangles without their zeros.
pub(crate) fn coordinates(params: &mut Params) -> Vec<(&'static str, &mut f64)> {
    let mut all = Vec::new();
    if let Some(flow) = &mut params.flow {
        let Flow { temporal, field, .. } = flow;
        all.extend(field.inducing.iter_mut().map(|z| ("Z_f", z)));
        for kernel in &mut field.kernels {
            all.push(("var_f", &mut kernel.variance));
            all.extend(kernel.length_scales.iter_mut().map(|l| ("ls_f", l)));
        }
        if let Some(temporal) = temporal {
            all.extend(temporal.times.iter_mut().map(|z| ("Z_t", z)));
            all.push(("ls_t", &mut temporal.length_scale));
        }
        for posterior in &mut field.posteriors {
            posterior_coordinates(posterior, "m_f", "L_f", &mut all);
        }
    }
    all.extend(params.predictor.inducing.iter_mut().map(|z| ("Z_g", z)));
    for kernel in &mut params.predictor.kernels {
        all.push(("var_g", &mut kernel.variance));
        all.extend(kernel.length_scales.iter_mut().map(|l| ("ls_g", l)));
    }
    for posterior in &mut params.predictor.posteriors {
        posterior_coordinates(posterior, "m_g", "L_g", &mut all);
    }
    all.extend(params.likelihood.noise_mut().iter_mut().map(|noise| ("noise", noise)));
    all
}

fn posterior_coordinates<'a>(
    posterior: &'a mut Posterior,
    mean: &'static str,
    factor: &'static str,
    all: &mut Vec<(&'static str, &'a mut f64)>,
) {
    let m = posterior.mean.len();
    all.extend(posterior.mean.iter_mut().map(|value| (mean, value)));
    let lower = posterior.factor.as_mut_slice().iter_mut().enumerate().filter(|(i, _)| i % m >= i / m);
    all.extend(lower.map(|(_, value)| (factor, value)));
}
