//! Replaces a model in flash so that a power cut at any moment leaves a whole model: the old one or the new one.
//!
//! Two slots take turns. An update erases and fills the slot that is not in use, checks what it wrote, and writes a
//! header in front of it; a slot without a valid header and a valid model does not count. `docs/model-update.md` has the
//! layout and the argument; the names S1 to S5 in these modules refer to it.
//!
//! ```
//! use diffgp_slots::{Copied, Layout, Slots};
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
//! let mut slots = Slots::open(flash, layout, Copied(&mut memory))?;
//! assert_eq!(slots.active(), None);
//!
//! // A new model arrives, in pieces of any size.
//! let mut update = slots.update(received.len() as u32)?;
//! for piece in received.chunks(100) {
//!     update.write(piece)?;
//! }
//! let location = update.commit()?;
//! assert_eq!(slots.active(), Some(location));
//! # assert_eq!(memory_of(&memory)[..location.length as usize], received[..]);
//! # fn memory_of(words: &[u32]) -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is guaranteed
//!
//! - Once a first [`Update::commit`] has returned, [`Slots::open`] finds a model whatever happened since: power cuts at
//!   any write or erase, in any number, with words written and pages erased in part.
//! - The active slot is never erased. [`Slots::active`] is a model that passed [`Blob::parse`], never a mixture.
//! - No panic, no allocation; nothing but the flash's own errors stops an update.
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

mod check;
mod error;
mod geometry;
mod header;
mod slots;
mod update;

pub use check::{Check, Copied, Mapped};
pub use error::{Error, LayoutError, Unusable};
pub use geometry::{Layout, Location};
pub use slots::Slots;
pub use update::Update;
