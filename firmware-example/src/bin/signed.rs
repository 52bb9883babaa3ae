//! The image `update` for signed models only: verified with Ed25519 before they are committed.
//!
//! It has a panic handler: the checks of indices inside the crate that verifies are in it, although none can fail.
#![no_std]
#![no_main]

use diffgp_firmware::counter::Counter;
use diffgp_firmware::flash::{Flash, LAYOUT, model_at};
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{MOST_OPERATIONS, console, entry};
use diffgp_infer::Workspace;
use diffgp_link::Device;
use diffgp_slots::{Fits, Mapped, Signed, Slots};

diffgp_firmware::report_panic!();

/// The public key of the secret key `000102…1f`, which everybody knows: your own is made by `diffgp keygen`.
const KEYS: [[u8; 32]; 1] = [[
    0x03, 0xa1, 0x07, 0xbf, 0xf3, 0xce, 0x10, 0xbe, 0x1d, 0x70, 0xdd, 0x18, 0xe7, 0x4b, 0xc0, 0x99, 0x67, 0xe4, 0xd6,
    0x30, 0x9b, 0xa5, 0x0d, 0x5f, 0x1d, 0xdc, 0x86, 0x64, 0x12, 0x55, 0x31, 0xb8,
]];

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(1) };
    let mut uart = Uart::start();
    let accept = (Signed::by(&KEYS), Fits::<4, 50> { operations: MOST_OPERATIONS });
    let Ok(slots) = Slots::open(Flash::take(), LAYOUT, Mapped(model_at), accept) else { console::exit(2) };
    let mut device = Device::new(slots, Workspace::<4, 50>::new(), MOST_OPERATIONS, |work| counter.ticks(work).0);
    loop {
        if let Some(frame) = device.answer(uart.read()) {
            uart.write(&frame);
        }
    }
}
