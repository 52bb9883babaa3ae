//! CRC-32 as in Ethernet, zlib and PNG (reflected polynomial 0xEDB88320), half a byte at a time.
//!
//! Our own because the `crc` crate offers 1 KiB of table (a twelfth of the runtime's flash) or one bit at a time;
//! sixteen entries are 64 bytes and about 12 instructions per byte. It is tested against that crate.

/// CRC of every half byte.
const TABLE: [u32; 16] = {
    let mut table = [0; 16];
    let mut nibble = 0;
    while nibble < 16 {
        let mut crc = nibble as u32;
        let mut bit = 0;
        while bit < 4 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[nibble] = crc;
        nibble += 1;
    }
    table
};

/// The checksum that ends a blob.
pub fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 4) ^ TABLE[(crc & 15) as usize];
    !bytes.iter().fold(u32::MAX, |crc, &byte| step(step(crc ^ u32::from(byte))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_crc_of_everybody_else() {
        let reference = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
        let mut bytes = [0_u8; 1024];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (i * 167 + i / 7) as u8;
        }
        for length in [0, 1, 2, 3, 4, 9, 255, 1024] {
            assert_eq!(checksum(&bytes[..length]), reference.checksum(&bytes[..length]));
        }
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
