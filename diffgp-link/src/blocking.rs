//! The device over flash whose driver returns when it is done.

use diffgp_slots::{Access, Slots};
use diffgp_twin::blocking as twin;
use embedded_storage::nor_flash::NorFlash;

#[path = "device.rs"]
mod device;

pub use device::Device;

/// What is called returns.
const CAN_BE_DROPPED: bool = false;
