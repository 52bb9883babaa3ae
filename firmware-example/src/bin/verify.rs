//! What the verification of a signed model costs: the file beside this image, by the key of the image `signed`.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::counter::Counter;
use diffgp_firmware::{console, entry, region, stack};
use diffgp_slots::{BLOCK_BYTES, is_signed_by};

diffgp_firmware::report_panic!();

const KEY: [u8; 32] = [
    0x03, 0xa1, 0x07, 0xbf, 0xf3, 0xce, 0x10, 0xbe, 0x1d, 0x70, 0xdd, 0x18, 0xe7, 0x4b, 0xc0, 0x99, 0x67, 0xe4, 0xd6,
    0x30, 0x9b, 0xa5, 0x0d, 0x5f, 0x1d, 0xdc, 0x86, 0x64, 0x12, 0x55, 0x31, 0xb8,
];

#[entry]
fn main() -> ! {
    let Some(mut counter) = Counter::start() else { console::exit(2) };
    let flash = region::model();
    let length = diffgp_infer::Blob::length_from_prelude(flash).unwrap_or_default();
    let bytes = flash.get(..length + BLOCK_BYTES).unwrap_or_default();
    console::line("calibration", &[counter.calibrate()]);
    let (ticks, signed) = counter.ticks(|| is_signed_by(black_box(&KEY), bytes));
    console::line("ticks-verify", &[ticks, signed.into()]);
    counter.silence();
    let (used, signed) = stack::used(|| is_signed_by(black_box(&KEY), bytes));
    console::line("stack-verify", &[used, signed.into()]);
    console::exit(0)
}
