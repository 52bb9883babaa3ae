//! M × M algebra in float64: products, Cholesky factors with a jitter that grows when it must, and the backward pass
//! of the factorisation.
//!
//! Everything runs on the calling thread, so that results do not depend on how many there are.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatRef, Par};
use nalgebra::DMatrix;

use super::ElboError;

/// How often the jitter is raised tenfold before the matrix counts as hopeless.
const RAISES: usize = 8;

/// R with R Rᵀ = C + δ I, and R⁻¹.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    /// R: `[M, M]`, lower triangular.
    pub(crate) lower: Mat<f64>,
    /// R⁻¹: `[M, M]`, lower triangular.
    pub(crate) inverse: Mat<f64>,
    /// The factor by which the jitter had to be raised: 1 when it sufficed.
    pub(crate) raise: f64,
}

impl Factor {
    /// The Cholesky factor of `correlation + jitter I`; a failure raises the jitter tenfold and tries again.
    ///
    /// `what` names the matrix in the error.
    pub(crate) fn new(correlation: &Mat<f64>, jitter: f64, what: &'static str) -> Result<Self, ElboError> {
        let m = correlation.nrows();
        let scratch = cholesky_in_place_scratch::<f64>(m, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let mut raise = 1.0;
        for _ in 0..=RAISES {
            let mut lower = correlation.clone();
            for i in 0..m {
                lower[(i, i)] += jitter * raise;
            }
            let stack = MemStack::new(&mut memory);
            let done =
                cholesky_in_place(lower.as_mut(), Default::default(), Par::Seq, stack, Default::default()).is_ok();
            // A tiny pivot passes the factorisation and then overflows in the inverse.
            if done && (0..m).all(|i| lower[(i, i)] > 0.0 && lower[(i, i)].is_finite()) {
                for j in 1..m {
                    for i in 0..j {
                        lower[(i, j)] = 0.0;
                    }
                }
                let mut inverse = Mat::zeros(m, m);
                invert_lower_triangular(inverse.as_mut(), lower.as_ref(), Par::Seq);
                return Ok(Self { lower, inverse, raise });
            }
            raise *= 10.0;
        }
        Err(ElboError::NotPositiveDefinite { matrix: what, jitter: jitter * raise / 10.0 })
    }

    /// ∂/∂C from H = Σ ā aᵀ over all features a = R⁻¹ρ: symmetric, every entry counted on its own.
    ///
    /// R̄ = −tril(R⁻ᵀ H), then C̄ = sym(R⁻ᵀ Φ(Rᵀ R̄) R⁻¹) where Φ takes the lower triangle and halves its diagonal.
    /// Only the lower triangle of H matters.
    pub(crate) fn backward(&self, h: &Mat<f64>) -> Mat<f64> {
        let m = h.nrows();
        let mut factor_bar = product(self.inverse.transpose(), h.as_ref());
        for j in 0..m {
            for i in 0..m {
                factor_bar[(i, j)] = if i < j { 0.0 } else { -factor_bar[(i, j)] };
            }
        }
        let mut phi = product(self.lower.transpose(), factor_bar.as_ref());
        for j in 0..m {
            phi[(j, j)] *= 0.5;
            for i in 0..j {
                phi[(i, j)] = 0.0;
            }
        }
        let left = product(self.inverse.transpose(), phi.as_ref());
        let full = product(left.as_ref(), self.inverse.as_ref());
        Mat::from_fn(m, m, |i, j| 0.5 * (full[(i, j)] + full[(j, i)]))
    }
}

/// a b.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut c = Mat::zeros(a.nrows(), b.ncols());
    matmul(c.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    c
}

/// A view of a matrix of the parameters.
pub(crate) fn view(matrix: &DMatrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(matrix.as_slice(), matrix.nrows(), matrix.ncols())
}

/// The lower triangle, as a matrix of the parameters.
pub(crate) fn lower_triangle(matrix: &Mat<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| if i < j { 0.0 } else { matrix[(i, j)] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_matrix_raises_the_jitter_and_says_so() {
        let ones = Mat::from_fn(6, 6, |_, _| 1.0);
        let factor = Factor::new(&ones, 1e-18, "test").unwrap();
        assert!(factor.raise >= 10.0);
        let residual = product(factor.lower.as_ref(), factor.lower.transpose()) - &ones;
        let raised = 1e-18 * factor.raise;
        for i in 0..6 {
            for j in 0..6 {
                let expected = if i == j { raised } else { 0.0 };
                assert!((residual[(i, j)] - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_hopeless_matrix_is_an_error_that_names_it() {
        let error = Factor::new(&Mat::from_fn(3, 3, |_, _| f64::NAN), 1e-6, "K_ZZ of the flow").unwrap_err();
        assert!(error.to_string().contains("K_ZZ of the flow"), "{error}");
    }
}
