//! Loading a blob in place.

use core::ops::Range;

use zerocopy::FromBytes;

use super::calibration::{CalibrationRecord, CalibrationSource};
use super::error::ParseError;
use super::header::Header;
use super::limits::{ordered, within};
use super::record::{KernelRecord, OutputRecord, TargetRecord};
use super::tensor::{Elements, Tensor, sound};
use super::{CHECKSUM_BYTES, FORMAT_VERSION, MAGIC, Names, PRELUDE_BYTES, checksum, layout, limits};
use crate::kernel::KernelKind;

/// A checked blob, borrowed from the bytes it was parsed from.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    header: Header<'a>,
    /// P of the flow, then those of the predictor.
    kernels: &'a [[u32; KernelRecord::WORDS]],
    /// H14·D of the flow, then O of the predictor.
    outputs: &'a [[u32; OutputRecord::WORDS]],
    targets: &'a [[u32; TargetRecord::WORDS]],
    /// C1 and C2, then C3 to C10 of every target, or C11 of every class: along the drift, then of sampled predictions.
    calibration: &'a [u32],
    /// T1 to T5, then those of the records.
    tensors: &'a [f32],
}

/// How the device sees one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// T1: subtracted from the raw value.
    pub mean: f32,
    /// T2: by which the difference is multiplied.
    pub scale: f32,
    /// T3: smallest raw value seen in training.
    pub low: f32,
    /// T4: largest raw value seen in training.
    pub high: f32,
}

/// What the error bars were calibrated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// C1: residuals.
    pub rows: u32,
    /// C2: where they come from.
    pub source: CalibrationSource,
}

/// A kernel as the device evaluates it: ρ from q² = t² Σᵢ (xᵢ·scalesᵢ − nᵢ)², n the stored numbers of the points and t
/// their unit.
#[derive(Clone, Copy, Debug)]
pub struct KernelView<'a> {
    /// K1.
    pub kind: KernelKind,
    /// K3: s².
    pub variance: f32,
    /// K5: `[D]`.
    pub scales: &'a [f32],
    /// K6: `[⌈M/8⌉][D][8]`.
    pub points: Tensor<'a>,
}

/// An output: mean weights·φ, variance s²(1 − Σ_r coefficients_r (directions_r·φ)²).
#[derive(Clone, Copy, Debug)]
pub struct OutputView<'a> {
    /// O5: `[M]`.
    pub weights: Tensor<'a>,
    /// O6: `[⌈rank/8⌉][M][8]`, each direction in a unit of its own, which its coefficient makes up for.
    pub directions: Elements<'a>,
    /// O7: `[8⌈rank/8⌉]`.
    pub coefficients: &'a [f32],
}

/// An output and its kernel among the records, with the points of the one and the features of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) kernel: usize,
    pub(super) points: usize,
    pub(super) output: usize,
    pub(super) features: usize,
}

/// Which checks [`Blob::load`] makes beyond those that keep every later access in bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Nothing,
    Bytes,
}

impl<'a> Blob<'a> {
    /// Checks the bytes and borrows the model from them. More bytes may follow the model (erased flash, for example).
    ///
    /// Cost: one pass over the blob for the checksum and one for the numbers; no allocation, no copy.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the bytes: [`ParseError`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::load(bytes, Trust::Nothing)
    }

    /// Like [`Blob::parse`], without the checksum and without looking at the numbers in the tensors: for bytes that
    /// were parsed before, on devices that wake up often. Cost: independent of the size of the tensors.
    ///
    /// # Errors
    ///
    /// As of [`Blob::parse`], except [`ParseError::Checksum`] and [`ParseError::TensorValue`].
    pub fn parse_trusted(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::load(bytes, Trust::Bytes)
    }

    /// P3: how many bytes the model has that begins with these [`PRELUDE_BYTES`]: what to expect of a model that is
    /// still arriving, wherever in memory.
    ///
    /// # Errors
    ///
    /// If these bytes do not begin a model of this version.
    pub fn length_from_prelude(bytes: &[u8]) -> Result<usize, ParseError> {
        let (total, _) = read_prelude(bytes, PRELUDE_BYTES)?;
        Ok(total)
    }

    /// In pieces that are not inlined, so that their stacks are not needed at the same time.
    #[inline(never)]
    fn load(bytes: &'a [u8], trust: Trust) -> Result<Self, ParseError> {
        let (header_bytes, body) = split(bytes, trust)?;
        let mut blob = Self {
            header: read_header(header_bytes)?,
            kernels: &[],
            outputs: &[],
            targets: &[],
            calibration: &[],
            tensors: &[],
        };
        blob.find_records(body)?;
        blob.check_tensors(trust)?;
        Ok(blob)
    }

    /// Cuts what follows the header into records and tensors.
    #[inline(never)]
    fn find_records(&mut self, body: &'a [u8]) -> Result<(), ParseError> {
        let header = &self.header;
        let kernels = usize::from(header.flow_kernels) + usize::from(header.predictor_kernels);
        let outputs = self.flow_outputs() + usize::from(header.outputs);
        let rest = <[u32]>::ref_from_bytes(body).map_err(|_| ParseError::Unaligned)?;
        let cut = |rest: &'a [u32], words: usize| rest.split_at_checked(words).ok_or(ParseError::TensorSpace);
        let (records, rest) = cut(rest, kernels * KernelRecord::WORDS)?;
        self.kernels = records.as_chunks().0;
        let (records, rest) = cut(rest, outputs * OutputRecord::WORDS)?;
        self.outputs = records.as_chunks().0;
        let (records, rest) = cut(rest, header.real_targets() * TargetRecord::WORDS)?;
        self.targets = records.as_chunks().0;
        let rest = if cfg!(feature = "calibration") {
            let (records, rest) = cut(rest, header.calibration_words())?;
            self.calibration = records;
            rest
        } else {
            rest
        };
        let tensors = body.get(body.len().saturating_sub(4 * rest.len())..).unwrap_or_default();
        self.tensors = <[f32]>::ref_from_bytes(tensors).map_err(|_| ParseError::Unaligned)?;
        Ok(())
    }

    /// Walks the records in the order of their tensors. Unless the bytes are trusted, looks at every number.
    #[inline(never)]
    fn check_tensors(&self, trust: Trust) -> Result<(), ParseError> {
        let mut walk = Walk { blob: self, at: 0, sound: true, trust };
        walk.all().ok_or(ParseError::Record)?;
        if walk.at != self.tensors.len() {
            return Err(ParseError::TensorSpace);
        }
        for index in 0..self.header.inputs.into() {
            // Whether x·scale is finite is seen when x is known.
            let valid = |input: Input| within(input.scale, &limits::SCALE) && ordered(input.low, input.high);
            walk.sound &= self.input(index).is_some_and(valid);
        }
        if trust == Trust::Bytes || walk.sound { Ok(()) } else { Err(ParseError::TensorValue) }
    }

    /// The header.
    pub fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// T1 to T4 of one input.
    #[inline(never)]
    pub fn input(&self, index: usize) -> Option<Input> {
        let inputs = usize::from(self.header.inputs);
        let row = |row: usize| self.tensors.get(row * inputs + index).copied();
        if index >= inputs {
            return None;
        }
        Some(Input { mean: row(0)?, scale: row(1)?, low: row(2)?, high: row(3)? })
    }

    /// T5: a_t(t_k) of step k; empty if the field does not change with time or was folded into tables.
    pub fn time_features(&self, step: usize) -> &'a [f32] {
        let times = usize::from(self.header.inducing_times);
        let from = 4 * usize::from(self.header.inputs) + step * times;
        if step >= usize::from(self.header.steps) {
            return &[];
        }
        self.tensors.get(from..).and_then(|rest| rest.get(..times)).unwrap_or_default()
    }

    /// H14·D: outputs of the flow, all tables together.
    fn flow_outputs(&self) -> usize {
        usize::from(self.header.tables) * usize::from(self.header.inputs)
    }

    /// The kernel of dimension d of the flow: its own, or the shared one.
    pub fn flow_kernel(&self, dimension: usize) -> Option<KernelView<'a>> {
        Some(self.flow_part(0, dimension)?.0)
    }

    /// The output of dimension d of the flow at step k.
    pub fn flow_output(&self, step: usize, dimension: usize) -> Option<OutputView<'a>> {
        Some(self.flow_part(step, dimension)?.1)
    }

    fn flow_part(&self, step: usize, dimension: usize) -> Option<(KernelView<'a>, OutputView<'a>)> {
        if step < self.header.steps.into() && !self.header.is_fixed() { self.part(step, dimension) } else { None }
    }

    /// The kernel of output o of the predictor: its own, or the shared one.
    pub fn predictor_kernel(&self, output: usize) -> Option<KernelView<'a>> {
        Some(self.predictor_part(output)?.0)
    }

    /// Output o of the predictor.
    pub fn predictor_output(&self, output: usize) -> Option<OutputView<'a>> {
        Some(self.predictor_part(output)?.1)
    }

    fn predictor_part(&self, output: usize) -> Option<(KernelView<'a>, OutputView<'a>)> {
        if self.header.is_fixed() { None } else { self.part(self.header.steps.into(), output) }
    }

    /// An output and its kernel, its own or the shared one: of the flow at step k < K, of the predictor at its end, k = K.
    #[inline(never)]
    pub fn part(&self, step: usize, output: usize) -> Option<(KernelView<'a>, OutputView<'a>)> {
        let place = self.place(step, output)?;
        Some((self.kernel(place.kernel, place.points)?, self.output(place.output, place.features)?))
    }

    /// Where an output and its kernel are.
    #[inline(always)]
    pub(super) fn place(&self, step: usize, output: usize) -> Option<Place> {
        let header = &self.header;
        let flows = step < header.steps.into();
        let (kernels, outputs, points, features) = if flows {
            (header.flow_kernels, header.inputs, header.flow_inducing, header.flow_features())
        } else {
            let points = header.predictor_inducing;
            (header.predictor_kernels, header.outputs, points, points.into())
        };
        if output >= outputs.into() {
            return None;
        }
        let mut kernel = if kernels > 1 { output } else { 0 };
        // Outputs of the steps before, if each has its own; of the whole flow, before those of the predictor.
        let tables = if header.tables > 1 || !flows { step.min(header.tables.into()) } else { 0 };
        if !flows {
            kernel += usize::from(header.flow_kernels);
        }
        let output = tables * usize::from(header.inputs) + output;
        Some(Place { kernel, points: points.into(), output, features })
    }

    /// The record of a kernel.
    #[inline(always)]
    pub(super) fn kernel_record(&self, index: usize) -> Option<KernelRecord> {
        Some(KernelRecord::read(*self.kernels.get(index)?))
    }

    /// The record of an output.
    #[inline(always)]
    pub(super) fn output_record(&self, index: usize) -> Option<OutputRecord> {
        Some(OutputRecord::read(*self.outputs.get(index)?))
    }

    /// Words of the tensors from a place on; `None` if they are not there in full.
    #[inline(always)]
    pub(super) fn words(&self, at: u32, length: usize) -> Option<&'a [f32]> {
        self.tensors.get(usize::try_from(at).ok()?..)?.get(..length)
    }

    /// Real target o; of a classifier, whose outputs are no targets, g itself.
    pub fn target(&self, output: usize) -> TargetRecord {
        self.targets.get(output).map_or(TargetRecord::LATENT, |&words| TargetRecord::read(words))
    }

    /// What the error bars were calibrated on, if they were.
    pub fn calibration(&self) -> Option<Calibration> {
        let [rows, source, ..] = *self.calibration else { return None };
        Some(Calibration { rows, source: CalibrationSource::from_number(source)? })
    }

    /// Where the calibration of a prediction along the drift, or of a sampled one, begins, with so many words of each.
    fn calibrated(&self, sampled: bool, words: usize) -> &'a [u32] {
        let from = if sampled && self.header.steps > 0 { 2 + words } else { 2 };
        self.calibration.get(from..).and_then(|rest| rest.get(..words)).unwrap_or_default()
    }

    /// C3 to C10 of real target o, of predictions along the drift or of sampled ones; `None` if it is not calibrated.
    pub fn target_calibration(&self, sampled: bool, output: usize) -> Option<CalibrationRecord> {
        let words = self.calibrated(sampled, self.header.real_targets() * CalibrationRecord::WORDS);
        words.as_chunks().0.get(output).map(|&words| CalibrationRecord::read(words))
    }

    /// C11 of a class: its least probability in a prediction set; `None` if it is not calibrated.
    pub fn class_threshold(&self, sampled: bool, class: usize) -> Option<f32> {
        self.calibrated(sampled, self.header.class_count()).get(class).copied().map(f32::from_bits)
    }

    /// Bytes of C1 to C11.
    pub fn calibration_bytes(&self) -> usize {
        4 * self.calibration.len()
    }

    /// Bytes of the model behind them: tensors and checksum.
    pub fn bytes_behind_calibration(&self) -> usize {
        4 * self.tensors.len() + CHECKSUM_BYTES
    }

    #[inline(never)]
    fn calibration_is_valid(&self) -> bool {
        let [rows, source, ref rest @ ..] = *self.calibration else { return self.header.calibration == 0 };
        let records = rest.as_chunks().0.iter().map(|&words| CalibrationRecord::read(words));
        let valid = if self.header.class_count() == 0 {
            records.fold(true, |valid, record| valid & record.is_valid())
        } else {
            rest.iter().fold(true, |valid, &word| valid & within(f32::from_bits(word), &limits::THRESHOLD))
        };
        rows > 0 && CalibrationSource::from_number(source).is_some() && valid
    }

    #[inline(never)]
    fn kernel(&self, index: usize, points: usize) -> Option<KernelView<'a>> {
        let record = self.kernel_record(index)?;
        let inputs = usize::from(self.header.inputs);
        let length = layout::padded(points) * inputs;
        Some(KernelView {
            kind: KernelKind::from_number(record.kind)?,
            variance: record.variance,
            scales: self.words(record.scales_at, inputs)?,
            points: Tensor {
                elements: Elements::at(self.tensors, record.points_at, record.point_element, length)?,
                unit: record.unit,
            },
        })
    }

    #[inline(never)]
    fn output(&self, index: usize, features: usize) -> Option<OutputView<'a>> {
        let record = self.output_record(index)?;
        let padded = layout::padded(record.rank.into());
        let (at, element) = (record.directions_at, record.direction_element);
        Some(OutputView {
            weights: Tensor {
                elements: Elements::at(self.tensors, record.weights_at, record.weight_element, features)?,
                unit: record.unit,
            },
            directions: Elements::at(self.tensors, at, element, padded * features)?,
            coefficients: self.words(record.coefficients_at, padded)?,
        })
    }

    /// H24: names of the inputs in order, then of the targets; nothing when they were stripped.
    pub fn names(&self) -> Names<'a> {
        Names::new(self.header.names)
    }

    /// H25: names of the classes in order; nothing when they were stripped, or for real targets.
    pub fn classes(&self) -> Names<'a> {
        Names::new(self.header.classes)
    }

    /// H26: units of the inputs in order, then of the targets; nothing when they are not known.
    pub fn units(&self) -> Names<'a> {
        Names::new(self.header.units)
    }
}

/// A walk over the records, with the word at which the tensors of the next one must begin.
pub(super) struct Walk<'b, 'a> {
    pub(super) blob: &'b Blob<'a>,
    at: usize,
    /// Whether all numbers so far are finite and all padding is zero.
    pub(super) sound: bool,
    trust: Trust,
}

impl Walk<'_, '_> {
    /// T1 to T5, then kernels and outputs of the flow, then those of the predictor; and the targets.
    fn all(&mut self) -> Option<()> {
        let (blob, header) = (self.blob, &self.blob.header);
        let (flow_points, points) = (usize::from(header.flow_inducing), usize::from(header.predictor_inducing));
        let (flow_kernels, flow_outputs) = (usize::from(header.flow_kernels), blob.flow_outputs());
        let singles = 4 * usize::from(header.inputs) + usize::from(header.steps) * usize::from(header.inducing_times);
        self.tensor(0, Elements::F32(blob.tensors.get(..singles)?), 0, 0)?;
        self.kernels(0..flow_kernels, flow_points)?;
        self.outputs(0..flow_outputs, header.flow_features())?;
        self.kernels(flow_kernels..blob.kernels.len(), points)?;
        self.outputs(flow_outputs..blob.outputs.len(), points)?;
        let calibrated = !cfg!(feature = "calibration") || blob.calibration_is_valid();
        (calibrated && blob.targets.iter().all(|&target| TargetRecord::read(target).is_valid())).then_some(())
    }

    #[inline(never)]
    fn kernels(&mut self, mut indices: Range<usize>, points: usize) -> Option<()> {
        indices.try_for_each(|index| self.kernel(index, points))
    }

    #[inline(never)]
    fn outputs(&mut self, mut indices: Range<usize>, features: usize) -> Option<()> {
        let first = indices.start;
        indices.try_for_each(|index| self.output(index, features, index > first))
    }

    fn kernel(&mut self, index: usize, points: usize) -> Option<()> {
        if self.blob.header.is_fixed() { self.fixed_kernel(index, points) } else { self.single_kernel(index, points) }
    }

    /// Not inlined, so that its stack is not needed below that of the other kind.
    #[inline(never)]
    fn single_kernel(&mut self, index: usize, points: usize) -> Option<()> {
        let record = self.blob.kernel_record(index)?;
        let view = self.blob.kernel(index, points)?;
        let padding = padding(points);
        let unit = within(record.unit, &limits::POINT_UNIT) && unit_suits(record.unit, view.points.elements);
        let valid = unit && record.unused == 0 && within(record.variance, &limits::KERNEL_VARIANCE);
        self.tensor(record.scales_at, Elements::F32(view.scales), 0, 0)?;
        self.tensor(record.points_at, view.points.elements, padding, view.scales.len())?;
        valid.then_some(())
    }

    /// An output, and whether there is one before it in its process, whose directions it may have too.
    fn output(&mut self, index: usize, features: usize, has_before: bool) -> Option<()> {
        match self.blob.header.is_fixed() {
            true => self.fixed_output(index, features),
            false => self.single_output(index, features, has_before),
        }
    }

    #[inline(never)]
    fn single_output(&mut self, index: usize, features: usize, has_before: bool) -> Option<()> {
        let record = self.blob.output_record(index)?;
        let view = self.blob.output(index, features)?;
        let rank = usize::from(record.rank);
        let padding = padding(rank);
        let unit = within(record.unit, &limits::UNIT) && unit_suits(record.unit, view.weights.elements);
        self.tensor(record.weights_at, view.weights.elements, 0, 0)?;
        let before = if has_before { self.blob.output_record(index - 1) } else { None };
        if !before.is_some_and(|before| before.has_directions_of(&record)) {
            self.tensor(record.directions_at, view.directions, padding, features)?;
        }
        self.tensor(record.coefficients_at, Elements::F32(view.coefficients), padding, 1)?;
        (unit && rank <= features).then_some(())
    }

    /// A tensor that must begin here, in whose last block of rows, if it has blocks, so many are padding.
    #[inline(never)]
    pub(super) fn tensor(&mut self, at: u32, elements: Elements<'_>, padding: usize, columns: usize) -> Option<()> {
        let end = self.at + elements.bytes() / 4;
        if usize::try_from(at).ok()? != self.at {
            return None;
        }
        if self.trust == Trust::Nothing {
            let tensor = self.blob.tensors.get(self.at..end)?;
            self.sound &= sound(tensor, elements, padding, columns);
        }
        self.at = end;
        Some(())
    }

    /// A tensor of so many bytes that must begin here, whose numbers `are_sound` looks at.
    #[inline(always)]
    pub(super) fn integers(&mut self, at: u32, bytes: usize, are_sound: impl FnOnce() -> bool) -> Option<()> {
        if usize::try_from(at).ok()? != self.at {
            return None;
        }
        if self.trust == Trust::Nothing {
            self.sound &= are_sound();
        }
        self.at += bytes / 4;
        Some(())
    }
}

/// Rows that fill the last block of eight.
pub(super) fn padding(rows: usize) -> usize {
    layout::padded(rows) - rows
}

/// Singles have no unit of their own.
fn unit_suits(unit: f32, elements: Elements<'_>) -> bool {
    elements.bits() != 32 || unit == 1.0
}

#[inline(never)]
fn read_header(bytes: &[u8]) -> Result<Header<'_>, ParseError> {
    let header = Header::read(bytes).ok_or(ParseError::Header)?;
    header.validate()?;
    Ok(header)
}

/// The checksum that a model file ends with: it tells one model from another without comparing all their bytes. `None`
/// if these are no model or not all of one; whether the model is whole, only [`Blob::parse`] says.
pub fn stored_checksum(bytes: &[u8]) -> Option<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    let (&[magic, _, total, _], _) = words.split_first_chunk::<4>()?;
    let total = usize::try_from(u32::from_le_bytes(total)).ok()?;
    let (_, stored) = bytes.get(..total)?.split_last_chunk::<CHECKSUM_BYTES>()?;
    (magic == MAGIC).then_some(u32::from_le_bytes(*stored))
}

/// P1 to P4: the last two. `needed` is what is said of fewer bytes than those.
fn read_prelude(bytes: &[u8], needed: usize) -> Result<(usize, usize), ParseError> {
    let (words, _) = bytes.as_chunks::<4>();
    let Some((&[magic, version, total, header], _)) = words.split_first_chunk::<4>() else {
        return Err(ParseError::Truncated { needed, found: bytes.len() });
    };
    if magic != MAGIC {
        return Err(ParseError::NotAModel);
    }
    let version = u32::from_le_bytes(version);
    if version != FORMAT_VERSION {
        return Err(ParseError::Version { found: version });
    }
    // A length beyond the address space cannot be there either.
    let length = |word| usize::try_from(u32::from_le_bytes(word)).unwrap_or(usize::MAX);
    let (total, header) = (length(total), length(header));
    if total < PRELUDE_BYTES + CHECKSUM_BYTES || total % 4 != 0 {
        return Err(ParseError::Lengths);
    }
    Ok((total, header))
}

/// Prelude and checksum: returns the bytes of the header (P4) with its padding, and what follows up to the checksum.
fn split(bytes: &[u8], trust: Trust) -> Result<(&[u8], &[u8]), ParseError> {
    let found = bytes.len();
    let (total, header) = read_prelude(bytes, PRELUDE_BYTES + CHECKSUM_BYTES)?;
    let bytes = bytes.get(..total).ok_or(ParseError::Truncated { needed: total, found })?;
    let (content, stored) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(ParseError::Lengths)?;
    if trust == Trust::Nothing && checksum(content) != u32::from_le_bytes(*stored) {
        return Err(ParseError::Checksum);
    }
    let body = content.get(PRELUDE_BYTES..).ok_or(ParseError::Lengths)?;
    let padded = header.checked_next_multiple_of(4).ok_or(ParseError::Lengths)?;
    body.split_at_checked(padded).ok_or(ParseError::Lengths)
}
