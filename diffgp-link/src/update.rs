//! Messages of a model update: what the device has, pieces of a model, and what becomes of it.
//!
//! ```text
//! Info                     what the device has, and what it can take
//! Begin                    how much of this file it has already: after a lost line the rest is enough
//! Piece, Piece, …          each answered with how many bytes are there now, and ignored if it is not the next one
//! Commit                   every check; the model is in use from now on, on trial
//! Confirm                  it stays; without this the next boot takes the old one back
//! ```

use serde::{Deserialize, Serialize};

use crate::frame::Message;

/// Bytes of a model in one message.
pub const PIECE_BYTES: usize = 256;

impl Message for UpdateRequest {
    const KIND: u8 = 3;
}

impl Message for UpdateResponse {
    const KIND: u8 = 4;
}

/// Asks something of the device's models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateRequest {
    /// Comes back in the response.
    pub id: u32,
    /// What is asked.
    pub step: Step,
}

/// A step of an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "without an allocator a piece is where it is; one step exists at a time")]
pub enum Step {
    /// What the device has.
    Info,
    /// A file is to come, or to go on.
    Begin {
        /// Its bytes: the model, and its signature block if it has one.
        length: u32,
        /// CRC-32 of all of them, by which an update that was interrupted is known again.
        checksum: u32,
    },
    /// Bytes of the file.
    Piece {
        /// Where they belong.
        offset: u32,
        /// The bytes.
        bytes: heapless::Vec<u8, PIECE_BYTES>,
    },
    /// That was all: check it and use it, on trial.
    Commit,
    /// The model on trial stays.
    Confirm,
    /// The model on trial goes, the one before it is used again.
    TakeBack,
}

/// Answers an [`UpdateRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateResponse {
    /// Of the request.
    pub id: u32,
    /// What there is after it, or why it was not done.
    pub outcome: Result<Info, UpdateRefusal>,
}

/// What a device has and can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The checksum that ends the model in use, see [`model_checksum`](crate::model_checksum); `None` without a model.
    pub model: Option<u32>,
    /// The counter in its signature block, if it has one.
    pub counter: Option<u32>,
    /// Whether the model in use was confirmed.
    pub confirmed: bool,
    /// Whether the next boot takes another model, unless this one is confirmed.
    pub on_trial: bool,
    /// The longest file that a slot holds.
    pub capacity: u32,
    /// D, M and O of the largest model that the firmware has memory for.
    pub largest: [u16; 3],
    /// The most operations of a sampled path that it has time for.
    pub operations: u64,
    /// Bytes that have arrived of a file.
    pub received: u32,
}

/// Why a step was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UpdateRefusal {
    /// The file is longer than a slot.
    TooLong {
        /// What a slot holds.
        capacity: u32,
    },
    /// No update was begun, or another one since.
    NotBegun,
    /// Bytes are missing.
    Incomplete {
        /// Those that are there.
        received: u32,
    },
    /// The bytes that arrived are not those that were announced.
    Damaged,
    /// The model may not be used.
    Model(Fault),
    /// No model is on trial.
    NothingOnTrial,
    /// The flash failed; the model of before is in use.
    Flash,
    /// The flash failed in the last step: after a restart [`Step::Info`] says what became of it.
    Unknown,
}

/// What a device has against a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Fault {
    /// It is no model that this firmware can read: damaged, of another format, or with something behind it.
    NotAModel,
    /// The firmware has too little memory for it.
    Workspace {
        /// D, M and O of the model.
        needed: [u16; 3],
    },
    /// A path takes too long.
    Work {
        /// Operations of a path.
        operations: u64,
        /// The most there may be.
        most: u64,
    },
    /// It is not signed.
    Unsigned,
    /// It is signed with a key that the firmware does not know.
    OtherKey,
    /// The signature does not belong to it.
    Forged,
    /// Its counter is too small.
    Older {
        /// Its counter.
        counter: u32,
        /// The smallest that would be taken.
        least: u32,
    },
    /// Something else.
    Other,
}
