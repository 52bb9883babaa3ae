//! The UART of the nRF51, on the micro:bit.

use super::{read, write as store};

const BASE: usize = 0x4000_2000;
const START_RECEIVING: usize = BASE;
const START_SENDING: usize = BASE + 0x8;
const RECEIVED: usize = BASE + 0x108;
const SENT: usize = BASE + 0x11c;
const ENABLE: usize = BASE + 0x500;
const RECEIVE_DATA: usize = BASE + 0x518;
const SEND_DATA: usize = BASE + 0x51c;

pub(super) fn start() {
    store(ENABLE, 4);
    store(START_RECEIVING, 1);
    store(START_SENDING, 1);
}

pub(super) fn try_read() -> Option<u8> {
    (read(RECEIVED) != 0).then(|| {
        // In this order: reading the data lets the next byte in, and its event must not be erased.
        store(RECEIVED, 0);
        read(RECEIVE_DATA) as u8
    })
}

pub(super) fn write(byte: u8) {
    store(SENT, 0);
    store(SEND_DATA, byte.into());
    while read(SENT) == 0 {}
}
