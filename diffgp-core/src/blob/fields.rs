//! Fields: how they are described, and how those of the header are read, one after the other.
//!
//! Not a derived `Deserialize` of the whole header: that checks for an error behind every field and takes twice the flash.
//! The header derives `Serialize`; both come from one list of its fields.

/// One field of the format, as the table in `docs/blob-format.md` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its number, as in `H1`.
    pub number: &'static str,
    /// Its name.
    pub name: &'static str,
    /// How it is stored: `u8`, `u16`, `u32`, `f32` or `bytes`.
    pub stored: &'static str,
    /// Which values it may have.
    pub limits: &'static str,
}

/// What is left to read. Once a field cannot be decoded there is nothing left, and what was read has no meaning.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    whole: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, whole: true }
    }

    /// What follows the fields that were read, if all of them could be.
    pub(super) fn rest(&self) -> Option<&'a [u8]> {
        self.whole.then_some(self.bytes)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.bytes.split_first_chunk::<N>() {
            Some((array, rest)) => {
                self.bytes = rest;
                *array
            }
            None => {
                self.whole = false;
                [0; N]
            }
        }
    }

    /// A `u8` is encoded as one byte.
    #[inline(never)]
    pub(super) fn u8(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// An `f32` is encoded as its four bytes.
    #[inline(never)]
    pub(super) fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.array())
    }

    #[inline(never)]
    pub(super) fn u32(&mut self) -> u32 {
        self.decode()
    }

    /// A `u16` is encoded like a `u32`.
    pub(super) fn u16(&mut self) -> u16 {
        let word = self.u32();
        self.whole &= word <= u32::from(u16::MAX);
        word as u16
    }

    #[inline(never)]
    pub(super) fn bytes(&mut self) -> &'a [u8] {
        self.decode()
    }

    fn decode<T: Default + serde::Deserialize<'a>>(&mut self) -> T {
        match postcard::take_from_bytes(self.bytes) {
            Ok((value, rest)) => {
                self.bytes = rest;
                value
            }
            Err(_) => {
                self.whole = false;
                T::default()
            }
        }
    }
}
