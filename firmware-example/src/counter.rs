//! Counts executed instructions.
//!
//! QEMU's `-icount` makes time a function of the instructions executed, so a timer counts them: exactly and
//! repeatably, but in ticks of its own. [`Counter::calibrate`] runs a loop of known length; the reader of the figures
//! divides by it.

#[cfg(target_arch = "arm")]
#[path = "counter/cortex_m.rs"]
mod arch;
#[cfg(target_arch = "riscv32")]
#[path = "counter/riscv.rs"]
mod arch;

pub use arch::Counter;

/// Instructions in the loop that [`Counter::calibrate`] times.
pub const CALIBRATION_INSTRUCTIONS: u32 = 2_000_000;

impl Counter {
    /// Ticks that `work` takes, without the cost of reading the counter.
    pub fn ticks<R>(&self, work: impl FnOnce() -> R) -> (u32, R) {
        let (ticks, result) = self.many_ticks(work);
        (ticks as u32, result)
    }

    /// The same for work that takes more than 2³² of them.
    pub fn many_ticks<R>(&self, work: impl FnOnce() -> R) -> (u64, R) {
        let start = self.now();
        let result = work();
        let ticks = self.now().wrapping_sub(start);
        (ticks.wrapping_sub(self.overhead()), result)
    }

    /// Ticks of exactly [`CALIBRATION_INSTRUCTIONS`].
    pub fn calibrate(&self) -> u32 {
        self.ticks(|| arch::spin(CALIBRATION_INSTRUCTIONS / 2)).0
    }

    fn overhead(&self) -> u64 {
        let start = self.now();
        self.now().wrapping_sub(start)
    }
}
