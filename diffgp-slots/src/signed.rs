//! Signed models: Ed25519 over the whole model file and its counter.

use ed25519_compact::{PublicKey, Signature};

use crate::accept::{Accept, Candidate, Moment};
use crate::block::Block;
use crate::error::Unusable;

/// Updates that one of these keys has signed, with a counter larger than that of the model in use.
///
/// At boot it asks for nothing, unless told otherwise: who can write to the flash past this crate can replace the
/// firmware too, and verification takes its time.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'k> {
    keys: &'k [[u8; 32]],
    least: u32,
    at_boot: bool,
}

impl<'k> Signed<'k> {
    /// Of these public keys, of which several allow for a change of keys.
    pub const fn by(keys: &'k [[u8; 32]]) -> Self {
        Self { keys, least: 0, at_boot: false }
    }

    /// No model with a counter below this one, whatever is in use: the counter of a model that came with the firmware,
    /// plus one.
    #[must_use]
    pub const fn from_counter(self, least: u32) -> Self {
        Self { least, ..self }
    }

    /// Verifies models at boot too.
    #[must_use]
    pub const fn also_at_boot(self) -> Self {
        Self { at_boot: true, ..self }
    }
}

impl Accept for Signed<'_> {
    fn accept(&mut self, candidate: &Candidate<'_>) -> Result<(), Unusable> {
        // The cheap questions first.
        let least = match candidate.moment {
            Moment::Boot if !self.at_boot => return Ok(()),
            Moment::Boot => self.least,
            Moment::Update { in_use: None } => self.least,
            Moment::Update { in_use: Some(counter) } => {
                self.least.max(counter.checked_add(1).ok_or(Unusable::LastCounter)?)
            }
        };
        let block = candidate.block.ok_or(Unusable::Unsigned)?;
        if block.counter < least {
            return Err(Unusable::Older { counter: block.counter, least });
        }
        let of_this_key = |key: &&[u8; 32]| key.starts_with(&block.key);
        let mut keys = self.keys.iter().filter(of_this_key).peekable();
        keys.peek().ok_or(Unusable::OtherKey)?;
        let signed = candidate.bytes.strip_suffix(block.signature).unwrap_or_default();
        if keys.any(|key| verify(key, signed, block.signature)) { Ok(()) } else { Err(Unusable::Forged) }
    }
}

/// Whether this key has signed this model file with this block behind it. The block's counter is not looked at.
pub fn is_signed_by(key: &[u8; 32], bytes: &[u8]) -> bool {
    let signature = bytes.split_last_chunk::<{ crate::block::BLOCK_BYTES }>().and_then(|(_, block)| Block::read(block));
    let signed = signature.and_then(|block| Some((bytes.strip_suffix(block.signature)?, block)));
    signed.is_some_and(|(signed, block)| verify(key, signed, block.signature))
}

#[inline(never)]
fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    PublicKey::new(*key).verify(message, &Signature::new(*signature)).is_ok()
}
