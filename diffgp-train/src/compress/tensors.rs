//! A model file's tensors in float64, with the values that the device multiplies by.

mod fixed;

use diffgp_core::blob::{Blob, Elements, KernelView, OutputView, layout};
use diffgp_core::kernel::KernelKind;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::export::tables::{Output, fold};

/// j: keeps R well conditioned, and with it the numbers small that are rounded.
const JITTER: f64 = 1e-6;

/// A kernel: ρ from q² = |x∘scales − point|².
#[derive(Clone, Debug)]
pub(crate) struct KernelTensors {
    pub(crate) kind: KernelKind,
    /// s².
    pub(crate) variance: f64,
    /// c/ℓ: `[D]`.
    pub(crate) scales: Vec<f64>,
    /// c Z/ℓ: `[M, D]`.
    pub(crate) points: DMatrix<f64>,
}

/// A kernel and the outputs that use it.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) kernel: KernelTensors,
    pub(crate) outputs: Vec<Output>,
    /// Of every output, if the device evaluates it in integers.
    pub(crate) rounding: Vec<Rounding>,
}

/// By how much a device that computes in integers can be off, at any state.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    /// Of a mean.
    pub(crate) mean: f64,
    /// Of √|c_r| v_r·φ, direction by direction.
    pub(crate) directions: Vec<f64>,
    /// Of 1 − Σ beside that.
    pub(crate) share: f64,
    /// Of the state, in the kernel's own metric.
    pub(crate) input: f64,
}

/// A whole model. Time is folded in: every step has outputs of its own if the field changes with it.
#[derive(Clone, Debug)]
pub(crate) struct Tensors {
    /// 0, 1 or K.
    pub(crate) tables: usize,
    /// One for every kernel of the flow. Outputs in order of tables, and within a table of dimensions.
    pub(crate) flow: Vec<Process>,
    /// One for every kernel of the predictor: all outputs on one, or one on each.
    pub(crate) predictor: Vec<Process>,
}

impl Tensors {
    /// The tensors of a parsed model. `None` only if it was damaged after it was parsed.
    pub(crate) fn read(blob: &Blob<'_>) -> Option<Self> {
        let header = blob.header();
        if header.is_fixed() {
            return Self::read_fixed(blob);
        }
        let inputs = usize::from(header.inputs);
        let mut flow = Vec::new();
        for index in 0..header.flow_kernels.into() {
            let kernel = kernel(&blob.flow_kernel(index)?, inputs, header.flow_inducing.into());
            flow.push(Process { kernel, outputs: Vec::new(), rounding: Vec::new() });
        }
        let (kernels, features) = (flow.len(), header.flow_features());
        let mut outputs = Vec::new();
        for table in 0..header.tables.into() {
            for d in 0..inputs {
                outputs.push(output(&blob.flow_output(table, d)?, features));
            }
        }
        let times = usize::from(header.inducing_times);
        let tables = if times == 0 { header.tables.into() } else { header.steps.into() };
        for table in 0..tables {
            for d in 0..inputs {
                let process = flow.get_mut(d.min(kernels - 1))?;
                process.outputs.push(match times {
                    0 => outputs.get(table * inputs + d)?.clone(),
                    _ => reduced(fold_time(outputs.get(d)?, blob.time_features(table)), &process.kernel)?,
                });
            }
        }
        let features = usize::from(header.predictor_inducing);
        let mut predictor = Vec::new();
        for index in 0..header.predictor_kernels.into() {
            let kernel = kernel(&blob.predictor_kernel(index)?, inputs, features);
            predictor.push(Process { kernel, outputs: Vec::new(), rounding: Vec::new() });
        }
        let kernels = predictor.len();
        for index in 0..header.outputs.into() {
            predictor.get_mut(index.min(kernels - 1))?.outputs.push(output(&blob.predictor_output(index)?, features));
        }
        Some(Self { tables, flow, predictor })
    }

    /// Of a model that is evaluated in integers.
    fn read_fixed(blob: &Blob<'_>) -> Option<Self> {
        let header = blob.header();
        let (mut flow, mut predictor): (Vec<Process>, Vec<Process>) = (Vec::new(), Vec::new());
        let add = |processes: &mut Vec<Process>, kernels: u8, step: usize, index: usize| {
            let (kernel, output, rounding) = fixed::part(blob, step, index)?;
            match processes.get_mut(if kernels == 1 { 0 } else { index }) {
                Some(process) => {
                    process.outputs.push(output);
                    process.rounding.push(rounding);
                }
                None => processes.push(Process { kernel, outputs: vec![output], rounding: vec![rounding] }),
            }
            Some(())
        };
        for table in 0..header.tables.into() {
            for d in 0..header.inputs.into() {
                add(&mut flow, header.flow_kernels, table, d)?;
            }
        }
        for output in 0..header.outputs.into() {
            add(&mut predictor, header.predictor_kernels, header.steps.into(), output)?;
        }
        Some(Self { tables: header.tables.into(), flow, predictor })
    }

    /// The dimension d that an output of one of the flow's kernels belongs to. With a kernel per dimension every output
    /// of it is of that dimension.
    pub(crate) fn dimension(&self, kernel: usize, output: usize, inputs: usize) -> usize {
        if self.flow.len() == 1 { output % inputs } else { kernel }
    }

    /// The outputs that a model with fewer steps uses: those of every `stride`th step.
    pub(crate) fn keep_every(&mut self, stride: usize) {
        if self.tables <= 1 {
            return;
        }
        let tables = self.tables;
        for process in &mut self.flow {
            let per_table = process.outputs.len() / tables;
            let mut index = 0;
            process.outputs.retain(|_| {
                index += 1;
                ((index - 1) / per_table).is_multiple_of(stride)
            });
        }
        self.tables = tables.div_ceil(stride);
    }
}

fn kernel(view: &KernelView<'_>, inputs: usize, points: usize) -> KernelTensors {
    let unit = f64::from(view.points.unit);
    let all = DMatrix::from_fn(points, inputs, |m, i| unit * at(view.points.elements, layout::position(m, i, inputs)));
    KernelTensors {
        kind: view.kind,
        variance: view.variance.into(),
        scales: view.scales.iter().map(|&scale| unit * f64::from(scale)).collect(),
        points: all,
    }
}

fn output(view: &OutputView<'_>, features: usize) -> Output {
    let unit = f64::from(view.weights.unit);
    // Padding has zero coefficients, and a direction with a zero coefficient is as good as padding.
    let rank = view.coefficients.iter().rposition(|&c| c != 0.0).map_or(0, |last| last + 1);
    Output {
        weights: DVector::from_fn(features, |m, _| unit * at(view.weights.elements, m)),
        directions: DMatrix::from_fn(features, rank, |m, r| at(view.directions, layout::position(r, m, features))),
        coefficients: DVector::from_fn(rank, |r, _| f64::from(view.coefficients[r])),
    }
}

fn at(elements: Elements<'_>, index: usize) -> f64 {
    elements.get(index).unwrap_or_default()
}

/// (I ⊗ a_tᵀ) of weights and directions: the features become those of space alone.
fn fold_time(output: &Output, time_features: &[f32]) -> Output {
    let a_t = DVector::from_iterator(time_features.len(), time_features.iter().map(|&a| f64::from(a)));
    let weights = DMatrix::from_columns(&[output.weights.column(0)]);
    Output {
        weights: fold(&weights, &a_t).column(0).into_owned(),
        directions: fold(&output.directions, &a_t),
        coefficients: output.coefficients.clone(),
    }
}

/// The same variance in no more directions than there are features. With R Rᵀ = ρ(Z,Z) + jI for any j and a = R⁻¹φ it is
/// the quadratic form of A = Σ_r c_r Rᵀv_r (Rᵀv_r)ᵀ in a, whose eigenvectors e give v = R⁻ᵀe.
fn reduced(output: Output, kernel: &KernelTensors) -> Option<Output> {
    if output.coefficients.len() <= output.weights.len() {
        return Some(output);
    }
    let factor = kernel.whitening(&kernel.points)?;
    let whitened = factor.tr_mul(&output.directions);
    let form = &whitened * DMatrix::from_diagonal(&output.coefficients) * whitened.transpose();
    let eigen = SymmetricEigen::new(form);
    Some(Output {
        weights: output.weights,
        directions: factor.tr_solve_lower_triangular(&eigen.eigenvectors)?,
        coefficients: eigen.eigenvalues,
    })
}

impl KernelTensors {
    /// c², with which q² = c² r².
    fn distance_scale_squared(&self) -> f64 {
        self.kind.distance_scale().powi(2)
    }

    /// ρ(Z, Z) of points in the kernel's own metric.
    pub(crate) fn gram(&self, points: &DMatrix<f64>) -> DMatrix<f64> {
        self.between(points, points)
    }

    /// R with R Rᵀ = ρ(Z,Z) + jI, lower triangular; `None` if there is none, which j prevents for finite points.
    pub(crate) fn whitening(&self, points: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let mut gram = self.gram(points);
        for i in 0..points.nrows() {
            gram[(i, i)] += JITTER;
        }
        Some(gram.cholesky()?.unpack())
    }

    /// ρ(A, B) of points in the kernel's own metric: `[rows of A, rows of B]`.
    pub(crate) fn between(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let c2 = self.distance_scale_squared();
        DMatrix::from_fn(a.nrows(), b.nrows(), |i, j| {
            let q2: f64 = a.row(i).iter().zip(b.row(j).iter()).map(|(x, z)| (x - z) * (x - z)).sum();
            self.kind.correlation_f64(q2 / c2)
        })
    }

    /// ρ(Z, X) of states, one in a row: `[M, N]`.
    pub(crate) fn features(&self, points: &DMatrix<f64>, states: &DMatrix<f64>) -> DMatrix<f64> {
        let scaled = DMatrix::from_fn(states.nrows(), states.ncols(), |n, i| states[(n, i)] * self.scales[i]);
        self.between(points, &scaled)
    }
}
