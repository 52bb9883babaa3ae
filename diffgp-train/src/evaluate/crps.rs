//! The continuous ranked probability score of a mixture of Gaussians, in the target's units: 0 for a sure and right
//! prediction, |y − mean| for a sure and wrong one.
//!
//! CRPS(F, y) = E|X − y| − ½ E|X − X′| with X, X′ ~ F independent. Both are sums of E|N(m, v)| = A(m, v):
//!
//! A(m, v) = m (2Φ(m/√v) − 1) + 2 √v φ(m/√v),   CRPS = (1/S) Σ_s A(y − m_s, v_s) − (1/2S²) Σ_s Σ_t A(m_s − m_t, v_s + v_t)
//!
//! Cost: S² evaluations of A for S ≤ 256 paths. More are merged in the order of their means into 256 groups with the
//! groups' means and variances. Reference: Grimit et al., Quarterly Journal of the Royal Meteorological Society 132
//! (2006).

use std::f64::consts::{PI, SQRT_2};

/// Components that are compared with each other.
const COMPONENTS: usize = 256;

/// A component: mean and variance.
type Normal = (f64, f64);

/// The score of a mixture of equal weights; `paths` is not empty.
pub fn crps(y: f64, paths: &[(f64, f64)]) -> f64 {
    if paths.len() > COMPONENTS {
        return weighted(y, &merged(paths));
    }
    let share = 1.0 / paths.len() as f64;
    weighted(y, &paths.iter().map(|&path| (share, path)).collect::<Vec<_>>())
}

fn weighted(y: f64, components: &[(f64, Normal)]) -> f64 {
    let mut score = 0.0;
    for (index, &(weight, (mean, variance))) in components.iter().enumerate() {
        score += weight * absolute(y - mean, variance);
        score -= 0.5 * weight * weight * absolute(0.0, 2.0 * variance);
        for &(other_weight, (other_mean, other_variance)) in &components[..index] {
            score -= weight * other_weight * absolute(mean - other_mean, variance + other_variance);
        }
    }
    score
}

/// Groups of about the same size, by ascending mean: (weight, moments).
fn merged(paths: &[Normal]) -> Vec<(f64, Normal)> {
    let mut sorted = paths.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total = sorted.len() as f64;
    let of_group = |group: &[Normal]| {
        let size = group.len() as f64;
        let mean = group.iter().map(|path| path.0).sum::<f64>() / size;
        let variance = group.iter().map(|path| path.1 + (path.0 - mean).powi(2)).sum::<f64>() / size;
        (size / total, (mean, variance))
    };
    sorted.chunks(sorted.len().div_ceil(COMPONENTS)).map(of_group).collect()
}

/// E|X| of X ~ N(mean, variance).
fn absolute(mean: f64, variance: f64) -> f64 {
    let deviation = variance.sqrt();
    if deviation == 0.0 {
        return mean.abs();
    }
    let z = mean / deviation;
    mean * libm::erf(z / SQRT_2) + 2.0 * deviation * (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ (F(x) − [x ≥ y])² dx by the trapezium rule.
    fn integrated(y: f64, paths: &[Normal]) -> f64 {
        let cdf = |x: f64| {
            let of = |&(mean, variance): &Normal| 0.5 * libm::erfc((mean - x) / (2.0 * variance).sqrt());
            paths.iter().map(of).sum::<f64>() / paths.len() as f64
        };
        let integral = |from: f64, to: f64, of: &dyn Fn(f64) -> f64| {
            let steps = 200_000;
            let width = (to - from) / f64::from(steps);
            let inner: f64 = (1..steps).map(|i| of(from + width * f64::from(i))).sum();
            width * (inner + 0.5 * (of(from) + of(to)))
        };
        integral(-40.0, y, &|x| cdf(x).powi(2)) + integral(y, 40.0, &|x| (1.0 - cdf(x)).powi(2))
    }

    #[test]
    fn one_gaussian_by_hand() {
        // CRPS(N(0, 1), 0) = (√2 − 1)/√π.
        assert!((crps(0.0, &[(0.0, 1.0)]) - (2_f64.sqrt() - 1.0) / PI.sqrt()).abs() < 1e-15);
        assert_eq!(crps(3.0, &[(1.0, 0.0)]), 2.0);
        // In units ten times as small, ten times as much.
        assert!((crps(25.0, &[(10.0, 400.0)]) - 10.0 * crps(2.5, &[(1.0, 4.0)])).abs() < 1e-12);
    }

    #[test]
    fn mixtures_agree_with_the_integral() {
        for (y, paths) in [(0.4, vec![(0.0, 1.0), (2.0, 0.3)]), (-3.0, vec![(1.0, 0.2), (1.5, 4.0), (-1.0, 1.0)])] {
            let expected = integrated(y, &paths);
            assert!((crps(y, &paths) - expected).abs() < 1e-7, "{} {expected}", crps(y, &paths));
        }
    }

    #[test]
    fn many_paths_are_merged_and_hardly_another_score() {
        let paths: Vec<Normal> = (0..2000_u32).map(|i| (f64::from(i * 7919 % 2000) / 500.0, 0.3)).collect();
        let all: Vec<_> = paths.iter().map(|&path| (1.0 / 2000.0, path)).collect();
        for y in [-1.0, 1.7, 5.0] {
            assert!((crps(y, &paths) - weighted(y, &all)).abs() < 1e-6);
        }
    }
}
