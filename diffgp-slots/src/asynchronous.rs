//! The slots over flash whose driver is asynchronous, as executors have it: [`Slots`](crate::Slots) word for word, with
//! `.await` behind everything that the flash takes part in.
//!
//! No allocator and no executor of a kind is asked for, and futures need not be `Send`. [`Accept`](crate::Accept) does not
//! wait: a signature is verified in one go, about a second on a slow core, and other tasks of the same executor wait for it.
//!
//! # Futures that are dropped
//!
//! A future may be dropped before its end, as by a timeout. What that leaves in the flash is what a loss of power leaves in the
//! same moment, with which the next boot deals; and in memory:
//!
//! - [`Slots::update`], [`Update::write`]: the update is spoilt. Its commit finds that out; the model in use stays.
//! - [`Update::commit`], [`Slots::confirm`], [`Slots::take_back`]: no model is in use until [`Slots::reopen`] has found the one
//!   that the next boot would find.
//!
//! The driver must not go on writing for a future that is gone.

use diffgp_twin::asynchronous as twin;
use embedded_storage_async::nor_flash::{NorFlash, ReadNorFlash};

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
