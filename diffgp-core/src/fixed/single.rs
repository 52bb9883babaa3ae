//! Singles of a model file where nothing is computed in singles.

/// A single, as an integer times a power of two. A subnormal number is taken for zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single {
    mantissa: i32,
    exponent: i32,
}

/// The largest factor of [`Single::times`], and the largest product.
const LARGEST: i64 = (1 << 38) - 1;
const MOST: i64 = 1 << 62;

impl Single {
    /// Of a finite number.
    #[inline(never)]
    pub fn new(x: f32) -> Self {
        let bits = x.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32;
        let mantissa = if exponent == 0 { 0 } else { (bits & 0x7f_ffff | 0x80_0000) as i32 };
        Self { mantissa: if bits >> 31 == 0 { mantissa } else { -mantissa }, exponent: exponent - 150 }
    }

    /// Its product with itself, cut off to a single.
    #[must_use]
    pub fn squared(self) -> Self {
        let product = i64::from(self.mantissa) * i64::from(self.mantissa);
        Self { mantissa: (product >> 24) as i32, exponent: 2 * self.exponent + 24 }
    }

    /// Its product with another in Qn, likewise.
    pub fn times_single(self, other: Self, digits: i32) -> i64 {
        self.times(other.mantissa.into(), other.exponent + digits)
    }

    /// Its product with x in Qn, to the nearest, for n = `digits` more than x has; ±2⁶² at most, so that two of them have a
    /// sum.
    #[inline(never)]
    pub fn times(self, x: i64, digits: i32) -> i64 {
        let product = i64::from(self.mantissa) * x.clamp(-LARGEST, LARGEST);
        let shift = self.exponent + digits;
        if shift <= 0 {
            // Half a unit more, then down; of what is shifted away altogether nothing is left.
            let halved = product >> shift.wrapping_add(1).wrapping_neg().clamp(0, 63) as u32;
            return if shift == 0 { product } else { (halved + 1) >> 1 };
        }
        if shift.unsigned_abs() < product.unsigned_abs().leading_zeros() {
            return (product << (shift & 63)).clamp(-MOST, MOST);
        }
        if product == 0 { 0 } else { product.signum() * MOST }
    }

    /// `mean` + its product with x in Qn, in Qm: for m = `digits` and n = m − `more`; the nearest 32-bit number.
    #[inline(never)]
    pub fn affine(self, x: i64, more: i32, mean: Self, digits: i32) -> i32 {
        saturated(mean.times(1, digits) + self.times(x, more))
    }
}

/// The nearest number that there is.
#[inline(never)]
pub fn saturated(x: i64) -> i32 {
    x.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

#[cfg(test)]
mod tests {
    use super::Single;

    #[test]
    fn products_are_those_of_singles_to_the_nearest() {
        for a in [1.0_f32, -1.0, 0.3, -17.25, 1e-9, 3.7e12, f32::MIN_POSITIVE, 0.0] {
            for x in [0_i64, 1, -1, 77, -12_345_678, (1 << 37) + 5] {
                for digits in [-30, -1, 0, 1, 24] {
                    let exact = f64::from(a) * x as f64 * libm::exp2(f64::from(digits));
                    let found = Single::new(a).times(x, digits) as f64;
                    if exact.abs() < 4e18 {
                        assert!(
                            (found - exact).abs() <= 0.5 + 1e-15 * exact.abs(),
                            "{a} {x} {digits}: {found} {exact}"
                        );
                    } else {
                        assert!(found.abs() > 4e18 && found.signum() == exact.signum());
                    }
                }
            }
        }
    }

    #[test]
    fn squares_are_close_and_what_is_too_large_stops() {
        for a in [1.0_f32, 30.0, 1e-3, -2.5] {
            let (square, exact) =
                (Single::new(a).squared().times(1 << 20, 10) as f64, f64::from(a) * f64::from(a) * 1_073_741_824.0);
            assert!((square - exact).abs() <= 2.5e-7 * exact + 1.0, "{a}: {square} {exact}");
        }
        assert_eq!(Single::new(f32::MAX).times(i64::MAX, 100), 1 << 62);
        assert_eq!(Single::new(f32::MIN).times(i64::MAX, 100), -1 << 62);
        assert_eq!(Single::new(1e-40).times(i64::MAX, 100), 0);
    }
}
