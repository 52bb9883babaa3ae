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
//!
//! For Gaussian outputs on one kernel the closed form of q(v_o) is (I + G/σ_o²)⁻¹ with one G for all, so that the matrices
//! I − L_o L_oᵀ have the same eigenvectors. Such outputs get the same directions, and the file holds them once.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::exact::{NotPositiveDefinite, time_features, whitening_factor};
use crate::params::{Flow, Kernel, Params, Posterior, Process};

/// Half a unit in the last place of 1 in f32: what cannot matter to 1 − Σ.
pub const NEGLIGIBLE: f64 = 3e-8;

/// Norm of what may be left out for common directions: since |R⁻¹ρ| ≤ 1, the share of s² by which a variance can change.
/// Training sums G in f32, so that closed forms agree to 2e-6 (M = 512) to 5e-6 (M = 100, with a flow).
const COMMON: f64 = 1e-5;

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
    let unexplained: Vec<_> = process.posteriors.iter().map(unexplained).collect();
    let decomposed = match common_directions(&unexplained).filter(|_| factors.len() == 1) {
        Some(decomposed) => decomposed,
        None => unexplained.into_iter().map(decompose).collect(),
    };
    let posteriors = process.posteriors.iter().zip(&decomposed).enumerate();
    let one = |(o, (posterior, directions)): (usize, (&Posterior, &Directions))| {
        output(process.kernel(o), &factors[o.min(factors.len() - 1)], &posterior.mean, directions, times)
    };
    posteriors.map(one).collect()
}

/// Σ_r c_r e_r e_rᵀ.
pub(crate) struct Directions {
    /// e_r in columns.
    pub(crate) vectors: DMatrix<f64>,
    /// c_r.
    pub(crate) coefficients: DVector<f64>,
}

/// The eigenvectors of a symmetric matrix, without those that are negligible.
fn decompose(matrix: DMatrix<f64>) -> Directions {
    let eigen = SymmetricEigen::new(matrix);
    let kept = by_size(eigen.eigenvalues.map(f64::abs));
    Directions { vectors: eigen.eigenvectors.select_columns(&kept), coefficients: eigen.eigenvalues.select_rows(&kept) }
}

/// The numbers that are not negligible, the largest first: later compression cuts from the end, and the order does not
/// depend on the eigen-solver.
fn by_size(sizes: DVector<f64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&r| sizes[r] > NEGLIGIBLE).collect();
    order.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
    order
}

/// The same vectors for several symmetric matrices, with numbers of their own, if what is then left out of each matrix
/// has a norm below [`COMMON`].
pub(crate) fn common_directions(matrices: &[DMatrix<f64>]) -> Option<Vec<Directions>> {
    if matrices.len() < 2 {
        return None;
    }
    let eigen = SymmetricEigen::new(matrices.iter().fold(matrices[0].clone() * 0.0, |sum, matrix| sum + matrix));
    // Eᵀ A_o E
    let turned: Vec<_> = matrices.iter().map(|a| eigen.eigenvectors.transpose() * a * &eigen.eigenvectors).collect();
    let off_diagonal = |a: &DMatrix<f64>| (a - DMatrix::from_diagonal(&a.diagonal())).norm();
    if turned.iter().any(|a| off_diagonal(a) > COMMON) {
        return None;
    }
    let largest = |r: usize| turned.iter().map(|a| a[(r, r)].abs()).fold(0.0, f64::max);
    let kept = by_size(DVector::from_fn(eigen.eigenvalues.len(), |r, _| largest(r)));
    let vectors = eigen.eigenvectors.select_columns(&kept);
    let of_output =
        |a: &DMatrix<f64>| Directions { vectors: vectors.clone(), coefficients: a.diagonal().select_rows(&kept) };
    Some(turned.iter().map(of_output).collect())
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
            let mean = mean.column(0).into_owned();
            outputs.push(output(field.kernel(d), factor(d), &mean, &decompose(unexplained), 1)?);
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
pub(crate) fn unexplained(posterior: &Posterior) -> DMatrix<f64> {
    let size = posterior.mean.len();
    DMatrix::identity(size, size) - &posterior.factor * posterior.factor.transpose()
}

/// w = s (R⁻ᵀ ⊗ I) m and v_r = (R⁻ᵀ ⊗ I) e_r; `times` is the size of I.
fn output(
    kernel: &Kernel,
    factor: &DMatrix<f64>,
    mean: &DVector<f64>,
    directions: &Directions,
    times: usize,
) -> Result<Output, NotPositiveDefinite> {
    let weights = unwhiten(factor, &DMatrix::from_column_slice(mean.len(), 1, mean.as_slice()), times)?;
    Ok(Output {
        weights: weights.column(0) * kernel.variance.sqrt(),
        directions: unwhiten(factor, &directions.vectors, times)?,
        coefficients: directions.coefficients.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// (I + G/σ²)⁻¹ of a positive G.
    fn posterior(noise: f64, skew: f64) -> Posterior {
        let root = DMatrix::from_fn(6, 6, |i, j| ((3 * i + 5 * j) % 7) as f64 - 3.0 + skew * (i * j) as f64);
        let precision = DMatrix::identity(6, 6) + &root * root.transpose() / noise;
        let covariance = precision.cholesky().unwrap().inverse();
        Posterior { mean: DVector::from_element(6, noise), factor: covariance.cholesky().unwrap().l() }
    }

    fn sum(directions: &Directions) -> DMatrix<f64> {
        &directions.vectors * DMatrix::from_diagonal(&directions.coefficients) * directions.vectors.transpose()
    }

    #[test]
    fn closed_forms_of_different_noise_have_common_directions() {
        let matrices = [0.5, 0.01, 40.0].map(|noise| unexplained(&posterior(noise, 0.0)));
        let common = common_directions(&matrices).unwrap();
        for (matrix, directions) in matrices.iter().zip(&common) {
            assert_eq!(directions.vectors, common[0].vectors);
            assert!((sum(directions) - matrix).norm() < 1e-6, "{}", (sum(directions) - matrix).norm());
        }
    }

    #[test]
    fn others_keep_their_own() {
        let matrices = [unexplained(&posterior(0.5, 0.0)), unexplained(&posterior(0.5, 0.1))];
        assert!(common_directions(&matrices).is_none());
        assert!(common_directions(&matrices[..1]).is_none());
    }
}
