//! Standardisation: u = (x − mean)/scale, in f32, with mean and scale already rounded to f32.
//!
//! The device divides by the same two f32 numbers, so it sees exactly the inputs that the model was trained on. Mean
//! and deviation are accumulated in f64 in one pass (Welford). Cost: O(N·D), no copy of the data.

use super::Dataset;

/// x ↦ (x − mean)/scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// The mean, rounded to f32.
    pub mean: f32,
    /// The deviation (divisor N), rounded to f32; 1 for a column that does not vary.
    pub scale: f32,
}

/// Smallest and largest raw value of an input seen in training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest.
    pub min: f32,
    /// The largest.
    pub max: f32,
}

/// How raw units become the trainer's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// One per input.
    pub inputs: Vec<Affine>,
    /// The target's; the identity for classes.
    pub target: Affine,
    /// One per input, raw.
    pub ranges: Vec<Range>,
}

impl Affine {
    /// u = x.
    pub const IDENTITY: Self = Self { mean: 0.0, scale: 1.0 };

    /// u = (x − mean)/scale.
    pub fn apply(self, x: f32) -> f32 {
        (x - self.mean) / self.scale
    }
}

impl Scaling {
    /// No scaling of D inputs and the target, ranges without bounds: for models whose units are standardised already.
    pub fn identity(inputs: usize) -> Self {
        Self {
            inputs: vec![Affine::IDENTITY; inputs],
            target: Affine::IDENTITY,
            ranges: vec![Range { min: f32::MIN, max: f32::MAX }; inputs],
        }
    }

    /// Scaling of every column of `data`; the target's is the identity when `standardise_target` is false.
    pub fn of(data: &Dataset, standardise_target: bool) -> Self {
        let mut columns = vec![Moments::new(); data.inputs()];
        let mut target = Moments::new();
        for row in 0..data.rows() {
            for (moments, &value) in columns.iter_mut().zip(data.input_row(row)) {
                moments.add(value);
            }
            target.add(data.targets()[row]);
        }
        Self {
            inputs: columns.iter().map(Moments::affine).collect(),
            target: if standardise_target { target.affine() } else { Affine::IDENTITY },
            ranges: columns.iter().map(|moments| moments.range).collect(),
        }
    }

    /// Inputs that do not vary.
    pub fn constant_inputs(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().enumerate().filter(|(_, range)| range.min == range.max).map(|(column, _)| column)
    }

    /// The first input whose extremes are not finite once standardised.
    pub fn overflowing_input(&self) -> Option<usize> {
        self.inputs
            .iter()
            .zip(&self.ranges)
            .position(|(affine, range)| !(affine.apply(range.min).is_finite() && affine.apply(range.max).is_finite()))
    }

    /// Appends the standardised inputs of one raw row.
    pub fn push_row(&self, raw: &[f32], standardised: &mut Vec<f32>) {
        standardised.extend(self.inputs.iter().zip(raw).map(|(affine, &x)| affine.apply(x)));
    }
}

/// Running count, mean and sum of squared differences.
#[derive(Clone, Debug)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    range: Range,
}

impl Moments {
    fn new() -> Self {
        Self { count: 0.0, mean: 0.0, squares: 0.0, range: Range { min: f32::INFINITY, max: f32::NEG_INFINITY } }
    }

    fn add(&mut self, value: f32) {
        self.range.min = self.range.min.min(value);
        self.range.max = self.range.max.max(value);
        let value = f64::from(value);
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    fn affine(&self) -> Affine {
        if self.range.min == self.range.max {
            return Affine { mean: self.range.min, scale: 1.0 };
        }
        let scale = (self.squares / self.count).sqrt() as f32;
        // Deviations below f32's normal range cannot be divided by.
        Affine { mean: self.mean as f32, scale: if scale.is_normal() { scale } else { 1.0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_by_hand() {
        let data = Dataset::new(vec![1.0, 7.0, 3.0, 7.0], vec![10.0, 30.0], 2).unwrap();
        let scaling = Scaling::of(&data, true);
        assert_eq!(scaling.inputs, [Affine { mean: 2.0, scale: 1.0 }, Affine { mean: 7.0, scale: 1.0 }]);
        assert_eq!(scaling.target, Affine { mean: 20.0, scale: 10.0 });
        assert_eq!(scaling.ranges[0], Range { min: 1.0, max: 3.0 });
        assert_eq!(scaling.constant_inputs().collect::<Vec<_>>(), [1]);
        assert_eq!(Scaling::of(&data, false).target, Affine::IDENTITY);
        let mut row = Vec::new();
        scaling.push_row(data.input_row(1), &mut row);
        assert_eq!(row, [1.0, 0.0]);
    }

    #[test]
    fn a_large_mean_does_not_swallow_the_deviation() {
        // 16777216 = 2²⁴: the naive Σx² − (Σx)²/N has no correct digit here.
        let x: Vec<f32> = (0..1000).map(|i| 16_777_216.0 + 2.0 * (i % 2) as f32).collect();
        let data = Dataset::new(x, vec![0.0; 1000], 1).unwrap();
        assert_eq!(Scaling::of(&data, true).inputs[0], Affine { mean: 16_777_217.0_f64 as f32, scale: 1.0 });
    }

    #[test]
    fn extremes_that_overflow_are_found() {
        let data = Dataset::new(vec![-3e38, 3e38, 3e38], vec![0.0; 3], 1).unwrap();
        assert_eq!(Scaling::of(&data, true).overflowing_input(), Some(0));
        let data = Dataset::new(vec![0.0, 1.0], vec![0.0; 2], 1).unwrap();
        assert_eq!(Scaling::of(&data, true).overflowing_input(), None);
    }
}
