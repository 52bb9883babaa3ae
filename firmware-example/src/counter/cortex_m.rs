//! Cortex-M: SysTick, 24 bits wide, extended by counting its wraps in the exception handler.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{Peripherals, SYST};
use cortex_m_rt::exception;

const PERIOD: u32 = 1 << 24;

static WRAPS: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    // No other writer exists, and the Cortex-M0 has no atomic addition.
    WRAPS.store(WRAPS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// The running SysTick timer.
pub struct Counter {
    timer: SYST,
}

impl Counter {
    /// Starts counting; `None` when somebody else has taken the peripherals.
    pub fn start() -> Option<Self> {
        let mut timer = Peripherals::take()?.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(PERIOD - 1);
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        Some(Self { timer })
    }

    /// Stops the exception, whose frame would otherwise show up in stack measurements.
    pub fn silence(&mut self) {
        self.timer.disable_interrupt();
    }

    /// Ticks since the start.
    pub(super) fn now(&self) -> u64 {
        loop {
            let wraps = WRAPS.load(Ordering::Relaxed);
            let left = SYST::get_current();
            // A wrap in between makes the pair inconsistent: read again.
            if wraps == WRAPS.load(Ordering::Relaxed) {
                return u64::from(wraps) * u64::from(PERIOD) + u64::from(PERIOD - 1 - left);
            }
        }
    }
}

/// Two instructions per round.
#[inline(always)]
pub(super) fn spin(rounds: u32) {
    // SAFETY: counts a register down to zero; touches no memory.
    unsafe {
        asm!("2:", "subs {n}, {n}, #1", "bne 2b", n = inout(reg) rounds => _, options(nomem, nostack));
    }
}
