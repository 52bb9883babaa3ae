//! Starts the board again, as after a loss of power; memory that nothing initialises keeps what it holds.

/// Does not return.
#[cfg(target_arch = "arm")]
pub fn now() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}

/// Does not return.
#[cfg(target_arch = "riscv32")]
pub fn now() -> ! {
    /// QEMU's test device, and the word that resets the machine.
    const DEVICE: *mut u32 = 0x10_0000 as *mut u32;
    const RESET: u32 = 0x7777;
    // SAFETY: a word register of this board.
    unsafe { core::ptr::write_volatile(DEVICE, RESET) };
    loop {
        core::hint::spin_loop();
    }
}
