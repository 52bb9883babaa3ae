//! Arm's PL011, on the LM3S6965.

use super::{read, write as store};

const BASE: usize = 0x4000_c000;
const DATA: usize = BASE;
const FLAGS: usize = BASE + 0x18;
const LINE: usize = BASE + 0x2c;
const CONTROL: usize = BASE + 0x30;
const NOTHING_RECEIVED: u32 = 1 << 4;
const NO_ROOM: u32 = 1 << 5;

pub(super) fn start() {
    // Eight bits, with FIFOs; then the port, its sender and its receiver on.
    store(LINE, 0x70);
    store(CONTROL, 0x301);
}

pub(super) fn try_read() -> Option<u8> {
    (read(FLAGS) & NOTHING_RECEIVED == 0).then(|| read(DATA) as u8)
}

pub(super) fn write(byte: u8) {
    while read(FLAGS) & NO_ROOM != 0 {}
    store(DATA, byte.into());
}
