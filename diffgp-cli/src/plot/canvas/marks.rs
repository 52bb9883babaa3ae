//! The numbers beside an axis.

use std::ops::Range;

use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;

/// How the marks of an axis are written: all alike, with the digits that tell them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marks {
    decimals: usize,
    /// As powers of ten: the numbers would be too long otherwise, or read as zero.
    powers: bool,
    /// Between two marks.
    step: f64,
}

impl Marks {
    /// Of an axis with so many marks at most.
    pub(super) fn of(range: &Range<f64>, most: usize) -> Self {
        let places = places(range, most);
        let step = match places.as_slice() {
            [first, second, ..] => second - first,
            _ => (range.end - range.start).abs(),
        };
        let largest = range.start.abs().max(range.end.abs());
        let digits = largest.log10().floor() - step.log10().floor();
        if largest > 0.0 && !(1e-3..1e6).contains(&largest) && digits.is_finite() {
            return Self { decimals: digits.clamp(0.0, 6.0) as usize, powers: true, step };
        }
        // The first number of decimals that moves no mark by more than a thousandth of the step.
        let exact = |decimals: &usize| {
            let unit = 10_f64.powi(*decimals as i32);
            places.iter().all(|place| ((place * unit).round() / unit - place).abs() <= 1e-3 * step)
        };
        Self { decimals: (0..9).find(exact).unwrap_or(9), powers: false, step }
    }

    pub(super) fn text(self, value: f64) -> String {
        let decimals = self.decimals;
        match self.powers {
            // The mark at zero is the sum of many steps.
            _ if value.abs() < 1e-3 * self.step => "0".to_owned(),
            true => format!("{value:.decimals$e}"),
            false => format!("{value:.decimals$}"),
        }
    }

    /// Every mark of the axis.
    pub(super) fn texts(self, range: &Range<f64>, most: usize) -> Vec<String> {
        places(range, most).into_iter().map(|place| self.text(place)).collect()
    }
}

/// Where the library puts marks.
fn places(range: &Range<f64>, most: usize) -> Vec<f64> {
    RangedCoordf64::from(range.clone()).key_points(BoldPoints(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_the_digits_that_tell_them_apart() {
        for (range, expected) in [
            (0.0..4100.0, &["0", "1000", "2000", "3000", "4000"][..]),
            (-0.1..1.1, &["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            (-2.7..2.1, &["-2", "-1", "0", "1", "2"]),
            (10.0..10.06, &["10.00", "10.02", "10.04", "10.06"]),
            (0.0..900_000.0, &["0", "200000", "400000", "600000", "800000"]),
        ] {
            assert_eq!(Marks::of(&range, 6).texts(&range, 6), expected, "{range:?}");
        }
    }

    #[test]
    fn only_axes_of_small_and_large_numbers_have_powers_of_ten() {
        for range in [-3.0..3.0, 0.0..0.01, 0.0..0.0, 0.0..900_000.0] {
            assert!(!Marks::of(&range, 11).powers, "{range:?}");
        }
        let text = |range: Range<f64>, value: f64| Marks::of(&range, 11).text(value);
        assert_eq!(text(-1.1e-5..1.1e-5, 2e-6), "2.0e-6");
        assert_eq!(text(-1.1e-5..1.1e-5, -1.7e-21), "0");
        assert_eq!(text(0.0..1e29, 5e28), "5.0e28");
        assert_eq!(text(1.0e9..1.001e9, 1.0005e9), "1.0005e9");
    }
}
