//! The image `verify` without the verification: by as much as that one is larger, so much flash the verification takes.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::counter::Counter;
use diffgp_firmware::{console, entry, region, stack};
use diffgp_slots::BLOCK_BYTES;

diffgp_firmware::report_panic!();

#[entry]
fn main() -> ! {
    let Some(mut counter) = Counter::start() else { console::exit(2) };
    let flash = region::model();
    let length = diffgp_infer::Blob::length_from_prelude(flash).unwrap_or_default();
    let bytes = flash.get(..length + BLOCK_BYTES).unwrap_or_default();
    let is_there = || !black_box(bytes).is_empty();
    console::line("calibration", &[counter.calibrate()]);
    let (ticks, there) = counter.ticks(is_there);
    console::line("ticks-verify", &[ticks, there.into()]);
    counter.silence();
    let (used, there) = stack::used(is_there);
    console::line("stack-verify", &[used, there.into()]);
    console::exit(0)
}
