//! What the images share: where the model lies, an instruction counter, a stack gauge, a console.
//!
//! A project of your own needs only [`region::model`]; counter, gauge and console serve the measurements under QEMU.
#![no_std]

#[cfg(feature = "compiled-in-model")]
mod compiled_in;
pub mod console;
pub mod copies;
pub mod counter;
pub mod flash;
pub mod job;
pub mod panic;
pub mod region;
pub mod reset;
pub mod stack;
pub mod uart;
#[cfg(target_arch = "arm")]
mod vectors;

/// The most work of one request, so that no frame keeps the device busy for good: about a minute at 50 MHz. An operation
/// is a multiply-add, of 2.4 instructions with floating-point hardware and up to 240 without.
pub const MOST_OPERATIONS: u64 = if cfg!(target_abi = "eabihf") { 1_000_000_000 } else { 10_000_000 };

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
