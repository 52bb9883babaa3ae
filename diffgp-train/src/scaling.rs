//! Standardisation: u = (x − mean)/scale, with mean and scale already rounded to f32.
//!
//! The device works with the same two f32 numbers, so it sees the inputs that the model was trained on.

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
}

impl Scaling {
    /// No scaling of D inputs and the target, ranges without bounds.
    pub fn identity(inputs: usize) -> Self {
        Self {
            inputs: vec![Affine::IDENTITY; inputs],
            target: Affine::IDENTITY,
            ranges: vec![Range { min: f32::MIN, max: f32::MAX }; inputs],
        }
    }
}
