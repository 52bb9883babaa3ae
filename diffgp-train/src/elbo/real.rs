//! The number types of the batch work, and its exponential.
//!
//! eˣ for x ≤ 0: x = n ln 2 + r with |r| ≤ ln 2 / 2, eˣ = 2ⁿ Σ rᵏ/k!, the sum cut where its rest is below half a unit
//! in the last place. Only fused multiply-adds and integer shifts, no table and no branch, so that a loop over it is
//! vectorised. Relative error below 3 ε; arguments below the smallest exponent give that exponent's value (about
//! 1e-38 or 1e-308) instead of zero, which no sum here can tell from zero.

use std::sync::Mutex;

use faer::traits::RealField;

use super::workspace::Workspace;
use crate::exchange::{Exchange, ExchangeError};
use crate::threads::Threads;

/// A floating-point type in which batches are evaluated: `f32` for training, `f64` for checks.
pub trait Real: RealField + Copy + Default + Send + Sync + 'static {
    /// The value nearest to x.
    fn from_f64(x: f64) -> Self;
    /// The value itself.
    fn to_f64(self) -> f64;
    /// √x.
    fn root(self) -> Self;
    /// self·a + b, rounded once: one instruction inside a vectorised loop, a slow call elsewhere.
    fn fused(self, a: Self, b: Self) -> Self;
    /// eˣ for x ≤ 0.
    fn exp_nonpositive(self) -> Self;
    /// The workspaces of this type that threads keep from one evaluation to the next.
    #[doc(hidden)]
    fn workspaces(threads: &Threads) -> &Mutex<Vec<Workspace<Self>>>;
    /// What all processes together have, `length` numbers, from what each has.
    #[doc(hidden)]
    fn gather(exchange: &dyn Exchange, own: Vec<Self>, length: usize) -> Result<Vec<Self>, ExchangeError>;
}

macro_rules! real {
    ($type:ident, $bits:ident, $mantissa:expr, $lowest:expr, $ln2_high:expr, $ln2_low:expr, $terms:expr, $pool:ident) => {
        impl Real for $type {
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            #[inline(always)]
            fn exp_nonpositive(self) -> Self {
                // Adding 1.5·2^mantissa rounds to an integer and leaves it in the low bits.
                const ROUND: $type = 1.5 * (1_u64 << $mantissa) as $type;
                const LN2_HIGH: $type = $ln2_high;
                const LN2_LOW: $type = $ln2_low;
                const COEFFICIENTS: [$type; $terms] = inverse_factorials!($type, $terms);
                // Written so that a NaN stays one.
                let x = if self < $lowest { $lowest } else { self };
                let shifted = x.fused(std::$type::consts::LOG2_E, ROUND);
                let n = shifted - ROUND;
                let r = n.fused(-LN2_LOW, n.fused(-LN2_HIGH, x));
                let mut sum = COEFFICIENTS[$terms - 1];
                for &coefficient in COEFFICIENTS[..$terms - 1].iter().rev() {
                    sum = sum.fused(r, coefficient);
                }
                // 2ⁿ: n sits in the low bits of `shifted`; it is added to the exponent of 1.
                let one: $bits = (1.0 as $type).to_bits();
                sum * $type::from_bits((shifted.to_bits() << $mantissa).wrapping_add(one))
            }

            fn workspaces(threads: &Threads) -> &Mutex<Vec<Workspace<Self>>> {
                &threads.$pool
            }

            fn gather(exchange: &dyn Exchange, own: Vec<Self>, length: usize) -> Result<Vec<Self>, ExchangeError> {
                exchange.gather(own, length)
            }
        }
    };
}

macro_rules! inverse_factorials {
    ($type:ident, $terms:expr) => {{
        let mut coefficients = [1.0; $terms];
        let mut factorial = 1.0_f64;
        let mut k = 1;
        while k < $terms {
            factorial *= k as f64;
            coefficients[k] = (1.0 / factorial) as $type;
            k += 1;
        }
        coefficients
    }};
}

// ln 2 is split so that n times its high part is exact for every exponent n.
real!(f32, u32, 23, -87.0, 0.693_359_4, -2.121_944_4e-4, 8, single);
real!(f64, u64, 52, -708.0, 0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10, 14, double);

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn exponential_is_within_three_units_of_the_last_place() {
        for i in 0..40_000 {
            let x = -f64::from(i) * 0.002_113;
            let error = x.exp_nonpositive() / x.exp() - 1.0;
            assert!(error.abs() < 3.0 * f64::EPSILON, "f64 e^{x}: {error:e}");
            let single = x as f32;
            let error = f64::from(single.exp_nonpositive()) / f64::from(single).exp() - 1.0;
            assert!(error.abs() < 3.0 * f64::from(f32::EPSILON), "f32 e^{x}: {error:e}");
        }
        assert_eq!(0.0_f32.exp_nonpositive(), 1.0);
        assert_eq!(0.0_f64.exp_nonpositive(), 1.0);
        assert!((-1e30_f32).exp_nonpositive() < 1e-37);
        assert!((-1e30_f64).exp_nonpositive() < 1e-300);
    }

    #[test]
    fn exponential_of_nan_is_nan() {
        assert!(f32::NAN.exp_nonpositive().is_nan() && f64::NAN.exp_nonpositive().is_nan());
    }
}
