//! Replaces a model in flash so that a power cut at any moment leaves a whole model: the old one or the new one.
//!
//! Two slots take turns. An update erases and fills the slot that is not in use, checks what it wrote, and writes a
//! header in front of it; a slot without a valid header and a valid model does not count. The new model is in use at once,
//! on trial: until it is confirmed, the next boot takes the old one back. `docs/model-update.md` has the layout and the
//! argument; the names S1 to S5 in these modules refer to it.
//!
//! ```
//! use diffgp_slots::{Copied, Fits, Layout, Slots};
//! # use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
//! # struct Ram(Vec<u8>);
//! # impl ErrorType for Ram { type Error = NorFlashErrorKind; }
//! # impl ReadNorFlash for Ram {
//! #     const READ_SIZE: usize = 1;
//! #     fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
//! #         let offset = offset as usize;
//! #         bytes.copy_from_slice(&self.0[offset..offset + bytes.len()]);
//! #         Ok(())
//! #     }
//! #     fn capacity(&self) -> usize { self.0.len() }
//! # }
//! # impl NorFlash for Ram {
//! #     const WRITE_SIZE: usize = 4;
//! #     const ERASE_SIZE: usize = 4096;
//! #     fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
//! #         self.0[from as usize..to as usize].fill(0xff);
//! #         Ok(())
//! #     }
//! #     fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
//! #         let offset = offset as usize;
//! #         self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
//! #         Ok(())
//! #     }
//! # }
//! # let flash = Ram(vec![0xff; 256 * 1024]);
//! # let received = include_bytes!("../models/steps.dgp");
//! // `flash` is the HAL's driver. The models are copied to memory to be checked; `Mapped` reads them in place.
//! let mut memory = [0_u32; 16 * 1024];
//! let layout = Layout { start: 0x1_0000, slot_bytes: 0x1_0000 };
//! let fits = Fits::<8, 100> { operations: 1_000_000 };
//! let mut slots = Slots::open(flash, layout, Copied(&mut memory), fits)?;
//! assert_eq!(slots.model(), None);
//!
//! // A new model arrives, in pieces of any size.
//! let mut update = slots.update(received.len() as u32)?;
//! for piece in received.chunks(100) {
//!     update.write(piece)?;
//! }
//! update.commit()?;
//! assert_eq!(slots.model(), Some(&received[..]));
//!
//! // It predicts well: it stays.
//! slots.confirm()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is guaranteed
//!
//! - Once a first [`Update::commit`] has returned, [`Slots::open`] finds a model whatever happened since: power cuts at
//!   any write or erase, in any number, with words written and pages erased in part.
//! - The model in use is never erased, and nobody can borrow one that is. [`Slots::model`] passed [`Blob::parse`] and what
//!   [`Accept`] asked for, and is never a mixture.
//! - An error of [`Update::commit`] means that the next boot finds the model of before, unless it is [`Error::Unknown`].
//! - No panic, no allocation; nothing but the flash's own errors stops an update.
//!
//! # Features
//!
//! `async` brings the slots over flash whose driver is asynchronous. `signatures` brings [`Signed`], which takes models that an Ed25519 key has signed (`docs/security.md`). `classes` and
//! `integers`, on by default, say which models an update may bring.
//!
//! What is *not* guaranteed: anything about an [`Update`] that was not committed; flash that loses what it once held,
//! beyond the loss of one slot; and, where half-written cells read differently each time, one chain of three power cuts,
//! which `docs/model-update.md` describes.
//!
//! [`Blob::parse`]: diffgp_core::blob::Blob::parse
#![no_std]
#![forbid(unsafe_code)]

#[cfg(doctest)]
extern crate std;

mod accept;
mod access;
#[cfg(feature = "async")]
#[allow(clippy::duplicate_mod, reason = "one source for flash that waits and flash that does not")]
pub mod asynchronous;
mod block;
#[allow(clippy::duplicate_mod, reason = "as above")]
mod blocking;
mod error;
mod geometry;
mod header;
mod paused;
#[cfg(feature = "signatures")]
mod signed;
mod slot;

pub use accept::{Accept, Candidate, Fits, Moment};
pub use access::{Copied, Mapped};
pub use block::{BLOCK_BYTES, Block};
pub use blocking::{Access, Slots, Update};
pub use error::{Error, LayoutError, Unconfirmed, Unusable};
pub use geometry::{Layout, Location};
pub use paused::Paused;
#[cfg(feature = "signatures")]
pub use signed::{Signed, is_signed_by};
