//! The quantiles of a calibration.
//!
//! Of n sizes z = |y − m|/s the ⌈(n + 1) p⌉-th is larger than that of a new row with probability at least p, if all rows
//! come in random order (conformal prediction). Where fewer than ten rows lie beyond it, it would hang on single rows: there
//! the quantile is that of a Student-t distribution fitted to all of them.

use diffgp_core::blob::{CALIBRATED_LEVELS, limits};

use super::student;

/// Rows beyond a quantile that is counted.
const ROWS_BEYOND: f64 = 10.0;

/// q_j of these sizes, which are in ascending order.
pub(super) fn conformal(sizes: &[f64]) -> [f32; 8] {
    let n = sizes.len() as f64;
    let (nu, scale) = fit_student(sizes);
    let (least, most) = (f64::from(*limits::QUANTILE.start()), f64::from(*limits::QUANTILE.end()));
    let mut before = least;
    CALIBRATED_LEVELS.map(|level| {
        let level = f64::from(level);
        let quantile = if n * (1.0 - level) >= ROWS_BEYOND {
            let place = ((n + 1.0) * level).ceil() as usize;
            sizes[place.clamp(1, sizes.len()) - 1]
        } else {
            scale * student::central_quantile(level, nu)
        };
        before = quantile.clamp(before, most);
        before as f32
    })
}

/// ν and scale of the Student-t distribution under which the sizes are most likely.
fn fit_student(sizes: &[f64]) -> (f64, f64) {
    let mean_square = sizes.iter().map(|z| z * z).sum::<f64>() / sizes.len() as f64;
    let likelihood =
        |nu: f64, scale: f64| sizes.iter().map(|z| student::log_density(z / scale, nu) - scale.ln()).sum::<f64>();
    // For every ν the best scale by its fixed point: scale² = mean of (ν + 1) z² / (ν + z²/scale²).
    let of = |nu: f64| {
        let mut square = mean_square.max(f64::MIN_POSITIVE);
        for _ in 0..100 {
            let weighted = |z: &f64| (nu + 1.0) * z * z / (nu + z * z / square);
            square = (sizes.iter().map(weighted).sum::<f64>() / sizes.len() as f64).max(f64::MIN_POSITIVE);
        }
        (nu, square.sqrt())
    };
    let candidates = [LEAST, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0, 50.0, MOST].map(of);
    let better = |a: (f64, f64), b: (f64, f64)| if likelihood(b.0, b.1) > likelihood(a.0, a.1) { b } else { a };
    candidates.into_iter().reduce(better).unwrap_or((MOST, 1.0))
}

use student::{LEAST_FREEDOM as LEAST, MOST_FREEDOM as MOST};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_counting() {
        // 1 … 999: the ⌈1000 p⌉-th is 1000 p.
        let sizes: Vec<f64> = (1..1000).map(|i| f64::from(i) * 1e-3).collect();
        let found = conformal(&sizes);
        for (level, q) in CALIBRATED_LEVELS.into_iter().zip(found).take(6) {
            assert!((q - level).abs() < 1.1e-3, "{level}: {q}");
        }
        assert!(found.is_sorted());
    }

    #[test]
    fn the_far_tail_is_that_of_a_student_distribution() {
        for (nu, scale) in [(3.0, 0.5), (12.0, 2.0)] {
            let count = 400;
            let size = |i: i32| scale * student::central_quantile((f64::from(i) + 0.5) / f64::from(count), nu);
            let sizes: Vec<f64> = (0..count).map(size).collect();
            let expected = scale * student::central_quantile(0.999, nu);
            let [.., last] = conformal(&sizes);
            assert!((f64::from(last) / expected - 1.0).abs() < 0.1, "{nu}: {last} {expected}");
        }
    }

    #[test]
    fn sizes_that_are_all_the_same_or_zero_have_quantiles() {
        for value in [0.0, 1.0, 1e9] {
            let found = conformal(&[value; 30]);
            assert!(found.iter().all(|q| limits::QUANTILE.contains(q)) && found.is_sorted(), "{value}: {found:?}");
        }
    }
}
