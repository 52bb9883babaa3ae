//! The bound from the definitions: unwhitened, dense, row by row, with explicit Kronecker products.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::likelihood::{Latent, Slopes};
use diffgp_train::params::{Kernel, Params, Posterior};
use nalgebra::{DMatrix, DVector};

use crate::models::Problem;

/// k(x,z).
pub(crate) fn covariance(kernel: &Kernel, x: &[f64], z: &[f64]) -> f64 {
    let r2: f64 = x.iter().zip(z).zip(&kernel.length_scales).map(|((x, z), l)| ((x - z) / l).powi(2)).sum();
    let r = r2.sqrt();
    let rho = match kernel.kind {
        KernelKind::Rbf => (-0.5 * r2).exp(),
        KernelKind::Matern32 => (1.0 + 3_f64.sqrt() * r) * (-(3_f64.sqrt()) * r).exp(),
        KernelKind::Matern52 => (1.0 + 5_f64.sqrt() * r + 5.0 * r2 / 3.0) * (-(5_f64.sqrt()) * r).exp(),
    };
    kernel.variance * rho
}

/// k(X,Z) for the rows of two matrices.
pub(crate) fn gram(kernel: &Kernel, x: &DMatrix<f64>, z: &DMatrix<f64>) -> DMatrix<f64> {
    let row = |m: &DMatrix<f64>, i: usize| -> Vec<f64> { m.row(i).iter().copied().collect() };
    DMatrix::from_fn(x.nrows(), z.nrows(), |i, j| covariance(kernel, &row(x, i), &row(z, j)))
}

/// A sparse process by its inducing values u ~ N(mean, covariance) with prior N(0, prior).
struct Process {
    mean: DVector<f64>,
    covariance: DMatrix<f64>,
    prior: DMatrix<f64>,
    inverse: DMatrix<f64>,
}

impl Process {
    /// u = Lz v with q(v) = N(m, L Lᵀ): the unwhitened posterior, where Lz Lzᵀ = `prior`.
    fn new(posterior: &Posterior, root: &DMatrix<f64>) -> Self {
        let prior = root * root.transpose();
        let factor = root * &posterior.factor;
        Self {
            mean: root * &posterior.mean,
            covariance: &factor * factor.transpose(),
            inverse: prior.clone().try_inverse().unwrap(),
            prior,
        }
    }

    /// Mean and variance where the cross-covariance is `k` and the prior variance `variance`.
    fn moments(&self, k: &DVector<f64>, variance: f64) -> (f64, f64) {
        let weights = &self.inverse * k;
        let explained = weights.dot(&((&self.prior - &self.covariance) * &weights));
        (weights.dot(&self.mean), variance - explained)
    }

    /// KL(q(u) ‖ p(u)).
    fn divergence(&self) -> f64 {
        let log_det =
            |matrix: &DMatrix<f64>| 2.0 * matrix.clone().cholesky().unwrap().l().diagonal().map(f64::ln).sum();
        0.5 * ((&self.inverse * &self.covariance).trace() + self.mean.dot(&(&self.inverse * &self.mean))
            - self.mean.len() as f64
            + log_det(&self.prior)
            - log_det(&self.covariance))
    }
}

fn root(gram: DMatrix<f64>, jitter: f64) -> DMatrix<f64> {
    let m = gram.nrows();
    (gram + DMatrix::identity(m, m) * jitter).cholesky().unwrap().l()
}

/// The bound of a problem, with its noise.
pub(crate) fn elbo(problem: &Problem) -> f64 {
    elbo_with(problem, |k| k)
}

/// The same with every covariance of a row and an inducing point passed through `change`.
pub(crate) fn elbo_with(problem: &Problem, mut change: impl FnMut(f64) -> f64) -> f64 {
    let Params { flow, predictor, likelihood, jitter, variance_floor } = &problem.params;
    let (targets, d) = (likelihood.targets(), problem.params.inputs());
    let b = problem.y.len() / targets;
    let outputs: Vec<Process> = predictor
        .posteriors
        .iter()
        .enumerate()
        .map(|(o, posterior)| {
            let gram = gram(predictor.kernel(o), &predictor.inducing, &predictor.inducing);
            Process::new(posterior, &root(gram, *jitter))
        })
        .collect();
    let time_kernel = |scale: f64| Kernel { kind: KernelKind::Rbf, variance: 1.0, length_scales: vec![scale] };
    let time_points = |times: &[f64]| DMatrix::from_column_slice(times.len(), 1, times);
    let processes: Vec<Process> = flow
        .iter()
        .flat_map(|flow| {
            (0..d).map(|i| {
                let spatial = root(gram(flow.field.kernel(i), &flow.field.inducing, &flow.field.inducing), *jitter);
                let full = match &flow.temporal {
                    None => spatial,
                    Some(t) => {
                        let z = time_points(&t.times);
                        spatial.kronecker(&root(gram(&time_kernel(t.length_scale), &z, &z), *jitter))
                    }
                };
                Process::new(&flow.field.posteriors[i], &full)
            })
        })
        .collect();

    let mut sum = 0.0;
    for s in 0..problem.paths {
        for row in 0..b {
            let mut x = DMatrix::from_row_slice(1, d, &problem.x[row * d..(row + 1) * d]);
            if let Some(flow) = flow {
                let dt = flow.step_size();
                for k in 0..flow.steps {
                    let mut middle = x.clone();
                    if flow.scheme == Scheme::Midpoint {
                        for (i, process) in processes.iter().enumerate() {
                            let cross = gram(flow.field.kernel(i), &flow.field.inducing, &x);
                            let variance = flow.field.kernel(i).variance;
                            let (mean, _) = process.moments(&cross.column(0).map(&mut change), variance);
                            middle[(0, i)] += 0.5 * mean * dt;
                        }
                    }
                    let mut next = x.clone();
                    for (i, process) in processes.iter().enumerate() {
                        let spatial = gram(flow.field.kernel(i), &flow.field.inducing, &middle);
                        let cross = match &flow.temporal {
                            None => spatial,
                            Some(t) => {
                                let now = DMatrix::from_element(1, 1, k as f64 * dt);
                                spatial.kronecker(&gram(&time_kernel(t.length_scale), &time_points(&t.times), &now))
                            }
                        };
                        let (mean, var) =
                            process.moments(&cross.column(0).map(&mut change), flow.field.kernel(i).variance);
                        let eps = problem.eps[((s * flow.steps + k) * b + row) * d + i];
                        next[(0, i)] += mean * dt + (var.max(*variance_floor) * dt).sqrt() * eps;
                    }
                    x = next;
                }
            }
            let (mut means, mut variances) = (Vec::new(), Vec::new());
            for (o, g) in outputs.iter().enumerate() {
                let kernel = predictor.kernel(o);
                let cross = gram(kernel, &predictor.inducing, &x);
                let (mean, var) = g.moments(&cross.column(0).map(&mut change), kernel.variance);
                means.push(mean);
                variances.push(var.max(*variance_floor));
            }
            let y = &problem.y[row * targets..(row + 1) * targets];
            let (mut by_mean, mut by_variance) = (means.clone(), variances.clone());
            let mut own = vec![0.0; likelihood.noise().len()];
            let mut slopes = Slopes { mean: &mut by_mean, variance: &mut by_variance, own: &mut own };
            let at = Latent { mean: &means, variance: &variances };
            sum += likelihood.with(|density| density.expectation(y, at, &mut slopes));
        }
    }
    let weight = problem.total_rows as f64 / (b * problem.paths) as f64;
    weight * sum - outputs.iter().chain(&processes).map(Process::divergence).sum::<f64>()
}
