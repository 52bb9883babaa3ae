//! From parameters to what the device multiplies by, in float64.
//!
//! ```text
//! mean(x)     = w·φ(x),                      w   = s R⁻ᵀ m
//! variance(x) = s²(1 − Σ_r c_r (v_r·φ)²),    I − L Lᵀ = Σ_r c_r e_r e_rᵀ,   v_r = R⁻ᵀ e_r
//! ```
//!
//! with φ = ρ(Z,x). For a field that changes with time there are two ways. *Time features* keep a_t: φ = ρ ⊗ a_t(t_k),
//! and R⁻ᵀ acts on the spatial index of m and e_r. *Folded* multiplies a_t(t_k) in for every step k:
//! w_k = s R⁻ᵀ (I ⊗ a_tᵀ) m and |a_t|² I − (I ⊗ a_tᵀ) L Lᵀ (I ⊗ a_t) is decomposed, so that a step costs as little as
//! one of a field without time, and every step has a table of its own.
//!
//! Directions with |c_r| below [`NEGLIGIBLE`] are dropped: since |R⁻¹ρ| ≤ 1, they change the variance by less than
//! that share of s², anywhere.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::exact::{NotPositiveDefinite, time_features, whitening_factor};
use crate::params::{Flow, Kernel, Params, Posterior, Process};

/// Half a unit in the last place of 1 in f32: what cannot matter to 1 − Σ.
pub const NEGLIGIBLE: f64 = 3e-8;

/// One output of a Gaussian process in the device's form.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// w: `[M]`.
    pub(crate) weights: DVector<f64>,
    /// v_r in columns: `[M, rank]`.
    pub(crate) directions: DMatrix<f64>,
    /// c_r: `[rank]`.
    pub(crate) coefficients: DVector<f64>,
}

/// A flow in the device's form.
#[derive(Clone, Debug)]
pub(crate) struct FlowTables {
    /// a_t(t_k) of every step, if φ = ρ ⊗ a_t; else empty.
    pub(crate) time_features: Vec<DVector<f64>>,
    /// 1, or K if time was folded in.
    pub(crate) tables: usize,
    /// `[tables][D]`.
    pub(crate) outputs: Vec<Output>,
}

impl FlowTables {
    /// Numbers that the tables hold: what decides between the two forms.
    fn size(&self) -> usize {
        let outputs = self.outputs.iter().map(|output| output.weights.len() + output.directions.len());
        outputs.sum::<usize>() + self.time_features.iter().map(|a| a.len()).sum::<usize>()
    }
}

/// The outputs of a process whose features are ρ, or ρ ⊗ a_t with so many times.
pub(crate) fn outputs(process: &Process, jitter: f64, times: usize) -> Result<Vec<Output>, NotPositiveDefinite> {
    let factors = factors(process, jitter)?;
    let posteriors = process.posteriors.iter().enumerate();
    let one = |(o, posterior): (usize, &Posterior)| {
        output(process.kernel(o), &factors[o.min(factors.len() - 1)], &posterior.mean, unexplained(posterior), times)
    };
    posteriors.map(one).collect()
}

/// R of every kernel.
fn factors(process: &Process, jitter: f64) -> Result<Vec<DMatrix<f64>>, NotPositiveDefinite> {
    process.kernels.iter().map(|kernel| whitening_factor(kernel, &process.inducing, jitter)).collect()
}

/// The flow's outputs, in whichever form is smaller if the field changes with time.
pub(crate) fn flow_tables(params: &Params, flow: &Flow) -> Result<FlowTables, NotPositiveDefinite> {
    let field = &flow.field;
    let times = flow.inducing_times();
    let outputs = outputs(field, params.jitter, times.max(1))?;
    if times == 0 {
        return Ok(FlowTables { time_features: Vec::new(), tables: 1, outputs });
    }
    let time_features = time_features(flow, params.jitter)?;
    let factors = factors(field, params.jitter)?;
    let factor = |d: usize| &factors[d.min(factors.len() - 1)];
    let kept = FlowTables { time_features: time_features.clone(), tables: 1, outputs };
    let mut outputs = Vec::new();
    for a_t in &time_features {
        for (d, posterior) in field.posteriors.iter().enumerate() {
            // (I ⊗ a_tᵀ) m  [M_s]   and   (I ⊗ a_tᵀ) L  [M_s, M]
            let mean = fold(&DMatrix::from_column_slice(posterior.mean.len(), 1, posterior.mean.as_slice()), a_t);
            let factor_k = fold(&posterior.factor, a_t);
            let size = field.inducing.nrows();
            let unexplained = DMatrix::identity(size, size) * a_t.norm_squared() - &factor_k * factor_k.transpose();
            outputs.push(output(field.kernel(d), factor(d), &mean.column(0).into_owned(), unexplained, 1)?);
        }
    }
    let folded = FlowTables { time_features: Vec::new(), tables: flow.steps, outputs };
    Ok(if folded.size() < kept.size() { folded } else { kept })
}

/// (I ⊗ a_tᵀ) A: rows s·M_t + t are summed over t with weights a_t.
pub(crate) fn fold(matrix: &DMatrix<f64>, a_t: &DVector<f64>) -> DMatrix<f64> {
    let times = a_t.len();
    DMatrix::from_fn(matrix.nrows() / times, matrix.ncols(), |s, column| {
        (0..times).map(|t| a_t[t] * matrix[(s * times + t, column)]).sum()
    })
}

/// I − L Lᵀ.
fn unexplained(posterior: &Posterior) -> DMatrix<f64> {
    let size = posterior.mean.len();
    DMatrix::identity(size, size) - &posterior.factor * posterior.factor.transpose()
}

/// w = s (R⁻ᵀ ⊗ I) m and the directions of a symmetric matrix; `times` is the size of I.
fn output(
    kernel: &Kernel,
    factor: &DMatrix<f64>,
    mean: &DVector<f64>,
    unexplained: DMatrix<f64>,
    times: usize,
) -> Result<Output, NotPositiveDefinite> {
    let eigen = SymmetricEigen::new(unexplained);
    let mut order: Vec<usize> = (0..mean.len()).filter(|&r| eigen.eigenvalues[r].abs() > NEGLIGIBLE).collect();
    // Largest first: later compression cuts from the end, and the order does not depend on the eigen-solver.
    order.sort_by(|&i, &j| eigen.eigenvalues[j].abs().total_cmp(&eigen.eigenvalues[i].abs()));
    let vectors = DMatrix::from_fn(mean.len(), order.len(), |row, r| eigen.eigenvectors[(row, order[r])]);
    let weights = unwhiten(factor, &DMatrix::from_column_slice(mean.len(), 1, mean.as_slice()), times)?;
    Ok(Output {
        weights: weights.column(0) * kernel.variance.sqrt(),
        directions: unwhiten(factor, &vectors, times)?,
        coefficients: eigen.eigenvalues.select_rows(&order),
    })
}

/// (R⁻ᵀ ⊗ I) A for rows indexed s·times + t.
fn unwhiten(factor: &DMatrix<f64>, matrix: &DMatrix<f64>, times: usize) -> Result<DMatrix<f64>, NotPositiveDefinite> {
    let (rows, columns) = matrix.shape();
    // Rows s·times + t become row s of column block t, and back.
    let apart = DMatrix::from_fn(rows / times, columns * times, |s, c| matrix[(s * times + c % times, c / times)]);
    let solved = factor.tr_solve_lower_triangular(&apart).ok_or(NotPositiveDefinite)?;
    Ok(DMatrix::from_fn(rows, columns, |row, c| solved[(row / times, c * times + row % times)]))
}
