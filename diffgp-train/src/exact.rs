//! The model in float64, one input at a time, by triangular solves: the plain reading of the equations.
//!
//! ```text
//! a(x)   = R⁻¹ ρ(Z,x),   R = chol(ρ(Z,Z) + (jitter/s²) I)
//! mean   = s aᵀm         variance = max(s²(1 − |a|² + |Lᵀa|²), floor)
//! x_{k+1} = x_k + mean dt + √(variance dt) ε_k     mean and variance at x_k, or at the midpoint x_k + ½ mean(x_k) dt
//! ```
//!
//! Nothing is computed ahead except R. The export compares the device's form with this one, and tests compare the
//! batched trainer with it. Cost: O(M²) per Gaussian process and input.

use diffgp_core::scheme::Scheme;
use nalgebra::{DMatrix, DVector};

use crate::params::{Flow, Kernel, Params, Posterior, Process};

/// K_ZZ/s² could not be factorised: inducing points coincide and the jitter is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a kernel matrix is not positive definite; raise the jitter or spread the inducing points")]
pub struct NotPositiveDefinite;

/// Beyond so many factors of ten a kernel matrix is taken to be broken.
const JITTER_RAISES: i32 = 4;

/// ρ(x, z).
pub fn correlation<'a>(
    kernel: &Kernel,
    x: impl IntoIterator<Item = &'a f64>,
    z: impl IntoIterator<Item = &'a f64>,
) -> f64 {
    // r² = Σᵢ ((xᵢ−zᵢ)/ℓᵢ)²
    let r2 = x.into_iter().zip(z).zip(&kernel.length_scales).map(|((x, z), l)| ((x - z) / l).powi(2)).sum();
    kernel.kind.correlation_f64(r2)
}

/// R = chol(ρ(Z,Z) + (jitter/s²) I), lower triangular.
pub fn whitening_factor(
    kernel: &Kernel,
    inducing: &DMatrix<f64>,
    jitter: f64,
) -> Result<DMatrix<f64>, NotPositiveDefinite> {
    let m = inducing.nrows();
    let gram = DMatrix::from_fn(m, m, |i, j| {
        let rho = correlation(kernel, inducing.row(i).iter(), inducing.row(j).iter());
        if i == j { rho + jitter / kernel.variance } else { rho }
    });
    Ok(gram.cholesky().ok_or(NotPositiveDefinite)?.unpack())
}

/// The jitter of a model, or the smallest of ten, a hundred, … times as much with which every kernel matrix can be
/// factorised.
pub fn sufficient_jitter(params: &Params) -> Result<f64, NotPositiveDefinite> {
    let raised = (0..=JITTER_RAISES).map(|raise| params.jitter * 10_f64.powi(raise));
    let suffices = |&jitter: &f64| Exact::new(&Params { jitter, ..params.clone() }).is_ok();
    raised.into_iter().find(suffices).ok_or(NotPositiveDefinite)
}

/// The time features a_t(t_k) = R_t⁻¹ k_t(Z_t, t_k) of every step: `[K][M_t]`; empty vectors without inducing times.
pub fn time_features(flow: &Flow, jitter: f64) -> Result<Vec<DVector<f64>>, NotPositiveDefinite> {
    let Some(temporal) = &flow.temporal else { return Ok(vec![DVector::zeros(0); flow.steps]) };
    let kernel = Kernel {
        kind: diffgp_core::kernel::KernelKind::Rbf,
        variance: 1.0,
        length_scales: vec![temporal.length_scale],
    };
    let times = DMatrix::from_column_slice(temporal.times.len(), 1, &temporal.times);
    let factor = whitening_factor(&kernel, &times, jitter)?;
    let features = |step: usize| {
        let t = step as f64 * flow.step_size();
        let rho = DVector::from_iterator(times.len(), times.iter().map(|z| correlation(&kernel, [z], [&t])));
        factor.solve_lower_triangular(&rho).ok_or(NotPositiveDefinite)
    };
    (0..flow.steps).map(features).collect()
}

/// Mean and variance of a Gaussian process at one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The variance, without noise.
    pub variance: f64,
}

/// A model with its Cholesky factors.
#[derive(Clone, Debug)]
pub struct Exact<'p> {
    params: &'p Params,
    /// R of every kernel of the flow.
    flow_factors: Vec<DMatrix<f64>>,
    time_features: Vec<DVector<f64>>,
    /// R of every kernel of the predictor.
    predictor_factors: Vec<DMatrix<f64>>,
}

impl<'p> Exact<'p> {
    /// Factorises the kernel matrices.
    pub fn new(params: &'p Params) -> Result<Self, NotPositiveDefinite> {
        let factors = |process: &Process| -> Result<Vec<_>, _> {
            process.kernels.iter().map(|kernel| whitening_factor(kernel, &process.inducing, params.jitter)).collect()
        };
        let flow = params.flow.as_ref();
        Ok(Self {
            params,
            flow_factors: flow.map_or(Ok(Vec::new()), |flow| factors(&flow.field))?,
            time_features: flow.map_or(Ok(Vec::new()), |flow| time_features(flow, params.jitter))?,
            predictor_factors: factors(&params.predictor)?,
        })
    }

    /// Drift and diffusion variance of every dimension at x and step k; empty without a flow.
    pub fn field(&self, x: &[f64], step: usize) -> Vec<Moments> {
        let Some(flow) = &self.params.flow else { return Vec::new() };
        self.outputs(&flow.field, &self.flow_factors, &self.time_features[step], x)
    }

    /// All states of a path, x_0 first; `noise` holds ε as `[K][D]`, or nothing for the drift alone.
    pub fn path(&self, x: &[f64], noise: Option<&[f64]>) -> Vec<Vec<f64>> {
        let mut states = vec![x.to_vec()];
        let Some(flow) = &self.params.flow else { return states };
        let dt = flow.step_size();
        for step in 0..flow.steps {
            let state = &states[step];
            let mut field = self.field(state, step);
            if flow.scheme == Scheme::Midpoint {
                let middle: Vec<f64> = state.iter().zip(&field).map(|(x, at)| x + 0.5 * dt * at.mean).collect();
                field = self.field(&middle, step);
            }
            let advance = |d: usize| {
                let epsilon = noise.map_or(0.0, |noise| noise[step * x.len() + d]);
                state[d] + field[d].mean * dt + (field[d].variance * dt).sqrt() * epsilon
            };
            states.push((0..x.len()).map(advance).collect());
        }
        states
    }

    /// The predictor at the end of a path: mean and variance of every output of g, standardised.
    pub fn predict(&self, end: &[f64]) -> Vec<Moments> {
        self.outputs(&self.params.predictor, &self.predictor_factors, &DVector::zeros(0), end)
    }

    /// Every output of a process at x; `times` holds a_t, or nothing.
    fn outputs(&self, process: &Process, factors: &[DMatrix<f64>], times: &DVector<f64>, x: &[f64]) -> Vec<Moments> {
        let output = |o: usize| {
            let (kernel, factor) = (process.kernel(o), &factors[o.min(factors.len() - 1)]);
            let spatial = whitened(kernel, &process.inducing, factor, x);
            // a = a_s ⊗ a_t
            let a = if times.is_empty() { spatial } else { spatial.kronecker(times) };
            self.moments(kernel, &process.posteriors[o], &a)
        };
        (0..process.outputs()).map(output).collect()
    }

    fn moments(&self, kernel: &Kernel, posterior: &Posterior, a: &DVector<f64>) -> Moments {
        let mean = kernel.variance.sqrt() * a.dot(&posterior.mean);
        // s²(1 − |a|² + |Lᵀa|²)
        let variance = kernel.variance * (1.0 - a.norm_squared() + posterior.factor.tr_mul(a).norm_squared());
        Moments { mean, variance: variance.max(self.params.variance_floor) }
    }
}

/// a(x) = R⁻¹ ρ(Z,x).
fn whitened(kernel: &Kernel, inducing: &DMatrix<f64>, factor: &DMatrix<f64>, x: &[f64]) -> DVector<f64> {
    let mut a = DVector::from_fn(inducing.nrows(), |m, _| correlation(kernel, x, inducing.row(m).iter()));
    factor.solve_lower_triangular_unchecked_mut(&mut a);
    a
}
