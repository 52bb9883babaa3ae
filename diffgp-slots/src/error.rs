//! What can be wrong with a layout, a model or an update.

use core::fmt;

use diffgp_core::blob::ParseError;

/// Why the slots cannot lie where they were told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// The flash reads, writes or erases in units that are not supported.
    Flash {
        /// `READ_SIZE` of the flash.
        read: usize,
        /// `WRITE_SIZE` of the flash.
        write: usize,
        /// `ERASE_SIZE` of the flash.
        erase: usize,
    },
    /// The first slot does not begin with a page.
    Start {
        /// Where it begins.
        start: u32,
        /// Length of a page.
        erase_size: u32,
    },
    /// A slot is not a number of whole pages.
    SlotBytes {
        /// Length of a slot.
        slot_bytes: u32,
        /// Length of a page.
        erase_size: u32,
    },
    /// A slot has no room for a model.
    TooSmall {
        /// Length of a slot.
        slot_bytes: u32,
        /// What the header takes of it.
        header: u32,
    },
    /// The slots end behind the end of the flash.
    OutOfFlash {
        /// Where the second slot ends.
        end: u64,
        /// Length of the flash.
        capacity: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flash { read, write, erase } => write!(
                f,
                "the flash reads {read}, writes {write} and erases {erase} bytes at a time; expected powers of two, \
                 at most 32 for reads and 512 for writes"
            ),
            Self::Start { start, erase_size } => {
                write!(f, "the slots start at {start:#x}; expected a multiple of the erase size, {erase_size:#x}")
            }
            Self::SlotBytes { slot_bytes, erase_size } => {
                write!(f, "a slot has {slot_bytes:#x} bytes; expected a multiple of the erase size, {erase_size:#x}")
            }
            Self::TooSmall { slot_bytes, header } => {
                write!(f, "a slot has {slot_bytes} bytes, of which the header takes {header}; expected more")
            }
            Self::OutOfFlash { end, capacity } => {
                write!(f, "the slots end at {end:#x}; expected at most {capacity:#x}, the end of the flash")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// Why the bytes of a slot are not a model that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// The flash could not read them.
    Unreadable,
    /// They do not fit into the memory of [`Copied`](crate::Copied).
    Memory {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// They are not a model.
    Model(ParseError),
    /// They are not the model that the header in front of them was written for.
    OtherModel,
    /// The model has another length than the update said.
    Length {
        /// What the update said.
        said: u32,
        /// What the model says of itself.
        found: usize,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unreadable => f.write_str("the flash cannot read what was written"),
            Self::Memory { needed, found } => {
                write!(f, "the model needs {needed} bytes of memory to be checked, there are {found}")
            }
            Self::Model(error) => error.fmt(f),
            Self::OtherModel => f.write_str("the model is not the one that its slot's header was written for"),
            Self::Length { said, found } => {
                write!(f, "the update was begun for {said} bytes, the model has {found}; begin it for that many")
            }
        }
    }
}

impl core::error::Error for Unusable {}

/// Why an update ended without a new model. The model before it is still the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<E> {
    /// The flash failed.
    Flash(E),
    /// The model is longer than a slot allows.
    TooLong {
        /// Bytes of the model.
        length: u32,
        /// Bytes that a slot has for it.
        capacity: u32,
    },
    /// More or fewer bytes were written than the update was begun for.
    Bytes {
        /// Bytes the update was begun for.
        expected: u32,
        /// Bytes that were written.
        written: u32,
    },
    /// What is in the slot now is not a model.
    NotAModel(Unusable),
    /// The header or its mark does not read back as it was written: the flash is worn or locked.
    NotKept,
    /// Erased flash does not read as ones: it is locked, or erases to zeros, which is not supported.
    NotErased,
}

impl<E: fmt::Debug> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "the flash failed: {error:?}"),
            Self::TooLong { length, capacity } => {
                write!(f, "the model has {length} bytes; a slot has room for {capacity}")
            }
            Self::Bytes { expected, written } => {
                write!(f, "{written} bytes were written; the update was begun for {expected}")
            }
            Self::NotAModel(unusable) => unusable.fmt(f),
            Self::NotErased => {
                f.write_str("erased flash does not read as ff bytes; it is locked, or of a kind that erases to zeros")
            }
            Self::NotKept => f.write_str("the flash does not keep what is written to it; it is worn or locked"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}
