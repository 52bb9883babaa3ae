//! Tensors on their way into a blob: singles, or small integers times a unit.

use diffgp_core::blob::{ELEMENT_F32, ELEMENT_I8, ELEMENT_I16, layout};

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
    /// Values within the range of `bits`, times `unit`.
    Integers {
        bits: Bits,
        values: Vec<i32>,
        unit: f32,
    },
}

impl Numbers {
    /// The number of their type in the format.
    pub(crate) fn element(&self) -> u8 {
        match self {
            Self::Singles(_) => ELEMENT_F32,
            Self::Integers { bits: Bits::Eight, .. } => ELEMENT_I8,
            Self::Integers { .. } => ELEMENT_I16,
        }
    }

    /// By which they are multiplied.
    pub(crate) fn unit(&self) -> f32 {
        match self {
            Self::Singles(_) => 1.0,
            Self::Integers { unit, .. } => *unit,
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
