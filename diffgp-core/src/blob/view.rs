//! Loading a blob in place.

use zerocopy::FromBytes;

use super::cursor::{Cursor, KernelView, OutputView};
use super::error::ParseError;
use super::header::Header;
use super::tensor::Elements;
use super::{CHECKSUM_BYTES, FORMAT_VERSION, MAGIC, Names, PRELUDE_BYTES, checksum, limits};

/// A checked blob, borrowed from the bytes it was parsed from.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    header: Header<'a>,
    /// T1 to T4: means, reciprocal scales, lower and upper ends of the ranges of the inputs: `[4][D]`.
    inputs: &'a [f32],
    /// T5: a_t(t_k) of every step: `[K][M_t]`.
    time_features: &'a [f32],
    flow_kernels: Cursor<'a>,
    flow_outputs: Cursor<'a>,
    predictor: Cursor<'a>,
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

/// Which checks [`Blob::load`] makes beyond those that keep every later access in bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    Nothing,
    Bytes,
}

impl<'a> Blob<'a> {
    /// Checks the bytes and borrows the model from them. More bytes may follow the model (erased flash, for example).
    ///
    /// Cost: one pass over the blob for the checksum and one for finiteness; no allocation, no copy.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::load(bytes, Trust::Nothing)
    }

    /// Like [`Blob::parse`], without the checksum and without looking at the numbers in the tensors: for bytes that
    /// were parsed before, on devices that wake up often. Cost: independent of the size of the tensors.
    pub fn parse_trusted(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::load(bytes, Trust::Bytes)
    }

    /// P3: how many bytes the model has that begins with these [`PRELUDE_BYTES`]: what to expect of a model that is
    /// still arriving, wherever in memory.
    pub fn length_from_prelude(bytes: &[u8]) -> Result<usize, ParseError> {
        let (total, _) = read_prelude(bytes, PRELUDE_BYTES)?;
        Ok(total)
    }

    /// In pieces that are not inlined, so that their stacks are not needed at the same time.
    #[inline(never)]
    fn load(bytes: &'a [u8], trust: Trust) -> Result<Self, ParseError> {
        let (header_bytes, tensors) = split(bytes, trust)?;
        let header = read_header(header_bytes)?;
        let start = Cursor { descriptors: header.descriptors, tensors };
        let mut blob = Self {
            header,
            inputs: &[],
            time_features: &[],
            flow_kernels: start,
            flow_outputs: start,
            predictor: start,
        };
        blob.find_tensors(start, trust)?;
        Ok(blob)
    }

    /// Walks all descriptors and sets everything behind the header. Unless the bytes are trusted, looks at every number.
    #[inline(never)]
    fn find_tensors(&mut self, mut cursor: Cursor<'a>, trust: Trust) -> Result<(), ParseError> {
        let header = &self.header;
        let inputs = usize::from(header.inputs);
        let (flow_points, points) = (usize::from(header.flow_inducing), usize::from(header.predictor_inducing));
        let times = usize::from(header.steps) * usize::from(header.inducing_times);
        let singles = cursor.singles(4 * inputs + times).ok_or(ParseError::TensorSpace)?;
        (self.inputs, self.time_features) = singles.split_at_checked(4 * inputs).ok_or(ParseError::TensorSpace)?;
        self.flow_kernels = cursor;
        let mut finite = cursor.pass_kernels(header.flow_kernels.into(), inputs, flow_points, trust)?;
        self.flow_outputs = cursor;
        finite &= cursor.pass_outputs(usize::from(header.tables) * inputs, header.flow_features(), trust)?;
        self.predictor = cursor;
        finite &= cursor.pass_kernels(1, inputs, points, trust)?;
        finite &= cursor.pass_outputs(1, points, trust)?;
        if !(cursor.descriptors.is_empty() && cursor.tensors.is_empty()) {
            return Err(ParseError::TensorSpace);
        }
        // Reciprocal scales have the limits of scales; whether x·scale is finite is seen when x is known.
        let scales = self.inputs.iter().skip(inputs).take(inputs);
        let (low, high) = (self.inputs.iter().skip(2 * inputs), self.inputs.iter().skip(3 * inputs));
        let ordered = low.zip(high).fold(true, |all, (low, high)| all & (low <= high));
        let holds = finite && scales.fold(ordered, |all, scale| all & limits::SCALE.contains(scale));
        if trust == Trust::Bytes || (holds && Elements::F32(singles).finite()) {
            Ok(())
        } else {
            Err(ParseError::TensorValue)
        }
    }

    /// The header.
    pub fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// T1 to T4 of one input.
    pub fn input(&self, index: usize) -> Option<Input> {
        let inputs = usize::from(self.header.inputs);
        let row = |row: usize| self.inputs.get(row * inputs + index).copied();
        if index >= inputs {
            return None;
        }
        Some(Input { mean: row(0)?, scale: row(1)?, low: row(2)?, high: row(3)? })
    }

    /// T5: a_t(t_k) of step k; empty if the field does not change with time or was folded into tables.
    pub fn time_features(&self, step: usize) -> &'a [f32] {
        let times = usize::from(self.header.inducing_times);
        let of_step = |from| self.time_features.get(from..)?.get(..times);
        step.checked_mul(times).and_then(of_step).unwrap_or(&[])
    }

    /// At the first kernel of the flow.
    pub fn flow_kernels(&self) -> Cursor<'a> {
        self.flow_kernels
    }

    /// At the first output of the flow.
    pub fn flow_outputs(&self) -> Cursor<'a> {
        self.flow_outputs
    }

    /// The predictor's kernel and output.
    pub fn predictor(&self) -> Option<(KernelView<'a>, OutputView<'a>)> {
        let mut cursor = self.predictor;
        let inducing = usize::from(self.header.predictor_inducing);
        let kernel = cursor.next_kernel(usize::from(self.header.inputs), inducing)?;
        Some((kernel, cursor.next_output(inducing)?))
    }

    /// Names of the inputs in order, then of the target; nothing when they were stripped.
    pub fn names(&self) -> Names<'a> {
        Names::new(self.header.names)
    }
}

#[inline(never)]
fn read_header(bytes: &[u8]) -> Result<Header<'_>, ParseError> {
    let (header, _) = Header::read(bytes).ok_or(ParseError::Header)?;
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

/// H22: what `diffgp compress` wrote about a model; empty for one that was not compressed. A device never asks.
pub fn certificate(bytes: &[u8]) -> Result<&[u8], ParseError> {
    let (header, _) = split(bytes, Trust::Nothing)?;
    Ok(Header::read(header).ok_or(ParseError::Header)?.1)
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

/// Prelude and checksum: returns the bytes of the header (P4) with its padding, and the tensors.
fn split(bytes: &[u8], trust: Trust) -> Result<(&[u8], &[f32]), ParseError> {
    let found = bytes.len();
    let (total, header) = read_prelude(bytes, PRELUDE_BYTES + CHECKSUM_BYTES)?;
    let bytes = bytes.get(..total).ok_or(ParseError::Truncated { needed: total, found })?;
    let (content, stored) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(ParseError::Lengths)?;
    if trust == Trust::Nothing && checksum(content) != u32::from_le_bytes(*stored) {
        return Err(ParseError::Checksum);
    }
    let body = content.get(PRELUDE_BYTES..).ok_or(ParseError::Lengths)?;
    let padded = header.checked_next_multiple_of(4).ok_or(ParseError::Lengths)?;
    let (header_bytes, tensor_bytes) = body.split_at_checked(padded).ok_or(ParseError::Lengths)?;
    let tensors = <[f32]>::ref_from_bytes(tensor_bytes).map_err(|_| ParseError::Unaligned)?;
    Ok((header_bytes, tensors))
}
