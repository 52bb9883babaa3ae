//! The bytes of a random model of any shape, written by hand: training and compression would not give most of them. Its
//! numbers are of the size that trained models have, since arithmetic in software takes longer for some than for others.

use diffgp_core::blob::layout::{BLOCK, padded, position};
use diffgp_core::blob::{FORMAT_VERSION, FixedRow, Header, KernelRecord, MAGIC, OutputRecord, TargetRecord, checksum};
use diffgp_core::kernel::KernelKind;
use diffgp_infer::{Keyed, Noise};

use super::shape::Shape;

/// Which element type has so many bits.
fn element(bits: u32) -> u8 {
    match bits {
        8 => 3,
        16 => 2,
        _ => 0,
    }
}

struct Writer {
    noise: Keyed,
    kernels: Vec<u32>,
    outputs: Vec<u32>,
    targets: Vec<u32>,
    tensors: Vec<u8>,
}

impl Writer {
    /// Numbers of about the size 1 as singles, or as integers of the unit that is returned; where they begin.
    fn tensor(&mut self, values: &[f32], bits: u32) -> (u32, f32) {
        let at = (self.tensors.len() / 4) as u32;
        let largest = values.iter().fold(1e-6_f32, |largest, value| largest.max(value.abs()));
        let unit = match bits {
            8 => largest / 127.0,
            16 => largest / 32767.0,
            _ => 1.0,
        };
        for value in values {
            let integer = (value / unit).round();
            match bits {
                8 => self.tensors.extend((integer as i8).to_le_bytes()),
                16 => self.tensors.extend((integer as i16).to_le_bytes()),
                _ => self.tensors.extend(value.to_le_bytes()),
            }
        }
        self.tensors.resize(self.tensors.len().next_multiple_of(4), 0);
        (at, unit)
    }

    fn normals(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| size * self.noise.normal()).collect()
    }

    /// Rows of normal numbers, interleaved.
    fn rows(&mut self, rows: usize, columns: usize, size: f32) -> Vec<f32> {
        let mut values = vec![0.0; padded(rows) * columns];
        for row in 0..rows {
            for column in 0..columns {
                values[position(row, column, columns)] = size * self.noise.normal();
            }
        }
        values
    }

    /// Whole words of integers.
    fn words(&mut self, words: impl IntoIterator<Item = i32>) -> u32 {
        let at = (self.tensors.len() / 4) as u32;
        self.tensors.extend(words.into_iter().flat_map(i32::to_le_bytes));
        at
    }

    /// Rows of normal numbers, interleaved, as integers raised by half of their range; zeros where there are none.
    fn raised(&mut self, rows: usize, columns: usize, size: f32, bits: u32) -> u32 {
        let at = (self.tensors.len() / 4) as u32;
        let limit = (1 << (bits - 1)) as f32;
        let numbers = self.rows(rows, columns, size);
        let exists = {
            let mut exists = vec![false; numbers.len()];
            (0..rows).for_each(|row| (0..columns).for_each(|column| exists[position(row, column, columns)] = true));
            exists
        };
        for (number, exists) in numbers.into_iter().zip(exists) {
            let raised = if exists { (number.clamp(1.0 - limit, limit - 1.0) + limit) as u16 } else { 0 };
            match bits {
                8 => self.tensors.push(raised as u8),
                _ => self.tensors.extend(raised.to_le_bytes()),
            }
        }
        at
    }

    /// A kernel with distances of about 1, in units of 2⁻¹¹.
    fn fixed_kernel(&mut self, shape: &Shape, points: usize, variance: f32) {
        let size = 2048.0 / (shape.inputs as f32).sqrt();
        // X = x S / 2³² for x in Q24; a box that no state leaves; s √dt of a hundredth and a floor of one unit.
        let scales = vec![(size * 256.0) as i32; shape.inputs];
        let (low, high) = (vec![-(1 << 30); shape.inputs], vec![1 << 30; shape.inputs]);
        let words = [scales, low, high, vec![1 << 17, 1]].concat();
        let record = KernelRecord {
            kind: shape.kernel,
            point_element: element(16),
            unused: 0,
            variance,
            unit: 1.0 / 2048.0,
            scales_at: self.words(words),
            points_at: self.raised(points, shape.inputs, size, 16),
        };
        self.kernels.extend(record.words());
    }

    fn fixed_output(&mut self, shape: &Shape, features: usize, rank: usize) {
        let weights: Vec<i32> = self.normals(features, (1 << 24) as f32).iter().map(|&weight| weight as i32).collect();
        // What a step adds is about a hundredth; the lower halves take all digits but four.
        let weights_at = self.words(weights.into_iter().chain([1 << 20, 4]));
        let bits = shape.bits[2];
        let size = (1 << (bits - 1)) as f32 / 4.0;
        let directions_at = self.raised(rank, features, size, bits);
        // Leading directions have coarser features than the others; each explains little.
        let row = |r: usize| FixedRow {
            factor: 40_000,
            shift: 24,
            feature_shift: [10, 8, 6, 6][(r / BLOCK).min(3)],
            negative: r % 5 == 4,
        };
        let padding = vec![0; padded(rank) - rank];
        let coefficients_at = self.words((0..rank).map(|r| row(r).word() as i32).chain(padding));
        let record = OutputRecord {
            rank: rank as u16,
            weight_element: element(16),
            direction_element: element(bits),
            unit: (-31.0_f32).exp2(),
            weights_at,
            directions_at,
            coefficients_at,
        };
        self.outputs.extend(record.words());
    }

    fn kernel(&mut self, shape: &Shape, points: usize, variance: f32) {
        if shape.fixed {
            return self.fixed_kernel(shape, points, variance);
        }
        let kind = KernelKind::from_number(shape.kernel).expect("a kernel of the format");
        // So that distances are about 1 whatever the number of inputs.
        let scale = kind.distance_scale() as f32 / (shape.inputs as f32).sqrt();
        let points = self.rows(points, shape.inputs, scale);
        let largest = points.iter().fold(1e-6_f32, |largest, value| largest.max(value.abs()));
        let unit = match shape.bits[0] {
            8 => largest / 127.0,
            16 => largest / 32767.0,
            _ => 1.0,
        };
        let scales: Vec<f32> =
            (0..shape.inputs).map(|_| scale / unit * (1.0 + 0.2 * self.noise.normal().clamp(-2.0, 2.0))).collect();
        let (scales_at, _) = self.tensor(&scales, 32);
        let (points_at, unit) = self.tensor(&points, shape.bits[0]);
        let record = KernelRecord {
            kind: shape.kernel,
            point_element: element(shape.bits[0]),
            unused: 0,
            variance,
            unit,
            scales_at,
            points_at,
        };
        self.kernels.extend(record.words());
    }

    fn output(&mut self, shape: &Shape, features: usize, rank: usize) {
        if shape.fixed {
            return self.fixed_output(shape, features, rank);
        }
        let size = 1.0 / (features as f32).sqrt();
        let weights = self.normals(features, size);
        let (weights_at, unit) = self.tensor(&weights, shape.bits[1]);
        let directions = self.rows(rank, features, size);
        let (directions_at, direction_unit) = self.tensor(&directions, shape.bits[2]);
        // What is explained stays well below everything.
        let coefficient = 0.3 * direction_unit * direction_unit / rank.max(1) as f32;
        let mut coefficients = vec![0.0; padded(rank)];
        coefficients[..rank].fill(coefficient);
        let (coefficients_at, _) = self.tensor(&coefficients, 32);
        let record = OutputRecord {
            rank: rank as u16,
            weight_element: element(shape.bits[1]),
            direction_element: element(shape.bits[2]),
            unit,
            weights_at,
            directions_at,
            coefficients_at,
        };
        self.outputs.extend(record.words());
    }
}

/// The model of this shape.
pub(crate) fn blob(shape: &Shape) -> Vec<u8> {
    let mut writer = Writer {
        noise: Keyed::new(7, 0),
        kernels: Vec::new(),
        outputs: Vec::new(),
        targets: Vec::new(),
        tensors: Vec::new(),
    };
    let inputs = shape.inputs;
    for value in [20.0, 0.25, 12.0, 28.0] {
        writer.tensor(&vec![value; inputs], 32);
    }
    let flows = shape.steps > 0;
    let kernels = if !flows {
        0
    } else if shape.shared {
        1
    } else {
        inputs
    };
    let tables = if !flows {
        0
    } else if shape.folded {
        shape.steps
    } else {
        1
    };
    let features = shape.inducing * shape.times.max(1);
    let times: Vec<f32> = writer.normals(shape.steps * shape.times, 0.5).iter().map(|a| a.abs()).collect();
    writer.tensor(&times, 32);
    for _ in 0..kernels {
        writer.kernel(shape, shape.inducing, 0.1);
    }
    for _ in 0..tables * inputs {
        writer.output(shape, features, shape.rank);
    }
    let predictor_kernels = if shape.per_output { shape.outputs } else { 1 };
    for _ in 0..predictor_kernels {
        writer.kernel(shape, shape.predictor_inducing, 1.0);
    }
    for _ in 0..shape.outputs {
        writer.output(shape, shape.predictor_inducing, shape.predictor_rank);
    }
    if shape.likelihood == 0 {
        for _ in 0..shape.outputs {
            writer.targets.extend(TargetRecord { mean: 100.0, scale: 30.0, noise: 0.05 }.words());
        }
    }
    let header = Header {
        inputs: inputs as u8,
        outputs: shape.outputs as u8,
        likelihood: shape.likelihood,
        arithmetic: shape.fixed.into(),
        scheme: 0,
        calibration: 0,
        epsilon: if shape.likelihood == 1 { 0.01 } else { 0.0 },
        variance_floor: 1e-9,
        flow_time: if flows { 1.0 } else { 0.0 },
        steps: shape.steps as u16,
        flow_kernels: kernels as u8,
        flow_inducing: shape.inducing as u16,
        inducing_times: shape.times as u16,
        tables: tables as u16,
        predictor_kernels: predictor_kernels as u8,
        predictor_inducing: shape.predictor_inducing as u16,
        block: 8,
        mean_error: 0.0,
        variance_error: 0.0,
        checked_rows: 0,
        discretisation_error: 0.0,
        discretisation_rows: 0,
        model_id: b"shape",
        names: &[],
        classes: &[],
        units: &[],
        certificate: &[],
    };
    finish(&writer, &header)
}

fn finish(writer: &Writer, header: &Header<'_>) -> Vec<u8> {
    let mut buffer = [0; 256];
    let encoded = postcard::to_slice(header, &mut buffer).expect("a header of scalars takes less than 256 bytes");
    let length = encoded.len() as u32;
    let mut body = encoded.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    for words in [&writer.kernels, &writer.outputs, &writer.targets] {
        body.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    body.extend(&writer.tensors);
    let mut blob = MAGIC.to_vec();
    for word in [FORMAT_VERSION, (16 + body.len() + 4) as u32, length] {
        blob.extend(word.to_le_bytes());
    }
    blob.extend(body);
    blob.extend(checksum(&blob).to_le_bytes());
    blob
}
