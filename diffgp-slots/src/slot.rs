//! What is known of a slot.

use diffgp_core::blob::{Blob, ParseError};

use crate::block::Block;
use crate::error::Unusable;
use crate::geometry::{Location, Side};
use crate::header::Header;

/// A slot with a valid header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) side: Side,
    pub(crate) header: Header,
    pub(crate) location: Location,
    /// S5: the model was confirmed, and with it that the write of the header was completed.
    pub(crate) confirmed: bool,
}

impl Slot {
    /// Of two confirmed slots the newer counts, of two unconfirmed ones the older: the newer one was written while the
    /// older one was in use.
    pub(crate) fn counts_before(&self, other: &Self) -> bool {
        match (self.confirmed, other.confirmed) {
            (true, true) => self.header.is_newer_than(&other.header),
            (false, false) => other.header.is_newer_than(&self.header),
            (confirmed, _) => confirmed,
        }
    }
}

/// A model that was committed and not confirmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// The model to go back to.
    pub(crate) before: Option<Slot>,
}

/// The model, and the block behind it if there is one; nothing else may be there.
pub(crate) fn model_and_block(bytes: &[u8]) -> Result<(&[u8], Option<Block<'_>>), Unusable> {
    let length = Blob::length_from_prelude(bytes).map_err(Unusable::Model)?;
    let truncated = ParseError::Truncated { needed: length, found: bytes.len() };
    let (model, behind) = bytes.split_at_checked(length).ok_or(Unusable::Model(truncated))?;
    if behind.is_empty() {
        return Ok((model, None));
    }
    let said = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    Ok((model, Some(Block::read(behind).ok_or(Unusable::Length { said, found: length })?)))
}
