//! A tensor as it lies in the blob: singles, or small integers times a scale.

use zerocopy::{FromBytes, IntoBytes};

use super::descriptor::{ELEMENT_F32, ELEMENT_I8, ELEMENT_I16, TensorDescriptor};
use super::limits;

/// The stored numbers of a tensor, borrowed from the blob.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// IEEE singles.
    F32(&'a [f32]),
    /// Sixteen-bit integers.
    I16(&'a [i16]),
    /// Eight-bit integers.
    I8(&'a [i8]),
}

/// A tensor: its elements are the stored numbers times `scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<'a> {
    /// The stored numbers.
    pub elements: Elements<'a>,
    /// By which they are multiplied; 1 for singles.
    pub scale: f32,
}

impl<'a> Tensor<'a> {
    /// The tensor at the beginning of `words`, and what follows it. Every tensor takes whole words, so that the next
    /// one is aligned whatever its elements are.
    pub(super) fn take(words: &'a [f32], descriptor: TensorDescriptor, length: usize) -> Option<(Self, &'a [f32])> {
        let TensorDescriptor { element, scale } = descriptor;
        let per_word = match element {
            ELEMENT_F32 if scale == 1.0 => 1,
            ELEMENT_I16 if limits::SCALE.contains(&scale) => 2,
            ELEMENT_I8 if limits::SCALE.contains(&scale) => 4,
            _ => return None,
        };
        let (words, rest) = words.split_at_checked(length.div_ceil(per_word))?;
        let elements = match per_word {
            1 => Elements::F32(words),
            2 => Elements::I16(<[i16]>::ref_from_bytes(words.as_bytes()).ok()?.get(..length)?),
            _ => Elements::I8(<[i8]>::ref_from_bytes(words.as_bytes()).ok()?.get(..length)?),
        };
        Some((Self { elements, scale }, rest))
    }
}

impl Elements<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I8(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of one.
    pub fn bits(&self) -> u32 {
        match self {
            Self::F32(_) => 32,
            Self::I16(_) => 16,
            Self::I8(_) => 8,
        }
    }

    /// Bytes that they take in the blob, whole words.
    pub fn bytes(&self) -> usize {
        (self.len() * self.bits() as usize / 8).next_multiple_of(4)
    }

    /// The stored number at an index, in double precision: for tools, which are in no hurry.
    pub fn get(&self, index: usize) -> Option<f64> {
        match self {
            Self::F32(values) => values.get(index).map(|&value| f64::from(value)),
            Self::I16(values) => values.get(index).map(|&value| f64::from(value)),
            Self::I8(values) => values.get(index).map(|&value| f64::from(value)),
        }
    }

    /// Whether all are finite; integers are.
    #[inline(never)]
    pub(super) fn finite(&self) -> bool {
        match self {
            Self::F32(values) => values.iter().all(|value| value.is_finite()),
            _ => true,
        }
    }
}
