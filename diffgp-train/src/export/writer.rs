//! Bytes of a blob: the writing side of `diffgp_core::blob`.

mod fixed;

use diffgp_core::blob::{
    CHECKSUM_BYTES, FORMAT_VERSION, Header, KernelRecord, MAGIC, OutputRecord, PRELUDE_BYTES, TargetRecord, checksum,
    layout,
};
use diffgp_core::kernel::KernelKind;
use nalgebra::DMatrix;

use super::numbers::{Numbers, interleaved};
use super::tables::Output;
use crate::params::Kernel;
pub(crate) use fixed::{AnyKernel, AnyOutput, StoredFixedKernel, StoredFixedOutput};

/// Records and tensors, collected in the order of the tensors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    kernels: Vec<u32>,
    outputs: Vec<u32>,
    targets: Vec<u32>,
    pub(crate) tensors: Vec<u8>,
    /// Of the output before in this process: its directions and how many they are, and their place.
    directions: Option<(Numbers, usize, u32)>,
}

/// A kernel as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredKernel {
    pub(crate) kind: KernelKind,
    pub(crate) variance: f32,
    pub(crate) scales: Vec<f32>,
    /// Interleaved by point.
    pub(crate) points: Numbers,
}

/// An output as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredOutput {
    pub(crate) weights: Numbers,
    /// Interleaved by direction.
    pub(crate) directions: Numbers,
    /// One for every direction, without padding.
    pub(crate) coefficients: Vec<f32>,
}

impl StoredKernel {
    /// Singles, as training gives them.
    fn new(kernel: &Kernel, inducing: &DMatrix<f64>) -> Self {
        let c = kernel.kind.distance_scale();
        // The device multiplies its input by the rounded scale, so the points are multiplied by that as well.
        let scales: Vec<f32> = kernel.length_scales.iter().map(|l| (c / l) as f32).collect();
        let (rows, columns) = inducing.shape();
        let points = interleaved(rows, columns, |m, i| (inducing[(m, i)] * f64::from(scales[i])) as f32);
        Self { kind: kernel.kind, variance: kernel.variance as f32, scales, points: Numbers::Singles(points) }
    }
}

impl StoredOutput {
    /// Singles.
    pub(crate) fn new(output: &Output) -> Self {
        let (features, rank) = output.directions.shape();
        let directions = interleaved(rank, features, |r, m| output.directions[(m, r)] as f32);
        Self {
            weights: Numbers::Singles(output.weights.iter().map(|&w| w as f32).collect()),
            directions: Numbers::Singles(directions),
            coefficients: output.coefficients.iter().map(|&c| c as f32).collect(),
        }
    }
}

impl Body {
    /// Where the next tensor begins, in words.
    fn at(&self) -> u32 {
        (self.tensors.len() / 4) as u32
    }

    /// Numbers without a record (T1 to T5), or those of one. Where they begin.
    pub(crate) fn singles(&mut self, values: impl IntoIterator<Item = f32>) -> u32 {
        self.numbers(&Numbers::Singles(values.into_iter().collect()))
    }

    fn numbers(&mut self, numbers: &Numbers) -> u32 {
        let at = self.at();
        numbers.write(&mut self.tensors);
        at
    }

    /// A kernel with its tensors, as training gives it.
    pub(super) fn kernel(&mut self, kernel: &Kernel, inducing: &DMatrix<f64>) {
        self.stored_kernel(&StoredKernel::new(kernel, inducing));
    }

    /// An output with its tensors, as training gives it.
    pub(super) fn output(&mut self, output: &Output) {
        self.stored_output(&StoredOutput::new(output));
    }

    /// A kernel with its tensors.
    pub(crate) fn stored_kernel(&mut self, kernel: &StoredKernel) {
        let record = KernelRecord {
            kind: kernel.kind.number(),
            point_element: kernel.points.element(),
            unused: 0,
            variance: kernel.variance,
            unit: kernel.points.unit(),
            scales_at: self.singles(kernel.scales.iter().copied()),
            points_at: self.numbers(&kernel.points),
        };
        self.directions = None;
        self.kernels.extend(record.words());
    }

    /// An output with its tensors.
    pub(crate) fn stored_output(&mut self, output: &StoredOutput) {
        let rank = output.coefficients.len();
        let padding = std::iter::repeat_n(0.0, layout::padded(rank) - rank);
        let record = OutputRecord {
            rank: rank as u16,
            weight_element: output.weights.element(),
            direction_element: output.directions.element(),
            unit: output.weights.unit(),
            weights_at: self.numbers(&output.weights),
            directions_at: self.directions(&output.directions, rank),
            coefficients_at: self.singles(output.coefficients.iter().copied().chain(padding)),
        };
        self.outputs.extend(record.words());
    }

    /// Directions, unless they are those of the output before. Where they begin.
    fn directions(&mut self, directions: &Numbers, rank: usize) -> u32 {
        if let Some((before, rank_before, at)) = &self.directions
            && (before, *rank_before) == (directions, rank)
        {
            return *at;
        }
        let at = self.numbers(directions);
        self.directions = Some((directions.clone(), rank, at));
        at
    }

    /// A real target.
    pub(crate) fn target(&mut self, target: TargetRecord) {
        self.targets.extend(target.words());
    }

    /// The finished blob.
    pub(crate) fn finish(&self, header: &Header<'_>) -> Vec<u8> {
        let strings = [header.model_id, header.names, header.classes, header.units, header.certificate];
        let mut buffer = vec![0; 256 + strings.map(<[u8]>::len).iter().sum::<usize>()];
        let encoded = postcard::to_slice(header, &mut buffer).expect("scalars take less than 256 bytes");
        let records: Vec<u8> = [&self.kernels, &self.outputs, &self.targets]
            .into_iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let padded = encoded.len().next_multiple_of(4);
        let total = PRELUDE_BYTES + padded + records.len() + self.tensors.len() + CHECKSUM_BYTES;
        let mut blob = Vec::with_capacity(total);
        blob.extend_from_slice(&MAGIC);
        for word in [FORMAT_VERSION, total as u32, encoded.len() as u32] {
            blob.extend_from_slice(&word.to_le_bytes());
        }
        blob.extend_from_slice(encoded);
        blob.resize(PRELUDE_BYTES + padded, 0);
        blob.extend_from_slice(&records);
        blob.extend_from_slice(&self.tensors);
        let crc = checksum(&blob);
        blob.extend_from_slice(&crc.to_le_bytes());
        blob
    }
}
