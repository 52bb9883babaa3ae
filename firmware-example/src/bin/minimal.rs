//! The smallest image: what a model costs in flash, and that nothing in it can panic.
#![no_std]
#![no_main]

use diffgp_firmware::{entry, region};

diffgp_firmware::forbid_panic!();

#[entry]
fn main() -> ! {
    loop {
        core::hint::black_box(region::model());
    }
}
