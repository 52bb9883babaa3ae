//! A tensor as it lies in the blob: singles, or small integers times a unit.

use zerocopy::{FromBytes, IntoBytes};

use super::layout::BLOCK;

/// Element type of a tensor of IEEE singles.
pub const ELEMENT_F32: u8 = 0;
/// Element type of a tensor of sixteen-bit integers. 1 (f16) is reserved.
pub const ELEMENT_I16: u8 = 2;
/// Element type of a tensor of eight-bit integers.
pub const ELEMENT_I8: u8 = 3;

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

/// A tensor: its elements are the stored numbers times `unit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<'a> {
    /// The stored numbers.
    pub elements: Elements<'a>,
    /// By which they are multiplied; 1 for singles.
    pub unit: f32,
}

/// Whether compressed models can be loaded; programs that have none leave their code out.
const INTEGERS: bool = cfg!(feature = "integers");

/// Numbers in a word of the blob; `None` of an element type that is not known.
fn per_word(element: u8) -> Option<usize> {
    match element {
        ELEMENT_F32 => Some(1),
        ELEMENT_I16 if INTEGERS => Some(2),
        ELEMENT_I8 if INTEGERS => Some(4),
        _ => None,
    }
}

impl<'a> Elements<'a> {
    /// `length` numbers of this type, in whole words so that the next tensor is aligned whatever they are, from a word of the tensors on; `None` if they are not there in full.
    pub(super) fn at(tensors: &'a [f32], at: u32, element: u8, length: usize) -> Option<Self> {
        let words = length.div_ceil(per_word(element)?);
        let words = tensors.get(usize::try_from(at).ok()?..)?.get(..words)?;
        Some(match element {
            _ if !INTEGERS => Self::F32(words),
            ELEMENT_F32 => Self::F32(words),
            ELEMENT_I16 if INTEGERS => Self::I16(<[i16]>::ref_from_bytes(words.as_bytes()).ok()?.get(..length)?),
            _ => Self::I8(<[i8]>::ref_from_bytes(words.as_bytes()).ok()?.get(..length)?),
        })
    }
}

/// Whether every number of a tensor is finite and all its padding is zero, given the words that it takes: what is left of
/// the last word, and, of rows interleaved in blocks of eight, the last `padding` rows of the last block.
#[inline(never)]
pub(super) fn sound(words: &[f32], elements: Elements<'_>, padding: usize, columns: usize) -> bool {
    let finite = elements.bits() != 32 || words.iter().all(|value| value.is_finite());
    let (bytes, size) = (words.as_bytes(), elements.bits() as usize / 8);
    let zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    let (numbers, behind) = bytes.split_at_checked(elements.len() * size).unwrap_or((bytes, &[]));
    finite && zero(behind) && padding_is_zero(numbers, size, padding, columns)
}

/// The same of rows that are interleaved, given their bytes and those of a number.
#[inline(always)]
pub(super) fn padding_is_zero(numbers: &[u8], size: usize, padding: usize, columns: usize) -> bool {
    let first = numbers.len().saturating_sub(columns * BLOCK * size);
    let last_block = numbers.get(first..).unwrap_or_default();
    let used = (BLOCK - padding.min(BLOCK)) * size;
    let padded = |row: &[u8]| row.get(used..).unwrap_or_default().iter().all(|&byte| byte == 0);
    padding == 0 || last_block.chunks(BLOCK * size).all(padded)
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
            _ if !INTEGERS => 32,
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
}
