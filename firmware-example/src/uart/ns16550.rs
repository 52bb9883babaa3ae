//! The 16550 of QEMU's RISC-V machine: byte registers.

use core::ptr;

const BASE: usize = 0x1000_0000;
const DATA: usize = BASE;
const FIFO_CONTROL: usize = BASE + 2;
const LINE_STATUS: usize = BASE + 5;
const RECEIVED: u8 = 1;
const ROOM: u8 = 1 << 5;

pub(super) fn start() {
    store(FIFO_CONTROL, 1);
}

pub(super) fn try_read() -> Option<u8> {
    (read(LINE_STATUS) & RECEIVED != 0).then(|| read(DATA))
}

pub(super) fn write(byte: u8) {
    while read(LINE_STATUS) & ROOM == 0 {}
    store(DATA, byte);
}

fn read(address: usize) -> u8 {
    // SAFETY: called with the addresses of the byte registers above.
    unsafe { ptr::read_volatile(address as *const u8) }
}

fn store(address: usize, value: u8) {
    // SAFETY: called with the addresses of the byte registers above.
    unsafe { ptr::write_volatile(address as *mut u8, value) }
}
