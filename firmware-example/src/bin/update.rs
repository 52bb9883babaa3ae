//! A device in the field: predicts over the serial port with the model in its slots, which `diffgp update` replaces.
//! Memory plays the flash; `docs/model-update.md` says how it is done with a real one.
#![no_std]
#![no_main]

use diffgp_firmware::counter::Counter;
use diffgp_firmware::flash::{Flash, LAYOUT, model_at};
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{MOST_OPERATIONS, console, entry};
use diffgp_infer::Workspace;
use diffgp_link::Device;
use diffgp_slots::{Fits, Mapped, Slots};

diffgp_firmware::forbid_panic!();

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(1) };
    let mut uart = Uart::start();
    let fits = Fits::<4, 50> { operations: MOST_OPERATIONS };
    let Ok(slots) = Slots::open(Flash::take(), LAYOUT, Mapped(model_at), fits) else { console::exit(2) };
    let mut device = Device::new(slots, Workspace::<4, 50>::new(), MOST_OPERATIONS, |work| counter.ticks(work).0);
    loop {
        if let Some(frame) = device.answer(uart.read()) {
            uart.write(&frame);
        }
    }
}
