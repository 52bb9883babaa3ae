//! What the images share: where the model lies, an instruction counter, a stack gauge, a console.
//!
//! A project of your own needs only [`region::model`]; counter, gauge and console serve the measurements under QEMU.
#![no_std]

#[cfg(feature = "compiled-in-model")]
mod compiled_in;
pub mod console;
pub mod counter;
pub mod job;
pub mod panic;
pub mod region;
pub mod stack;
pub mod uart;
#[cfg(target_arch = "arm")]
mod vectors;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
