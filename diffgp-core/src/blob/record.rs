//! Records of kernels, outputs and real targets: words of four bytes, read in place by index.

use super::fields::Description;
use super::limits::{self, within};

/// A list of fields: the number, name, type and limits of each.
macro_rules! descriptions {
    ($($number:literal $name:literal $stored:literal $limits:literal;)+) => {
        /// Its fields, as the documentation lists them.
        pub const FIELDS: &'static [Description] =
            &[$(Description { number: $number, name: $name, stored: $stored, limits: $limits }),+];
    };
}

/// A kernel and its inducing points: ρ from q² = t² Σᵢ (xᵢ·scalesᵢ − nᵢ)², n the stored numbers of the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelRecord {
    /// K1: number of the [`KernelKind`](crate::kernel::KernelKind).
    pub kind: u8,
    /// K2: element type of the points.
    pub point_element: u8,
    /// Behind K2: zero.
    pub unused: u16,
    /// K3: s².
    pub variance: f32,
    /// K4: t, the unit of the points; 1 for f32.
    pub unit: f32,
    /// K5: where c/(ℓ t) lies: `[D]`, f32.
    pub scales_at: u32,
    /// K6: where c Z/ℓ lies, interleaved by point: `[⌈M/8⌉][D][8]`.
    pub points_at: u32,
}

/// One output of a Gaussian process: mean w·φ and variance s²(1 − Σ_r c_r (v_r·φ)²) of features φ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputRecord {
    /// O1: how many directions the variance has.
    pub rank: u16,
    /// O2: element type of the weights.
    pub weight_element: u8,
    /// O3: element type of the directions.
    pub direction_element: u8,
    /// O4: unit of the weights; 1 for f32.
    pub unit: f32,
    /// O5: where w lies: `[M]`.
    pub weights_at: u32,
    /// O6: where v_r lies, interleaved by direction: `[⌈rank/8⌉][M][8]`; of several outputs perhaps the same.
    pub directions_at: u32,
    /// O7: where c_r of either sign lies: `[8⌈rank/8⌉]`, f32.
    pub coefficients_at: u32,
}

/// A real target: y = mean + scale·g, with noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRecord {
    /// Y1: added after scaling.
    pub mean: f32,
    /// Y2: standard deviation.
    pub scale: f32,
    /// Y3: σ², standardised.
    pub noise: f32,
}

impl KernelRecord {
    /// Words of one.
    pub const WORDS: usize = 5;

    descriptions! {
        "K1" "kind" "u8" "0 RBF, 1 Matérn 3/2, 2 Matérn 5/2";
        "K2" "point_element" "u8, then two zero bytes" "0 f32, 2 i16, 3 i8";
        "K3" "variance" "f32" "1e-12 to 1e12";
        "K4" "unit" "f32" "1 for f32, else 1e-15 to 1e15";
        "K5" "scales_at" "u32" "where the tensors before it end";
        "K6" "points_at" "u32" "where the tensors before it end";
    }

    /// As it is stored.
    pub fn words(self) -> [u32; Self::WORDS] {
        let kinds = u32::from(self.kind) | u32::from(self.point_element) << 8 | u32::from(self.unused) << 16;
        [kinds, self.variance.to_bits(), self.unit.to_bits(), self.scales_at, self.points_at]
    }

    /// What is stored in these words.
    #[inline(always)]
    pub fn read([kinds, variance, unit, scales_at, points_at]: [u32; Self::WORDS]) -> Self {
        let ([kind, point_element, ..], unused) = (kinds.to_le_bytes(), (kinds >> 16) as u16);
        let (variance, unit) = (f32::from_bits(variance), f32::from_bits(unit));
        Self { kind, point_element, unused, variance, unit, scales_at, points_at }
    }
}

impl OutputRecord {
    /// Words of one.
    pub const WORDS: usize = 5;

    descriptions! {
        "O1" "rank" "u16" "at most the number of features";
        "O2" "weight_element" "u8" "0 f32, 2 i16, 3 i8";
        "O3" "direction_element" "u8" "0 f32, 2 i16, 3 i8";
        "O4" "unit" "f32" "1 for f32, else 1e-30 to 1e30";
        "O5" "weights_at" "u32" "where the tensors before it end";
        "O6" "directions_at" "u32" "where the tensors before it end, or O6 of the output before it";
        "O7" "coefficients_at" "u32" "where the tensors before it end";
    }

    /// As it is stored.
    pub fn words(self) -> [u32; Self::WORDS] {
        let elements = u32::from(self.weight_element) << 16 | u32::from(self.direction_element) << 24;
        [
            u32::from(self.rank) | elements,
            self.unit.to_bits(),
            self.weights_at,
            self.directions_at,
            self.coefficients_at,
        ]
    }

    /// What is stored in these words.
    #[inline(always)]
    pub fn read([first, unit, weights_at, directions_at, coefficients_at]: [u32; Self::WORDS]) -> Self {
        let [_, _, weight_element, direction_element] = first.to_le_bytes();
        let (rank, unit) = (first as u16, f32::from_bits(unit));
        Self { rank, weight_element, direction_element, unit, weights_at, directions_at, coefficients_at }
    }
}

impl OutputRecord {
    /// Whether both outputs have the same directions, at the same place.
    pub(super) fn has_directions_of(&self, other: &Self) -> bool {
        (self.directions_at, self.rank, self.direction_element)
            == (other.directions_at, other.rank, other.direction_element)
    }
}

impl TargetRecord {
    /// Words of one.
    pub const WORDS: usize = 3;

    descriptions! {
        "Y1" "mean" "f32" "finite";
        "Y2" "scale" "f32" "1e-15 to 1e18";
        "Y3" "noise" "f32" "0 to 1e6";
    }

    /// Of an output that is no real target: g itself.
    pub const LATENT: Self = Self { mean: 0.0, scale: 1.0, noise: 0.0 };

    /// As it is stored.
    pub fn words(self) -> [u32; Self::WORDS] {
        [self.mean.to_bits(), self.scale.to_bits(), self.noise.to_bits()]
    }

    /// What is stored in these words.
    #[inline(always)]
    pub fn read(words: [u32; Self::WORDS]) -> Self {
        let [mean, scale, noise] = words.map(f32::from_bits);
        Self { mean, scale, noise }
    }

    /// Whether it is within its limits.
    pub(super) fn is_valid(self) -> bool {
        self.mean.is_finite() && within(self.scale, &limits::TARGET_SCALE) && within(self.noise, &limits::NOISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let kernel = KernelRecord {
            kind: 2,
            point_element: 3,
            unused: 0,
            variance: 0.5,
            unit: 2.0,
            scales_at: 7,
            points_at: u32::MAX,
        };
        assert_eq!(KernelRecord::read(kernel.words()), kernel);
        let output = OutputRecord {
            rank: 1023,
            weight_element: 2,
            direction_element: 3,
            unit: 1e-30,
            weights_at: 1,
            directions_at: 2,
            coefficients_at: u32::MAX,
        };
        assert_eq!(OutputRecord::read(output.words()), output);
        let target = TargetRecord { mean: -3.5, scale: 1e18, noise: 1e-6 };
        assert_eq!(TargetRecord::read(target.words()), target);
    }
}
