//! S1 to S4: what stands in front of a model.

use diffgp_core::blob::checksum;

/// S1: the first four bytes of a slot with a model.
const MAGIC: [u8; 4] = *b"DGPs";

/// S1 to S4 and their checksum.
pub(crate) const HEADER_BYTES: usize = 20;

/// S5: bytes of the mark that are looked at.
pub(crate) const MARK_BYTES: usize = 4;

/// What a flash reads as after an erase.
pub(crate) const ERASED: u8 = 0xff;

/// S2 to S4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// S2: one more than that of the other slot, modulo 2³².
    pub(crate) sequence: u32,
    /// S3: bytes of the model.
    pub(crate) length: u32,
    /// S4: the last four bytes of the model, its checksum: this header belongs to that model only.
    pub(crate) checksum: [u8; 4],
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let fields = [MAGIC, self.sequence.to_le_bytes(), self.length.to_le_bytes(), self.checksum];
        put(&mut bytes, fields.as_flattened());
        let own = checksum(fields.as_flattened());
        put(bytes.last_chunk_mut::<4>().map_or(&mut [], |last| last), &own.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (fields, own) = bytes.split_last_chunk::<4>()?;
        let ([magic, sequence, length, tail], []) = fields.as_chunks::<4>() else { return None };
        if *magic != MAGIC || checksum(fields) != u32::from_le_bytes(*own) {
            return None;
        }
        Some(Self { sequence: u32::from_le_bytes(*sequence), length: u32::from_le_bytes(*length), checksum: *tail })
    }

    /// Whether this model came after the other one. Numbers wrap: of two slots' numbers, the newer is less than 2³¹
    /// ahead.
    pub(crate) const fn is_newer_than(&self, other: &Self) -> bool {
        (self.sequence.wrapping_sub(other.sequence) as i32) > 0
    }
}

/// Copies as much as fits.
pub(crate) fn put(place: &mut [u8], bytes: &[u8]) {
    for (place, &byte) in place.iter_mut().zip(bytes) {
        *place = byte;
    }
}
