//! Makes changed bytes look like a model again, so that a change gets past the prelude and the checksum.

use diffgp_core::blob::{CHECKSUM_BYTES, FORMAT_VERSION, MAGIC, PRELUDE_BYTES, checksum};

/// Sets P1 to P3 and the checksum to what the bytes are; P4, the length of the header, stays. Bytes behind the last
/// multiple of four are cut off. Returns the new length; too few bytes stay as they are.
pub fn repair(bytes: &mut [u8]) -> usize {
    let total = bytes.len() / 4 * 4;
    if total < PRELUDE_BYTES + CHECKSUM_BYTES {
        return bytes.len();
    }
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes[8..12].copy_from_slice(&(total as u32).to_le_bytes());
    let crc = checksum(&bytes[..total - CHECKSUM_BYTES]);
    bytes[total - CHECKSUM_BYTES..total].copy_from_slice(&crc.to_le_bytes());
    total
}
