//! Small random models and batches for tests, the same ones in every run.

use diffgp_core::kernel::KernelKind;
use diffgp_train::elbo::{Batch, Evaluation, Real, value_and_gradient};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Predictor, Temporal};
use diffgp_train::threads::Threads;
use nalgebra::{DMatrix, DVector};

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
    pub(crate) per_dimension: bool,
    pub(crate) bernoulli: bool,
    pub(crate) rows: usize,
    pub(crate) paths: usize,
}

impl Spec {
    /// D = 2, M = 5, K = 4, seven rows, two paths, one shared RBF kernel, Gaussian.
    pub(crate) const SMALL: Self = Self {
        kind: KernelKind::Rbf,
        inputs: 2,
        inducing: 5,
        times: 0,
        steps: 4,
        per_dimension: false,
        bernoulli: false,
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

/// A linear congruential generator of roughly normal numbers.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    pub(crate) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }
}

/// The problem of a kind and a seed.
pub(crate) fn problem(spec: Spec, seed: u64) -> Problem {
    let mut r = Numbers::new(seed);
    let Spec { inputs: d, inducing: m, rows: b, .. } = spec;
    let flow = (spec.steps > 0).then(|| Flow {
        time: 1.5,
        steps: spec.steps,
        inducing: DMatrix::from_vec(m, d, r.normals(m * d)),
        kernels: (0..if spec.per_dimension { d } else { 1 }).map(|_| kernel(spec.kind, d, 0.2, &mut r)).collect(),
        temporal: (spec.times > 0).then(|| Temporal {
            times: (0..spec.times).map(|i| 1.5 * (i as f64 + 0.3 * r.uniform()) / spec.times as f64).collect(),
            length_scale: 0.6 + 0.3 * r.uniform(),
        }),
        posteriors: (0..d).map(|_| posterior(m * spec.times.max(1), &mut r)).collect(),
    });
    let params = Params {
        flow,
        predictor: Predictor {
            inducing: DMatrix::from_vec(m, d, r.normals(m * d)),
            kernel: kernel(spec.kind, d, 1.0, &mut r),
            posterior: posterior(m, &mut r),
        },
        likelihood: if spec.bernoulli {
            Likelihood::Bernoulli { epsilon: 1e-3 }
        } else {
            Likelihood::Gaussian { noise: 0.2 + 0.1 * r.uniform() }
        },
        jitter: 1e-5,
        variance_floor: 1e-10,
    };
    let y = (0..b).map(|_| if spec.bernoulli { r.uniform().round() } else { r.normal() }).collect();
    let eps = r.normals(spec.paths * spec.steps * b * d);
    Problem { params, x: r.normals(b * d), y, eps, paths: spec.paths, total_rows: 3 * b }
}

fn kernel(kind: KernelKind, d: usize, variance: f64, r: &mut Numbers) -> Kernel {
    let length_scales = (0..d).map(|_| (d as f64).sqrt() * (0.8 + 0.5 * r.uniform())).collect();
    Kernel { kind, variance: variance * (0.8 + 0.4 * r.uniform()), length_scales }
}

fn posterior(m: usize, r: &mut Numbers) -> Posterior {
    let factor = DMatrix::from_fn(m, m, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 0.4 + 0.4 * r.uniform(),
        std::cmp::Ordering::Greater => 0.3 * r.normal() / (m as f64).sqrt(),
    });
    Posterior { mean: DVector::from_vec(r.normals(m)), factor }
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

/// Every learned number of a model with the name of its group; triangles without their zeros.
pub(crate) fn coordinates(params: &mut Params) -> Vec<(&'static str, &mut f64)> {
    let mut all = Vec::new();
    if let Some(flow) = &mut params.flow {
        all.extend(flow.inducing.iter_mut().map(|z| ("Z_f", z)));
        for kernel in &mut flow.kernels {
            all.extend(kernel.length_scales.iter_mut().map(|l| ("ls_f", l)));
            all.push(("var_f", &mut kernel.variance));
        }
        if let Some(temporal) = &mut flow.temporal {
            all.extend(temporal.times.iter_mut().map(|z| ("Z_t", z)));
            all.push(("ls_t", &mut temporal.length_scale));
        }
        for posterior in &mut flow.posteriors {
            posterior_coordinates(posterior, "m_f", "L_f", &mut all);
        }
    }
    all.extend(params.predictor.inducing.iter_mut().map(|z| ("Z_g", z)));
    all.extend(params.predictor.kernel.length_scales.iter_mut().map(|l| ("ls_g", l)));
    all.push(("var_g", &mut params.predictor.kernel.variance));
    posterior_coordinates(&mut params.predictor.posterior, "m_g", "L_g", &mut all);
    if let Likelihood::Gaussian { noise } = &mut params.likelihood {
        all.push(("noise", noise));
    }
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
