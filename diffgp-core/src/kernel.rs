//! Stationary kernels k(x,z) = s² ρ(r²) over the scaled squared distance r² = Σᵢ ((xᵢ−zᵢ)/ℓᵢ)².
//!
//! | kind | number | ρ(r²) | c |
//! |---|---|---|---|
//! | RBF | 0 | exp(−r²/2) = 2^(−c²r²) | √(log₂e / 2) |
//! | Matérn 3/2 | 1 | (1 + q) exp(−q), q = c r | √3 |
//! | Matérn 5/2 | 2 | (1 + q + q²/3) exp(−q), q = c r | √5 |
//!
//! ρ(0) = 1 and 0 ≤ ρ ≤ 1 for every kind, up to one rounding in f32. The constant c is folded into the reciprocal
//! length-scales that the blob stores, so the device evaluates ρ from q² = c²r² with nothing left to multiply.
//! Accuracy in f32, given q² (see the test): relative error below 1.1e-7 (RBF) and 1.1e-6 (Matérn up to q² = 100, 8e-6
//! beyond, where ρ < 2e-3); the error of q² itself comes on top.

use crate::exp2::exp2_neg;
use crate::rolled::keep_rolled;

/// q² beyond which exp(−q) has reached the smallest normal number: keeps ∞·0 away from the Matérn kernels.
const VANISHED: f32 = 7.7e3;

/// Which correlation function ρ a Gaussian process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KernelKind {
    /// Squared exponential: infinitely smooth.
    Rbf = 0,
    /// Matérn with ν = 3/2: once differentiable.
    Matern32 = 1,
    /// Matérn with ν = 5/2: twice differentiable.
    Matern52 = 2,
}

impl KernelKind {
    /// The kind with this number in the blob format, if there is one.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Rbf),
            1 => Some(Self::Matern32),
            2 => Some(Self::Matern52),
            _ => None,
        }
    }

    /// The number of this kind in the blob format.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// c, by which reciprocal length-scales are multiplied before they are stored.
    pub fn distance_scale(self) -> f64 {
        match self {
            Self::Rbf => libm::sqrt(0.5 * core::f64::consts::LOG2_E),
            Self::Matern32 => libm::sqrt(3.0),
            Self::Matern52 => libm::sqrt(5.0),
        }
    }

    /// ρ from q² = c² r², in single precision: what the device computes.
    #[inline(always)]
    pub fn correlation(self, q2: f32) -> f32 {
        match self {
            Self::Rbf => exp2_neg(q2),
            _ => self.matern(q2),
        }
    }

    /// q² → ρ, in place. Inlined, so that it is compiled for speed with the runtime even where this crate is compiled
    /// for size.
    #[inline(always)]
    pub fn correlate(self, values: &mut [f32]) {
        for value in values {
            keep_rolled();
            *value = self.correlation(*value);
        }
    }

    /// (1 + q + q²/3) exp(−q) for ν = 5/2, (1 + q) exp(−q) for ν = 3/2.
    #[inline(never)]
    fn matern(self, q2: f32) -> f32 {
        let q2 = q2.min(VANISHED);
        let q = crate::sqrt::sqrt(q2);
        let curvature = if self == Self::Matern52 { q2 * (1.0 / 3.0) } else { 0.0 };
        (1.0 + q + curvature) * exp2_neg(q * core::f32::consts::LOG2_E)
    }

    /// ρ from r² = Σᵢ ((xᵢ−zᵢ)/ℓᵢ)², in double precision.
    pub fn correlation_f64(self, r2: f64) -> f64 {
        match self {
            Self::Rbf => libm::exp(-0.5 * r2),
            Self::Matern32 => {
                let q = libm::sqrt(3.0 * r2);
                (1.0 + q) * libm::exp(-q)
            }
            Self::Matern52 => {
                let q = libm::sqrt(5.0 * r2);
                (1.0 + q + q * q / 3.0) * libm::exp(-q)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KernelKind::{self, Matern32, Matern52, Rbf};

    const ALL: [KernelKind; 3] = [Rbf, Matern32, Matern52];

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn single_precision_agrees_with_double_until_correlations_vanish() {
        for kind in ALL {
            let c2 = kind.distance_scale() * kind.distance_scale();
            let worst = |mut q2: core::ops::Range<f64>, step: f64| {
                let mut worst = 0.0_f64;
                while q2.start < q2.end {
                    let single = q2.start as f32;
                    let exact = kind.correlation_f64(f64::from(single) / c2);
                    worst = worst.max((f64::from(kind.correlation(single)) - exact).abs() / exact);
                    q2.start += step;
                }
                worst
            };
            // Matérn adds the rounding of √q², 1 + q and q·log₂e, which grows with q.
            let bound = if kind == Rbf { 1.1e-7 } else { 1.1e-6 };
            assert!(worst(0.0..100.0, 1e-3) < bound, "{kind:?}: {:e}", worst(0.0..100.0, 1e-3));
            // Up to where the exponential is at its smallest.
            let (end, bound) = if kind == Rbf { (126.0, bound) } else { (7600.0, 8e-6) };
            assert!(worst(100.0..end, 0.05) < bound, "{kind:?}: {:e}", worst(100.0..end, 0.05));
        }
    }

    #[test]
    fn every_kind_is_one_at_zero_and_leaves_the_unit_interval_by_a_rounding_at_most() {
        for kind in ALL {
            assert_eq!(kind.correlation(0.0), 1.0);
            assert_eq!(kind.correlation_f64(0.0), 1.0);
            for q2 in [1e-30, 1e-3, 1.0, 50.0, 1e4, 1e30, f32::MAX, f32::INFINITY] {
                let rho = kind.correlation(q2);
                assert!((0.0..=1.0).contains(&rho), "{kind:?} at {q2}: {rho}");
            }
            // Where ρ is next to one, 1 + q + q²/3 and exp(−q) are rounded apart.
            for q2 in (0..10_000_u16).map(|i| f32::from(i) * 1e-7) {
                let rho = kind.correlation(q2);
                assert!((0.99..=1.0 + f32::EPSILON).contains(&rho), "{kind:?} at {q2}: {rho}");
            }
        }
    }

    #[test]
    fn smoothness_orders_the_kinds_near_zero() {
        // 1 − ρ ~ r²/2 (RBF), 3r²/2 (ν = 3/2), 5r²/6 (ν = 5/2).
        let r2 = 1e-8;
        for (kind, slope) in [(Rbf, 0.5), (Matern32, 1.5), (Matern52, 5.0 / 6.0)] {
            let slope_seen = (1.0 - kind.correlation_f64(r2)) / r2;
            assert!((slope_seen - slope).abs() < 1e-3, "{kind:?}: {slope_seen}");
        }
    }

    #[test]
    fn numbers_of_the_format_round_trip() {
        for kind in ALL {
            assert_eq!(KernelKind::from_number(kind.number()), Some(kind));
        }
        assert_eq!(KernelKind::from_number(3), None);
    }
}
