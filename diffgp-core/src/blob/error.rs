//! Why a blob was refused.

use core::fmt;

use super::header::Field;

/// Why bytes are not a model that this version can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes do not start at a multiple of four.
    Unaligned,
    /// There are fewer bytes than the model says it has.
    Truncated {
        /// Bytes that are needed, as far as can be told.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The first four bytes are not those of a model: erased flash, or another file.
    NotAModel,
    /// The model was written in another version of the format.
    Version {
        /// The version it was written in.
        found: u32,
    },
    /// The checksum does not match: the bytes were damaged after they were written.
    Checksum,
    /// The lengths in the prelude contradict each other.
    Lengths,
    /// The header cannot be decoded.
    Header,
    /// A field of the header has a value outside its limits.
    Field(Field),
    /// The record of a kernel, an output or a target has a value outside its limits, or names a tensor that is not where
    /// it must be.
    Record,
    /// The tensors do not fill the space between records and checksum exactly.
    TensorSpace,
    /// A tensor holds a NaN, an infinity, a scale outside its limits, a range that ends before it begins, or padding that
    /// is not zero.
    TensorValue,
    /// A path takes more work than the caller allows.
    TooMuchWork {
        /// Operations of a path; the largest number there is if there are more.
        operations: u32,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unaligned => f.write_str(
                "the model does not start at a multiple of 4 bytes; `include_model!` gives an aligned static, \
                 and a flash address for a model must be divisible by 4",
            ),
            Self::Truncated { needed, found } => {
                write!(f, "the model needs {needed} bytes, but there are only {found}; copy the whole file")
            }
            Self::NotAModel => f.write_str("these bytes are not a diffgp model: they do not begin with \"DGPm\""),
            Self::Version { found } => {
                write!(f, "the model has format version {found}, this runtime reads {}", super::FORMAT_VERSION)
            }
            Self::Checksum => f.write_str("the model is damaged: its checksum does not match; flash it again"),
            Self::Lengths => f.write_str("the model is damaged: its length fields contradict each other"),
            Self::Header => f.write_str("the model's header cannot be decoded"),
            Self::Field(field) => {
                let field = field.description();
                write!(f, "{} ({}) of the model's header must be {}", field.name, field.number, field.limits)
            }
            Self::Record => f.write_str(
                "the record of a kernel, an output or a target is out of its limits, of a kind that this program does not \
                 know, or its tensors are not where they must be",
            ),
            Self::TensorSpace => f.write_str("the model's records and tensors do not fill the space reserved for them"),
            Self::TensorValue => f.write_str(
                "a tensor holds a number that is not finite, a scale or range out of its limits, or padding that is not \
                 zero",
            ),
            Self::TooMuchWork { operations } => write!(
                f,
                "a path of the model takes {operations} operations, more than are allowed; `diffgp compress \
                 --max-instructions` makes a cheaper model"
            ),
        }
    }
}

impl core::error::Error for ParseError {}
