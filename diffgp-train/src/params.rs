//! The parameters of a differential Gaussian process, in float64 and in standardised units.
//!
//! Symbols and shapes are those of `docs/notation.md`. Positive quantities (variances, length-scales, noise) are held
//! as they are, not as logarithms; optimisers transform them on their side.

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use nalgebra::{DMatrix, DVector};

pub use crate::likelihood::Likelihood;

/// A kernel k(x,z) = s² ρ(x,z) with one length-scale per input (ARD).
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Which correlation function ρ.
    pub kind: KernelKind,
    /// s², the variance.
    pub variance: f64,
    /// ℓ, one per input: `[D]`.
    pub length_scales: Vec<f64>,
}

/// The whitened posterior q(v) = N(m, L Lᵀ) over u = s R v.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// m: `[M]`.
    pub mean: DVector<f64>,
    /// L: `[M, M]`, lower triangular with a free diagonal; the strict upper part is zero.
    pub factor: DMatrix<f64>,
}

/// Inducing times of a spatio-temporal flow: k((x,t),(x',t')) = k(x,x') kₜ(t,t'), kₜ an RBF of variance 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Temporal {
    /// Z_t, spread over [0, T]: `[M_t]`.
    pub times: Vec<f64>,
    /// ℓ_t.
    pub length_scale: f64,
}

/// A sparse Gaussian process with one or several outputs: the vector field of a flow (D outputs), or a predictor (O).
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Z, shared by all outputs: `[M, D]`.
    pub inducing: DMatrix<f64>,
    /// One kernel shared by all outputs, or one per output: `[P]`.
    pub kernels: Vec<Kernel>,
    /// q(v) of every output: `[O]`.
    pub posteriors: Vec<Posterior>,
}

/// The flow dx = μ(x) dt + √Σ(x) dW over `[0, time]`, Itô, with diagonal Σ.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// T > 0.
    pub time: f64,
    /// K: the number of updates of size T/K.
    pub steps: usize,
    /// What an update does; only Euler–Maruyama with inducing times.
    pub scheme: Scheme,
    /// Inducing times, if the field changes with time.
    pub temporal: Option<Temporal>,
    /// μ and Σ: one output per dimension, each q(v_d) over M = M_s·max(M_t,1) whitened values with index s·M_t + t.
    pub field: Process,
}

/// A whole model: everything that is learned, and the constants it was learned with.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// The flow, or `None` for T = 0: an ordinary sparse Gaussian process.
    pub flow: Option<Flow>,
    /// What predicts from the end of the flow, with O outputs.
    pub predictor: Process,
    /// The likelihood.
    pub likelihood: Likelihood,
    /// Absolute jitter on the diagonal of every K_ZZ (spatial, temporal and predictor's); none on k(x,x).
    pub jitter: f64,
    /// Floor of every posterior variance.
    pub variance_floor: f64,
}

impl Params {
    /// D, the number of inputs.
    pub fn inputs(&self) -> usize {
        self.predictor.inducing.ncols()
    }

    /// T, zero without a flow.
    pub fn flow_time(&self) -> f64 {
        self.flow.as_ref().map_or(0.0, |flow| flow.time)
    }
}

impl Process {
    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.posteriors.len()
    }

    /// The kernel of an output: its own, or the shared one.
    pub fn kernel(&self, output: usize) -> &Kernel {
        &self.kernels[output.min(self.kernels.len() - 1)]
    }
}

impl Flow {
    /// D, the number of dimensions that flow.
    pub fn inputs(&self) -> usize {
        self.field.inducing.ncols()
    }

    /// dt = T/K.
    pub fn step_size(&self) -> f64 {
        self.time / self.steps as f64
    }

    /// How often the drift is evaluated along a path.
    pub fn evaluations(&self) -> usize {
        self.steps * self.scheme.evaluations()
    }

    /// M_t, zero for a field that does not change with time.
    pub fn inducing_times(&self) -> usize {
        self.temporal.as_ref().map_or(0, |temporal| temporal.times.len())
    }

    /// M = M_s·max(M_t,1), the size of every q(v_d).
    pub fn features(&self) -> usize {
        self.field.inducing.nrows() * self.inducing_times().max(1)
    }
}
