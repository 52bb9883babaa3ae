//! Gauss–Hermite quadrature: E[f(x)] ≈ Σᵢ wᵢ/√π f(μ + √(2v) hᵢ) for x ~ N(μ, v).

use std::sync::LazyLock;

use nalgebra::{DMatrix, SymmetricEigen};

/// Nodes of the quadrature.
const NODES: usize = 20;

/// (hᵢ, wᵢ/√π): eigenvalues of the Jacobi matrix of the Hermite polynomials, squared first entries of its eigenvectors.
pub(super) static GAUSS_HERMITE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    let off_diagonal = |i: usize, j: usize| if i.abs_diff(j) == 1 { (0.5 * i.max(j) as f64).sqrt() } else { 0.0 };
    let eigen = SymmetricEigen::new(DMatrix::from_fn(NODES, NODES, off_diagonal));
    std::array::from_fn(|i| (eigen.eigenvalues[i], eigen.eigenvectors[(0, i)].powi(2)))
});

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;

    use super::*;

    #[test]
    fn quadrature_is_exact_for_the_moments_of_a_normal() {
        // E[(√2 h)^(2k)] = (2k−1)!!
        let moment = |k: i32| GAUSS_HERMITE.iter().map(|(h, w)| w * (SQRT_2 * h).powi(k)).sum::<f64>();
        for (k, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0), (10, 945.0)] {
            assert!((moment(k) - expected).abs() < 1e-11 * expected.max(1.0), "moment {k}: {}", moment(k));
        }
    }
}
