//! RISC-V: `minstret`, the count of retired instructions.

use core::arch::asm;
use riscv::register::minstret;

/// The counter is always running.
pub struct Counter(());

impl Counter {
    /// The same signature as on Cortex-M, where starting can fail.
    pub fn start() -> Option<Self> {
        Some(Self(()))
    }

    /// Nothing interrupts here.
    pub fn silence(&mut self) {}

    pub(super) fn now(&self) -> u64 {
        minstret::read64()
    }
}

/// Two instructions per round.
#[inline(always)]
pub(super) fn spin(rounds: u32) {
    // SAFETY: counts a register down to zero; touches no memory.
    unsafe {
        asm!("2:", "addi {n}, {n}, -1", "bnez {n}, 2b", n = inout(reg) rounds => _, options(nomem, nostack));
    }
}
