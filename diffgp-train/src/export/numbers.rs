//! Tensors on their way into a blob: singles, or small integers times a scale.

use diffgp_core::blob::{ELEMENT_I8, ELEMENT_I16, TensorDescriptor, layout};

/// Bits of a stored number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bits {
    /// Integers of eight bits.
    Eight,
    /// Integers of sixteen bits.
    Sixteen,
    /// IEEE singles.
    ThirtyTwo,
}

impl Bits {
    /// The largest integer; `None` for singles.
    pub(crate) fn largest(self) -> Option<f64> {
        match self {
            Self::Eight => Some(127.0),
            Self::Sixteen => Some(32767.0),
            Self::ThirtyTwo => None,
        }
    }
}

/// The numbers of one tensor, in the order in which they are stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    Singles(Vec<f32>),
    /// Values within the range of `bits`, times `scale`.
    Integers {
        bits: Bits,
        values: Vec<i32>,
        scale: f32,
    },
}

impl Numbers {
    pub(crate) fn descriptor(&self) -> TensorDescriptor {
        match self {
            Self::Singles(_) => TensorDescriptor::F32,
            Self::Integers { bits: Bits::Eight, scale, .. } => TensorDescriptor { element: ELEMENT_I8, scale: *scale },
            Self::Integers { scale, .. } => TensorDescriptor { element: ELEMENT_I16, scale: *scale },
        }
    }

    /// Appends the bytes, up to a multiple of four.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Singles(values) => bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::Integers { bits: Bits::Eight, values, .. } => {
                bytes.extend(values.iter().flat_map(|&value| (value as i8).to_le_bytes()));
            }
            Self::Integers { values, .. } => {
                bytes.extend(values.iter().flat_map(|&value| (value as i16).to_le_bytes()));
            }
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
}

/// A matrix as the device reads it: rows in blocks of eight, zero-padded.
pub(crate) fn interleaved<T: Clone + Default>(rows: usize, columns: usize, at: impl Fn(usize, usize) -> T) -> Vec<T> {
    let mut values = vec![T::default(); layout::padded(rows) * columns];
    for row in 0..rows {
        for column in 0..columns {
            values[layout::position(row, column, columns)] = at(row, column);
        }
    }
    values
}
