//! Standardisation: u = (x − mean)/scale, in f32, with mean and scale already rounded to f32.
//!
//! The device multiplies by the reciprocal of the scale, rounded to f32: its inputs are those that the model was trained
//! on up to the last bit. What that and all other rounding on the device changes is measured at export. Mean and
//! deviation are accumulated in f64 in one pass (Welford). Cost: O(N·D), no copy of the data.

use diffgp_core::blob::limits::{SCALE, TARGET_SCALE};

use super::Dataset;

/// Steps of f32 that are a larger share of a column's deviation are worth a word.
pub const COARSE: f64 = 1e-3;

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
    /// One per target; the identity for classes.
    pub targets: Vec<Affine>,
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

    /// The step between f32 numbers as large as `x`, in deviations, if it is coarse.
    pub fn coarse_step(self, x: f32) -> Option<f64> {
        let step = f64::from(x.abs() - x.abs().next_down()) / f64::from(self.scale);
        (step > COARSE).then_some(step)
    }
}

impl Scaling {
    /// No scaling of D inputs and O targets, ranges without bounds: for models whose units are standardised already.
    pub fn identity(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs: vec![Affine::IDENTITY; inputs],
            targets: vec![Affine::IDENTITY; outputs],
            ranges: vec![Range { min: f32::MIN, max: f32::MAX }; inputs],
        }
    }

    /// Scaling of every column of `data`; that of targets is the identity when `standardise_targets` is false.
    pub fn of(data: &Dataset, standardise_targets: bool) -> Self {
        let mut columns = vec![ColumnStatistics::new(); data.inputs()];
        let mut targets = vec![ColumnStatistics::new(); data.outputs()];
        for row in 0..data.rows() {
            let inputs = columns.iter_mut().zip(data.input_row(row));
            for (moments, &value) in inputs.chain(targets.iter_mut().zip(data.target_row(row))) {
                moments.add(value);
            }
        }
        Self {
            inputs: columns.iter().map(ColumnStatistics::affine).collect(),
            targets: targets
                .iter()
                .map(|moments| if standardise_targets { moments.affine() } else { Affine::IDENTITY })
                .collect(),
            ranges: columns.iter().map(|moments| moments.range).collect(),
        }
    }

    /// Inputs that do not vary.
    pub fn constant_inputs(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().enumerate().filter(|(_, range)| range.min == range.max).map(|(column, _)| column)
    }

    /// Inputs that vary in coarse steps of f32, and those steps in deviations.
    pub fn coarse_inputs(&self) -> impl Iterator<Item = (usize, f64)> {
        let columns = self.inputs.iter().zip(&self.ranges).enumerate();
        columns.filter(|(_, (_, range))| range.min < range.max).filter_map(|(column, (affine, range))| {
            let step = affine.coarse_step(range.min.abs().max(range.max.abs()))?;
            Some((column, step))
        })
    }

    /// The first input that f32 cannot standardise: too large, or varying too little.
    pub fn unusable_input(&self) -> Option<usize> {
        self.inputs.iter().zip(&self.ranges).position(|(affine, range)| {
            let finite = affine.apply(range.min).is_finite() && affine.apply(range.max).is_finite();
            // The model file holds the reciprocal.
            let storable = SCALE.contains(&affine.scale) && SCALE.contains(&affine.scale.recip());
            let width = f64::from(range.max) - f64::from(range.min);
            !(finite && storable) || (width > 0.0 && width < f64::from(*SCALE.start()))
        })
    }

    /// The first target in whose units, squared, the variance of a prediction has no room in f32.
    pub fn unusable_target(&self) -> Option<usize> {
        self.targets.iter().position(|target| !TARGET_SCALE.contains(&target.scale) || target.mean.abs() > 1e30)
    }

    /// Appends the standardised inputs of one raw row.
    pub fn push_row(&self, raw: &[f32], standardised: &mut Vec<f32>) {
        standardised.extend(self.inputs.iter().zip(raw).map(|(affine, &x)| affine.apply(x)));
    }
}

/// Running count, mean and sum of squared differences.
#[derive(Clone, Debug)]
struct ColumnStatistics {
    count: f64,
    mean: f64,
    squares: f64,
    range: Range,
}

impl ColumnStatistics {
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
        // Of a column that varies it is never zero: what cannot be divided by is found by its size.
        let scale = ((self.squares / self.count).sqrt() as f32).max(f32::from_bits(1));
        Affine { mean: self.mean as f32, scale }
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
        assert_eq!(scaling.targets, [Affine { mean: 20.0, scale: 10.0 }]);
        assert_eq!(scaling.ranges[0], Range { min: 1.0, max: 3.0 });
        assert_eq!(scaling.constant_inputs().collect::<Vec<_>>(), [1]);
        assert_eq!(Scaling::of(&data, false).targets, [Affine::IDENTITY]);
        let pairs = Dataset::with_outputs(vec![0.0, 1.0], vec![10.0, 1.0, 30.0, 5.0], 1, 2).unwrap();
        assert_eq!(
            Scaling::of(&pairs, true).targets,
            [(20.0, 10.0), (3.0, 2.0)].map(|(mean, scale)| Affine { mean, scale })
        );
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
    fn columns_that_f32_cannot_standardise_are_found() {
        let unusable = |x: &[f32]| {
            let data = Dataset::new(x.to_vec(), vec![0.0; x.len()], 1).unwrap();
            Scaling::of(&data, true).unusable_input()
        };
        assert_eq!(unusable(&[-3e38, 3e38, 3e38]), Some(0));
        assert_eq!(unusable(&[0.0, 1e31]), Some(0));
        assert_eq!(unusable(&[0.0, 1e-31]), Some(0));
        assert_eq!(unusable(&[1e-40, 2e-40]), Some(0));
        for usable in [[0.0, 1.0], [0.0, 1e30], [0.0, 1e-29], [5.0, 5.0], [0.0, 0.0]] {
            assert_eq!(unusable(&usable), None, "{usable:?}");
        }
    }

    #[test]
    fn columns_far_from_zero_are_coarse() {
        let coarse = |x: [f32; 2]| {
            let data = Dataset::new(x.to_vec(), vec![0.0; 2], 1).unwrap();
            Scaling::of(&data, true).coarse_inputs().collect::<Vec<_>>()
        };
        // The step below 2³¹ is 128.
        assert_eq!(coarse([1.7e9, 1.7e9 + 256.0]), [(0, 1.0)]);
        assert_eq!(coarse([-1.7e9, -1.7e9 - 1280.0]), [(0, 0.2)]);
        for fine in [[1.7e9, 1.7e9 + 1e6], [290.0, 291.0], [0.0, 1e-28], [1.7e9, 1.7e9]] {
            assert_eq!(coarse(fine), [], "{fine:?}");
        }
    }

    #[test]
    fn targets_whose_variance_overflows_are_found() {
        let usable = |y: [f32; 2]| {
            Scaling::of(&Dataset::new(vec![0.0, 1.0], y.to_vec(), 1).unwrap(), true).unusable_target().is_none()
        };
        assert!(usable([0.0, 1e18]) && usable([3.0, 3.0]) && usable([0.0, 1e-14]));
        assert!(!usable([0.0, 1e20]) && !usable([0.0, 1e-20]));
        // Deviations that f32 holds with few digits, or not at all.
        assert!(!usable([0.0, 1e-38]) && !usable([0.0, 1e-40]) && !usable([0.0, 1e-45]));
    }
}
