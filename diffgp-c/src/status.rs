//! What every function says, and the words for it.

use core::ffi::{CStr, c_char};

use diffgp_infer::{Error, ParseError};
use diffgp_slots::Unusable;

use self::diffgp_status::*;

/// What a function says of its work: zero if it is done, positive if some is left, negative if it was refused.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum diffgp_status {
    /// Done.
    DIFFGP_OK = 0,
    /// Work is left: call again.
    DIFFGP_PENDING = 1,
    /// A pointer is null that must not be.
    DIFFGP_ERROR_NULL = -1,
    /// A pointer is not aligned as its type must be: models and workspaces to 4 bytes, objects to 8.
    DIFFGP_ERROR_ALIGNMENT = -2,
    /// A length goes beyond the address space.
    DIFFGP_ERROR_LENGTH = -3,
    /// Two pieces of memory overlap that must not.
    DIFFGP_ERROR_OVERLAP = -4,
    /// The object was never filled, what should have filled it was refused, or it was copied although it must not be.
    DIFFGP_ERROR_OBJECT = -5,
    /// The workspace has been used for something else since, or the slots were changed since: what was in it is gone.
    DIFFGP_ERROR_STALE = -6,
    /// The workspace, or memory for results, is too small.
    DIFFGP_ERROR_CAPACITY = -7,
    /// No such input, output or class.
    DIFFGP_ERROR_INDEX = -8,
    /// The question does not suit the model: a class of real targets, an interval of classes, or a level that is not
    /// between 0 and 1.
    DIFFGP_ERROR_KIND = -9,

    /// The input has another number of values than the model takes.
    DIFFGP_ERROR_INPUT_LENGTH = -20,
    /// A value of the input is a NaN or an infinity.
    DIFFGP_ERROR_INPUT_NOT_FINITE = -21,
    /// A sampled prediction over no paths at all.
    DIFFGP_ERROR_NO_PATHS = -22,
    /// The prediction overflowed; no number is better than a wrong one.
    DIFFGP_ERROR_NOT_FINITE = -23,

    /// There are fewer bytes than the model says it has.
    DIFFGP_ERROR_TRUNCATED = -40,
    /// The first four bytes are not those of a model: erased flash, or another file.
    DIFFGP_ERROR_NOT_A_MODEL = -41,
    /// The model was written in another version of the format.
    DIFFGP_ERROR_VERSION = -42,
    /// The checksum does not match: the bytes were damaged after they were written.
    DIFFGP_ERROR_CHECKSUM = -43,
    /// A field of the model has a value outside its limits, or fields contradict each other.
    DIFFGP_ERROR_FIELD = -44,
    /// A tensor of the model is not where it must be, or holds a number that it must not.
    DIFFGP_ERROR_TENSOR = -45,
    /// A path takes more work than the caller allows.
    DIFFGP_ERROR_WORK = -46,
    /// The flash failed: one of its functions said so.
    DIFFGP_ERROR_FLASH = -60,
    /// The slots cannot lie where they were told to, or the pages of the flash are of a size that is not supported.
    DIFFGP_ERROR_LAYOUT = -61,
    /// There is no model in the slots that can be used.
    DIFFGP_ERROR_NO_MODEL = -62,
    /// The model is longer than a slot allows.
    DIFFGP_ERROR_TOO_LONG = -63,
    /// More or fewer bytes were written than the update was begun for, or than the model has.
    DIFFGP_ERROR_UPDATE_LENGTH = -64,
    /// Erased flash does not read as ff: it is locked, or erases to zeros, which is not supported.
    DIFFGP_ERROR_NOT_ERASED = -65,
    /// The last step was not kept: the flash is worn or locked. The model of before is in use.
    DIFFGP_ERROR_NOT_KEPT = -66,
    /// The flash failed in the last step: which model counts will be known after a restart.
    DIFFGP_ERROR_UNKNOWN = -67,
    /// No model is on trial: none was committed, or it was confirmed or taken back.
    DIFFGP_ERROR_NOTHING_ON_TRIAL = -68,
    /// The model in the slot is not the one that the slot's header was written for.
    DIFFGP_ERROR_OTHER_MODEL = -69,

    /// The model is not signed, and only signed ones are taken.
    DIFFGP_ERROR_UNSIGNED = -80,
    /// The model is signed with a key that the program does not know.
    DIFFGP_ERROR_OTHER_KEY = -81,
    /// The signature is not that of this model.
    DIFFGP_ERROR_FORGED = -82,
    /// The model's counter is too small: it is the model in use, or an older one.
    DIFFGP_ERROR_OLDER = -83,

    /// Anything else.
    DIFFGP_ERROR_OTHER = -99,
}

/// Every status and its text. `tests/` compares the list with the header.
const TEXTS: &[(diffgp_status, &CStr)] = &[
    (DIFFGP_OK, c"done"),
    (DIFFGP_PENDING, c"work is left: call again"),
    (DIFFGP_ERROR_NULL, c"a pointer is null"),
    (DIFFGP_ERROR_ALIGNMENT, c"a pointer is not aligned: models and workspaces must be to 4 bytes, objects to 8"),
    (DIFFGP_ERROR_LENGTH, c"a length goes beyond the address space"),
    (DIFFGP_ERROR_OVERLAP, c"the workspace overlaps the input, the model or the result"),
    (DIFFGP_ERROR_OBJECT, c"the object was not filled by the function that has to, or was copied"),
    (DIFFGP_ERROR_STALE, c"the workspace has been used for something else since, or the slots were changed"),
    (DIFFGP_ERROR_CAPACITY, c"the workspace or the memory for results is too small for this model"),
    (DIFFGP_ERROR_INDEX, c"there is no input, output or class of that number"),
    (DIFFGP_ERROR_KIND, c"the question does not suit the model: classes of real targets, an interval of classes, or a level not between 0 and 1"),
    (DIFFGP_ERROR_INPUT_LENGTH, c"the input has another number of values than the model takes"),
    (DIFFGP_ERROR_INPUT_NOT_FINITE, c"a value of the input is not a finite number"),
    (DIFFGP_ERROR_NO_PATHS, c"a sampled prediction needs at least one path"),
    (DIFFGP_ERROR_NOT_FINITE, c"the prediction overflowed and was withheld"),
    (DIFFGP_ERROR_TRUNCATED, c"there are fewer bytes than the model says it has: copy the whole file"),
    (DIFFGP_ERROR_NOT_A_MODEL, c"these bytes are not a diffgp model: they do not begin with DGPm"),
    (DIFFGP_ERROR_VERSION, c"the model was written in another version of the format"),
    (DIFFGP_ERROR_CHECKSUM, c"the model is damaged: its checksum does not match"),
    (DIFFGP_ERROR_FIELD, c"a field of the model is out of its limits, or of a kind that this library does not know"),
    (DIFFGP_ERROR_TENSOR, c"a tensor of the model is not where it must be, or holds a number that it must not"),
    (DIFFGP_ERROR_WORK, c"a path of the model takes more operations than are allowed"),
    (DIFFGP_ERROR_FLASH, c"the flash failed"),
    (DIFFGP_ERROR_LAYOUT, c"the slots cannot lie there: pages of a power of two from 32 bytes on, slots of whole pages within the flash"),
    (DIFFGP_ERROR_NO_MODEL, c"there is no model in the slots that can be used"),
    (DIFFGP_ERROR_TOO_LONG, c"the model is longer than a slot allows"),
    (DIFFGP_ERROR_UPDATE_LENGTH, c"more or fewer bytes were written than the update was begun for, or than the model has"),
    (DIFFGP_ERROR_NOT_ERASED, c"erased flash does not read as ff: it is locked, or of a kind that erases to zeros"),
    (DIFFGP_ERROR_NOT_KEPT, c"the flash does not keep what is written to it: it is worn or locked"),
    (DIFFGP_ERROR_UNKNOWN, c"the flash failed in the last step: which model counts will be known after a restart"),
    (DIFFGP_ERROR_NOTHING_ON_TRIAL, c"no model is on trial: it was confirmed or taken back"),
    (DIFFGP_ERROR_OTHER_MODEL, c"the model is not the one that its slot's header was written for"),
    (DIFFGP_ERROR_UNSIGNED, c"the model is not signed: diffgp sign signs it"),
    (DIFFGP_ERROR_OTHER_KEY, c"the model is signed with a key that this program does not know"),
    (DIFFGP_ERROR_FORGED, c"the signature does not belong to this model"),
    (DIFFGP_ERROR_OLDER, c"the model's counter is too small: it is the model in use, or an older one"),
    (DIFFGP_ERROR_OTHER, c"the model or the input was refused"),
];

/// A sentence in English about a status, for logs; of any number, never null.
#[unsafe(no_mangle)]
pub extern "C" fn diffgp_status_text(status: i32) -> *const c_char {
    let known = TEXTS.iter().find(|(known, _)| *known as i32 == status);
    known.map_or(c"not a status of diffgp", |(_, text)| text).as_ptr()
}

/// The status of an outcome.
pub(crate) fn answer(outcome: Result<(), diffgp_status>) -> diffgp_status {
    match outcome {
        Ok(()) => DIFFGP_OK,
        Err(status) => status,
    }
}

impl From<ParseError> for diffgp_status {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Unaligned => Self::DIFFGP_ERROR_ALIGNMENT,
            ParseError::Truncated { .. } => Self::DIFFGP_ERROR_TRUNCATED,
            ParseError::NotAModel => Self::DIFFGP_ERROR_NOT_A_MODEL,
            ParseError::Version { .. } => Self::DIFFGP_ERROR_VERSION,
            ParseError::Checksum => Self::DIFFGP_ERROR_CHECKSUM,
            ParseError::Lengths | ParseError::Header | ParseError::Field(_) => Self::DIFFGP_ERROR_FIELD,
            ParseError::Record | ParseError::TensorSpace | ParseError::TensorValue => Self::DIFFGP_ERROR_TENSOR,
            ParseError::TooMuchWork { .. } => Self::DIFFGP_ERROR_WORK,
            _ => Self::DIFFGP_ERROR_OTHER,
        }
    }
}

impl From<Error> for diffgp_status {
    fn from(error: Error) -> Self {
        match error {
            Error::Capacity { .. } => Self::DIFFGP_ERROR_CAPACITY,
            Error::InputLength { .. } => Self::DIFFGP_ERROR_INPUT_LENGTH,
            Error::InputNotFinite { .. } => Self::DIFFGP_ERROR_INPUT_NOT_FINITE,
            Error::NoPaths => Self::DIFFGP_ERROR_NO_PATHS,
            Error::Unfinished { .. } => Self::DIFFGP_PENDING,
            Error::NotFinite => Self::DIFFGP_ERROR_NOT_FINITE,
            _ => Self::DIFFGP_ERROR_OTHER,
        }
    }
}

impl From<Unusable> for diffgp_status {
    fn from(error: Unusable) -> Self {
        match error {
            Unusable::Unreadable => Self::DIFFGP_ERROR_FLASH,
            Unusable::Memory { .. } | Unusable::Workspace { .. } => Self::DIFFGP_ERROR_CAPACITY,
            Unusable::Model(error) => error.into(),
            Unusable::OtherModel => Self::DIFFGP_ERROR_OTHER_MODEL,
            Unusable::Length { .. } => Self::DIFFGP_ERROR_UPDATE_LENGTH,
            Unusable::Work { .. } => Self::DIFFGP_ERROR_WORK,
            Unusable::Unsigned => Self::DIFFGP_ERROR_UNSIGNED,
            Unusable::OtherKey => Self::DIFFGP_ERROR_OTHER_KEY,
            Unusable::Forged => Self::DIFFGP_ERROR_FORGED,
            Unusable::Older { .. } | Unusable::LastCounter => Self::DIFFGP_ERROR_OLDER,
            _ => Self::DIFFGP_ERROR_OTHER,
        }
    }
}

impl<E> From<diffgp_slots::Error<E>> for diffgp_status {
    fn from(error: diffgp_slots::Error<E>) -> Self {
        use diffgp_slots::Error;
        match error {
            Error::Flash(_) => Self::DIFFGP_ERROR_FLASH,
            Error::TooLong { .. } => Self::DIFFGP_ERROR_TOO_LONG,
            Error::Bytes { .. } => Self::DIFFGP_ERROR_UPDATE_LENGTH,
            Error::NotAModel(error) => error.into(),
            Error::NotKept => Self::DIFFGP_ERROR_NOT_KEPT,
            Error::Unknown => Self::DIFFGP_ERROR_UNKNOWN,
            Error::NotErased => Self::DIFFGP_ERROR_NOT_ERASED,
            _ => Self::DIFFGP_ERROR_OTHER,
        }
    }
}
