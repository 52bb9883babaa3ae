//! The slots over flash whose driver returns when it is done.

use diffgp_twin::blocking as twin;
use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};

#[path = "twin/access.rs"]
mod access;
#[path = "twin/slots.rs"]
mod slots;
#[path = "twin/trial.rs"]
mod trial;
#[path = "twin/update.rs"]
mod update;

pub use access::Access;
pub use slots::Slots;
pub use update::Update;
