//! The device over flash whose driver is asynchronous: [`Device`](crate::Device) word for word, with `.await`.
//!
//! ```ignore
//! let mut device = Device::new(slots, Workspace::<8, 100>::new(), MOST_OPERATIONS, ticks);
//! loop {
//!     if let Some(frame) = device.answer(uart.read().await).await {
//!         uart.write(&frame).await;
//!     }
//! }
//! ```
//!
//! A prediction does not wait: other tasks of the same executor wait for it, for as long as `MOST_OPERATIONS` take. The future of
//! an answer may be dropped before its end. The next request then begins as after a restart: a model on trial is taken back
//! unless its mark was written, and an update under way begins anew.

use diffgp_slots::asynchronous::{Access, Slots};
use diffgp_twin::asynchronous as twin;
use embedded_storage_async::nor_flash::NorFlash;

#[path = "device.rs"]
mod device;

pub use device::Device;

/// A future may be, in the middle of a request.
const CAN_BE_DROPPED: bool = true;
