//! The signature block behind a model: which key signed it, and the how-manieth model it is.
//!
//! ```text
//! B1  4   magic, `DGPg`
//! B2  4   version of the block, 1
//! B3  4   counter, little-endian: an update must have a larger one than the model in use
//! B4  4   the first four bytes of the public key
//! B5  64  Ed25519 signature of the model file and B1 to B4 behind it
//! ```

/// B1 to B5.
pub const BLOCK_BYTES: usize = 80;

/// B1 to B4, the part that is signed.
pub(crate) const SIGNED_BYTES: usize = 16;

/// B1.
pub(crate) const MAGIC: [u8; 4] = *b"DGPg";

/// B2.
pub(crate) const VERSION: u32 = 1;

/// A block as it was found; whether it is right, only its signature says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// B3.
    pub counter: u32,
    /// B4.
    pub key: [u8; 4],
    /// B5.
    pub signature: &'a [u8; 64],
}

impl<'a> Block<'a> {
    /// The block that these bytes are; `None` if they are none, or one of another version.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let (&[magic, version, counter, key], _) = words.split_first_chunk::<4>()?;
        let (_, signature) = bytes.split_last_chunk::<64>()?;
        let known = bytes.len() == BLOCK_BYTES && magic == MAGIC && u32::from_le_bytes(version) == VERSION;
        known.then_some(Self { counter: u32::from_le_bytes(counter), key, signature })
    }

    /// B1 to B4 of a block to be: what is signed behind the model.
    pub fn unsigned(counter: u32, public_key: &[u8; 32]) -> [u8; SIGNED_BYTES] {
        let [a, b, c, d, ..] = *public_key;
        let words = [MAGIC, VERSION.to_le_bytes(), counter.to_le_bytes(), [a, b, c, d]];
        let mut bytes = [0; SIGNED_BYTES];
        crate::header::put(&mut bytes, words.as_flattened());
        bytes
    }
}
