//! Arm's CMSDK UART, on the MPS2 and MPS3 boards.

use super::{read, write as store};

#[cfg(any(feature = "m4f", feature = "m7"))]
const BASE: usize = 0x4000_4000;
/// The secure alias: the core starts in the secure state.
#[cfg(feature = "m33")]
const BASE: usize = 0x5020_0000;
#[cfg(feature = "m55")]
const BASE: usize = 0x5930_3000;

const DATA: usize = BASE;
const STATE: usize = BASE + 0x4;
const CONTROL: usize = BASE + 0x8;
const DIVIDER: usize = BASE + 0x10;
const SENDING: u32 = 1;
const RECEIVED: u32 = 2;

pub(super) fn start() {
    // The smallest divider that the port accepts.
    store(DIVIDER, 16);
    store(CONTROL, 3);
}

pub(super) fn try_read() -> Option<u8> {
    (read(STATE) & RECEIVED != 0).then(|| read(DATA) as u8)
}

pub(super) fn write(byte: u8) {
    while read(STATE) & SENDING != 0 {}
    store(DATA, byte.into());
}
