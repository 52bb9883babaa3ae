//! The library that C programs link. All functions are those of `diffgp-c`.
#![no_std]

pub use diffgp_c::*;

/// No panic may be reachable: a program that could get here does not link.
#[cfg(not(feature = "signatures"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn a_panic_path_is_left_in_diffgp() -> !;
    }
    // SAFETY: never executed, since a program with this call does not link.
    unsafe { a_panic_path_is_left_in_diffgp() }
}

/// Only the verification of signatures can get here, whose crate has checks of indices that the compiler cannot show to be
/// needless; `cargo xtask c` looks for this function in programs without it. It waits for the watchdog.
#[cfg(feature = "signatures")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[allow(clippy::empty_loop, reason = "there is nothing to do: no console, and no exit on a device")]
    loop {}
}
