//! Rounding a vector to integers so that its products with features hardly change.
//!
//! Rounding every element by itself makes errors that add up in v·φ(x). But features are smooth functions of x, and
//! many combinations of them hardly vary: errors may be moved there. With E[φφᵀ] = L Lᵀ, the mean square error of v·φ is
//! |Lᵀ(v − t n)|², and going through the triangular Lᵀ from its last row, every integer is chosen such that it makes up
//! for the errors of those before it (Babai's nearest plane). The error is at most Σ L_ii² t²/4, where rounding alone
//! has up to t²/4 times the largest eigenvalue of L Lᵀ. L must come from a pivoted factorisation: then what is passed
//! on stays small.

use nalgebra::{DMatrix, DVector};

/// Integers n within ±`largest`, and the unit t, with t n·φ ≈ v·φ.
pub(super) fn round(v: &DVector<f64>, factor: &DMatrix<f64>, largest: f64) -> (Vec<i32>, f64) {
    let peak = v.amax();
    if peak == 0.0 {
        return (vec![0; v.len()], 1.0);
    }
    let mut unit = peak / largest;
    // What is passed on may exceed the range; a coarser unit makes room. Were it never enough, clamping is still right,
    // only less accurate.
    for _ in 0..4 {
        let (integers, clamped) = nearest_plane(v, factor, unit, largest);
        if !clamped {
            return (integers, unit);
        }
        unit *= 1.25;
    }
    (nearest_plane(v, factor, unit, largest).0, unit)
}

/// Integers in a given unit, and whether some of them had to be cut off at `largest`.
pub(super) fn nearest_plane(v: &DVector<f64>, factor: &DMatrix<f64>, unit: f64, largest: f64) -> (Vec<i32>, bool) {
    let size = v.len();
    let mut integers = vec![0; size];
    let mut clamped = false;
    // Errors v − t n of the elements that are settled.
    let mut errors = vec![0.0; size];
    for i in (0..size).rev() {
        let passed_on: f64 = (i + 1..size).map(|j| factor[(j, i)] * errors[j]).sum();
        let wanted = (v[i] + passed_on / factor[(i, i)]) / unit;
        let rounded = wanted.round();
        let integer = rounded.clamp(-largest, largest);
        clamped |= integer != rounded;
        integers[i] = integer as i32;
        errors[i] = v[i] - unit * integer;
    }
    (integers, clamped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features of neighbours on a line: nearly dependent.
    fn smooth_factor(size: usize) -> DMatrix<f64> {
        let gram = DMatrix::from_fn(size, size, |i, j| {
            let distance = (i as f64 - j as f64) / 6.0;
            (-0.5 * distance * distance).exp() + if i == j { 1e-6 } else { 0.0 }
        });
        // In an order in which pivots fall: first the ends and the middle, then what is between.
        gram.cholesky().unwrap().unpack()
    }

    #[test]
    fn errors_land_where_features_do_not_vary() {
        let factor = smooth_factor(30);
        let v = DVector::from_fn(30, |i, _| (i as f64 * 0.7).sin());
        let (integers, unit) = round(&v, &factor, 127.0);
        let error = |n: &dyn Fn(usize) -> f64| {
            let difference = DVector::from_fn(30, |i, _| v[i] - unit * n(i));
            (factor.transpose() * difference).norm()
        };
        let clever = error(&|i| f64::from(integers[i]));
        let plain = error(&|i| (v[i] / unit).round());
        assert!(clever < 0.2 * plain, "{clever} against {plain}");
        let bound: f64 = (0..30).map(|i| (factor[(i, i)] * unit / 2.0).powi(2)).sum::<f64>().sqrt();
        assert!(clever <= bound * (1.0 + 1e-9), "{clever}, bound {bound}");
    }

    #[test]
    fn independent_features_are_rounded_one_by_one() {
        let v = DVector::from_vec(vec![1.0, -0.3, 0.26]);
        let (integers, unit) = round(&v, &DMatrix::identity(3, 3), 10.0);
        assert_eq!((integers, unit), (vec![10, -3, 3], 0.1));
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(round(&DVector::zeros(2), &DMatrix::identity(2, 2), 127.0), (vec![0, 0], 1.0));
    }
}
