//! How much stack a call uses: the memory below the stack pointer is painted, the call runs, and the deepest spot
//! whose paint is gone marks the high water.

use core::arch::asm;
use core::ptr;

/// Depth that is painted, in bytes. A call that reports this much may have gone deeper.
pub const WINDOW: usize = 8 * 1024;

const PAINT: u32 = 0x5eed_a5a5;

/// Bytes of stack that `work` uses, and its result. No interrupt may be active meanwhile.
#[inline(never)]
pub fn used<R>(work: impl FnOnce() -> R) -> (u32, R) {
    let top = stack_pointer() & !3;
    let bottom = top - WINDOW;
    for address in (bottom..top).step_by(4) {
        // SAFETY: memory below the stack pointer belongs to the stack and holds nothing live while no call is under
        // way and no interrupt is active; every image leaves far more than WINDOW bytes of RAM to the stack.
        unsafe { ptr::write_volatile(address as *mut u32, PAINT) };
    }
    let result = call(work);
    let mut deepest = bottom;
    // SAFETY: the same words as above, only read.
    while deepest < top && unsafe { ptr::read_volatile(deepest as *const u32) } == PAINT {
        deepest += 4;
    }
    ((top - deepest) as u32, result)
}

/// A frame of its own for `work`, below the painted line.
#[inline(never)]
fn call<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "arm")]
    // SAFETY: copies a register.
    unsafe {
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "riscv32")]
    // SAFETY: copies a register.
    unsafe {
        asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}
