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
        /// What the model says of itself; a signature block of 80 bytes may follow.
        found: usize,
    },
    /// It needs a larger [`Workspace`](diffgp_infer::Workspace) than this firmware has.
    Workspace {
        /// D of the model.
        inputs: u16,
        /// M of the model.
        features: u16,
        /// O of the model.
        outputs: u16,
    },
    /// A sampled path takes more work than this firmware has time for.
    Work {
        /// Operations of a path.
        operations: u64,
        /// The most there may be.
        most: u64,
    },
    /// It is not signed, and only signed ones are taken.
    Unsigned,
    /// It is signed with a key that this firmware does not know.
    OtherKey,
    /// The signature is not that of this model: one of them was changed, or somebody else made it.
    Forged,
    /// Its counter is too small: it is the model in use, or an older one.
    Older {
        /// Its counter.
        counter: u32,
        /// The smallest that would be taken.
        least: u32,
    },
    /// The model in use has the largest counter there is, so no other one can follow.
    LastCounter,
    /// Whatever a function of the firmware has against it.
    Unwanted,
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
            Self::Length { said, found } => write!(
                f,
                "the update was begun for {said} bytes, the model has {found}; begin it for that many, or for those of a \
                 signature block more"
            ),
            Self::Workspace { inputs, features, outputs } => write!(
                f,
                "the model needs a Workspace::<{inputs}, {features}, {outputs}>, which is more than this firmware has"
            ),
            Self::Work { operations, most } => {
                write!(f, "a path of the model takes {operations} operations, this firmware allows {most}")
            }
            Self::Unsigned => f.write_str("the model is not signed; `diffgp sign` signs it"),
            Self::OtherKey => f.write_str("the model is signed with a key that this firmware does not know"),
            Self::Forged => f.write_str("the signature does not belong to this model"),
            Self::Older { counter, least } => {
                write!(
                    f,
                    "the model's counter is {counter}; expected {least} or more, so that no older model comes back"
                )
            }
            Self::LastCounter => f.write_str("the model in use has the largest counter there is"),
            Self::Unwanted => f.write_str("this firmware does not want the model"),
        }
    }
}

impl core::error::Error for Unusable {}

/// Why an update ended without a new model. The model of before is still in use, and the next boot finds it too; only
/// [`Error::Unknown`] promises less.
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
    /// The header was not written, or does not read back as it should: the flash is worn or locked.
    NotKept,
    /// The same without a model of before, which would count more at the next boot: that may find the new model or none.
    /// Which it is, [`Slots::open`](crate::Slots::open) says after a restart. No model was in use before, and none is now.
    Unknown,
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
            Self::Unknown => f.write_str(
                "the flash failed in the last step; whether the first model is there will be known after a restart",
            ),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}

/// Why a model is not known to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unconfirmed {
    /// No model was committed since the slots were opened, or it was confirmed or taken back.
    NothingOnTrial,
    /// The flash failed: the next boot finds this model or the one before. Which it is, [`Slots::open`](crate::Slots::open)
    /// and [`Slots::is_confirmed`](crate::Slots::is_confirmed) say after a restart.
    Unknown,
}

impl fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NothingOnTrial => "no model is on trial: it was confirmed or taken back",
            Self::Unknown => "the flash failed; whether the model is confirmed will be known after a restart",
        })
    }
}

impl core::error::Error for Unconfirmed {}
