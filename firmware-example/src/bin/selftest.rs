//! Tests the measuring tools themselves: known instruction counts, known stack depths, equal bits of `expf`.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::counter::Counter;
use diffgp_firmware::{console, entry, stack};

diffgp_firmware::report_panic!();

#[entry]
fn main() -> ! {
    let Some(mut counter) = Counter::start() else { console::exit(1) };
    let sum = (0..1000).fold(0.0f32, |sum, i| sum + libm::expf(-0.01 * i as f32));
    console::line("expf-sum", &[sum.to_bits()]);

    console::line("calibration", &[counter.calibrate()]);
    // Long enough for SysTick to wrap several times.
    let (ticks, ()) = counter.ticks(|| {
        for _ in 0..10 {
            black_box(counter.calibrate());
        }
    });
    console::line("ten-calibrations", &[ticks]);

    counter.silence();
    console::line("stack-of-nothing", &[stack::used(|| ()).0]);
    console::line("stack-of-1000-bytes", &[stack::used(|| _ = black_box([1u8; 1000])).0]);
    console::exit(0)
}
