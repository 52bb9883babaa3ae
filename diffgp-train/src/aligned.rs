//! Bytes at an address that the runtime accepts.

/// A copy of some bytes that starts at a multiple of four, as `diffgp_infer::Model::parse` demands.
///
/// A `Vec<u8>` read from a file usually is aligned, but nothing promises it.
#[derive(Clone, Debug)]
pub struct AlignedBytes {
    words: Vec<u32>,
    length: usize,
}

impl AlignedBytes {
    /// Copies the bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut words = vec![0_u32; bytes.len().div_ceil(4)];
        zerocopy::IntoBytes::as_mut_bytes(words.as_mut_slice())[..bytes.len()].copy_from_slice(bytes);
        Self { words, length: bytes.len() }
    }

    /// Keeps the first `length` bytes, if there are more.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &zerocopy::IntoBytes::as_bytes(self.words.as_slice())[..self.length]
    }
}
