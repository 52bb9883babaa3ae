//! The serial port of each board, by polling: the least that a request loop needs.
//!
//! A board of your own has a HAL for this; these drivers know just the registers that QEMU's boards need.

#[cfg(not(feature = "rv32"))]
use core::ptr;

#[cfg(any(feature = "m4f", feature = "m7", feature = "m33", feature = "m55"))]
#[path = "uart/cmsdk.rs"]
mod port;
#[cfg(feature = "rv32")]
#[path = "uart/ns16550.rs"]
mod port;
#[cfg(feature = "m0")]
#[path = "uart/nrf51.rs"]
mod port;
#[cfg(feature = "m3")]
#[path = "uart/pl011.rs"]
mod port;

/// The serial port, switched on.
pub struct Uart(());

impl Uart {
    /// Switches the port on.
    pub fn start() -> Self {
        port::start();
        Self(())
    }

    /// Waits for a byte.
    pub fn read(&mut self) -> u8 {
        loop {
            if let Some(byte) = port::try_read() {
                return byte;
            }
        }
    }

    /// Sends bytes, waiting while the port is busy.
    pub fn write(&mut self, bytes: &[u8]) {
        bytes.iter().copied().for_each(port::write);
    }
}

/// Reads a device register.
#[cfg(not(feature = "rv32"))]
fn read(address: usize) -> u32 {
    // SAFETY: called by the drivers with addresses of word registers of this board's serial port.
    unsafe { ptr::read_volatile(address as *const u32) }
}

/// Writes a device register.
#[cfg(not(feature = "rv32"))]
fn write(address: usize, value: u32) {
    // SAFETY: called by the drivers with addresses of word registers of this board's serial port.
    unsafe { ptr::write_volatile(address as *mut u32, value) }
}
