//! A piece of flash whose bits can be flipped.

use zerocopy::IntoBytes;

/// Bytes at a multiple of four; whole words only.
#[derive(Clone)]
pub(crate) struct Region {
    words: Vec<u32>,
}

impl Region {
    /// A region that holds these bytes, whose number is a multiple of four, as that of every model is.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len() % 4, 0);
        let mut words = vec![0; bytes.len() / 4];
        words.as_mut_bytes().copy_from_slice(bytes);
        Self { words }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.words.as_mut_bytes()
    }

    pub(crate) fn flip(&mut self, bit: usize) {
        self.words.as_mut_bytes()[bit / 8] ^= 1 << (bit % 8);
    }
}
