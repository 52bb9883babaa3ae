//! Student's t distribution, for tails that there are too few rows to count in.
//!
//! ```text
//! P(|t| ≤ √ν tan θ) = ∫₀^θ cos^(ν−1) / ∫₀^(π/2) cos^(ν−1)
//! ```

use std::f64::consts::{FRAC_PI_2, PI};

/// Degrees of freedom that are told apart.
pub(super) const LEAST_FREEDOM: f64 = 2.0;
pub(super) const MOST_FREEDOM: f64 = 100.0;
/// Intervals of Simpson's rule.
const INTERVALS: usize = 400;

/// Log-density at z, of scale 1.
pub(super) fn log_density(z: f64, nu: f64) -> f64 {
    libm::lgamma(0.5 * (nu + 1.0))
        - libm::lgamma(0.5 * nu)
        - 0.5 * (nu * PI).ln()
        - 0.5 * (nu + 1.0) * (z * z / nu).ln_1p()
}

/// t with P(|t| ≤ t) = p.
pub(super) fn central_quantile(p: f64, nu: f64) -> f64 {
    let whole = integral(FRAC_PI_2, nu);
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if integral(middle, nu) < p * whole { low = middle } else { high = middle }
    }
    nu.sqrt() * low.tan()
}

/// ∫₀^θ cos^(ν−1).
fn integral(theta: f64, nu: f64) -> f64 {
    let width = theta / INTERVALS as f64;
    let value = |i: usize| (width * i as f64).cos().max(0.0).powf(nu - 1.0);
    let weight = |i: usize| if i % 2 == 1 { 4.0 } else { 2.0 };
    let inner: f64 = (1..INTERVALS).map(|i| weight(i) * value(i)).sum();
    width / 3.0 * (value(0) + inner + value(INTERVALS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Two-sided, as in every textbook.
        for (p, nu, t) in
            [(0.9, 2.0, 2.919_986), (0.95, 5.0, 2.570_582), (0.99, 10.0, 3.169_273), (0.999, 30.0, 3.645_959)]
        {
            assert!((central_quantile(p, nu) - t).abs() < 2e-5 * t, "{p} {nu}: {}", central_quantile(p, nu));
        }
    }

    #[test]
    fn the_density_is_the_slope_of_the_distribution() {
        for nu in [2.0, 4.5, 50.0] {
            let (p, step) = (0.8, 1e-4);
            let (low, high) = (central_quantile(p - step, nu), central_quantile(p + step, nu));
            let at = central_quantile(p, nu);
            // Both sides count.
            let expected = 2.0 * step / (high - low) / 2.0;
            assert!((log_density(at, nu).exp() / expected - 1.0).abs() < 1e-5, "{nu}");
        }
    }
}
