//! How far the values of a column lie apart before they are rounded to f32.

/// Differences below this share of the values are what is left of computing them in f64.
const F64_NOISE: f64 = 1e-13;

/// The smallest and the largest value so far, as they stand in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    min: f64,
    max: f64,
}

impl Spread {
    /// Of no values.
    pub(super) const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    pub(super) fn add(&mut self, value: f64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The largest difference that rounding hides: 0 unless all values become the same f32.
    pub(super) fn hidden(&self) -> f64 {
        let width = self.max - self.min;
        let noise = F64_NOISE * self.min.abs().max(self.max.abs());
        if self.min as f32 == self.max as f32 && width > noise { width } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(values: &[f64]) -> f64 {
        let mut spread = Spread::EMPTY;
        values.iter().for_each(|&value| spread.add(value));
        spread.hidden()
    }

    #[test]
    fn differences_that_f32_cannot_hold_are_hidden() {
        assert_eq!(hidden(&[1.7e9, 1.7e9 + 30.0, 1.7e9 + 7.0]), 30.0);
        assert_eq!(hidden(&[1e-50, 3e-50]), 3e-50 - 1e-50);
        assert_eq!(hidden(&[1.7e9, 1.7e9 + 1000.0]), 0.0);
        assert_eq!(hidden(&[1.0, 1.000_001]), 0.0);
    }

    #[test]
    fn constants_are_not_hidden_differences_even_if_they_were_computed() {
        assert_eq!(hidden(&[]), 0.0);
        assert_eq!(hidden(&[5.0]), 0.0);
        assert_eq!(hidden(&[5.0, 5.0]), 0.0);
        assert_eq!(hidden(&[0.3, 0.1 + 0.2]), 0.0);
    }
}
