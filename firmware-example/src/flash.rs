//! Memory that plays the flash of the slots: like flash it keeps what it holds when the board starts again.
//!
//! A board of your own has a driver in its HAL instead.

use core::cell::UnsafeCell;
use core::slice;

use diffgp_slots::{Layout, Location};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

/// Two slots; the Cortex-M0 has 16 KiB of RAM for everything.
pub const LAYOUT: Layout = Layout { start: 0, slot_bytes: if cfg!(feature = "m0") { 2048 } else { 16_384 } };

const WORDS: usize = 2 * LAYOUT.slot_bytes as usize / 4;

#[repr(transparent)]
struct Words(UnsafeCell<[u32; WORDS]>);

// SAFETY: one core, and no interrupt touches it.
unsafe impl Sync for Words {}

/// Nothing initialises it, so that it survives a reset.
#[unsafe(link_section = ".uninit.slots")]
static WORDS_OF_FLASH: Words = Words(UnsafeCell::new([0; WORDS]));

/// The driver.
#[derive(Debug)]
pub struct Flash(());

impl Flash {
    /// There is one flash: call this once, for the one [`Slots`](diffgp_slots::Slots) of the program.
    pub const fn take() -> Self {
        Self(())
    }

    fn part(&mut self, from: u32, length: usize) -> Result<&mut [u8], NorFlashErrorKind> {
        let from = from as usize;
        if length > 4 * WORDS || from > 4 * WORDS - length {
            return Err(NorFlashErrorKind::OutOfBounds);
        }
        // SAFETY: in bounds, as was just seen. The slots own this driver, so nobody else writes; and they lend no model
        // while its slot is written to.
        Ok(unsafe { slice::from_raw_parts_mut(WORDS_OF_FLASH.0.get().cast::<u8>().add(from), length) })
    }
}

/// The bytes of a model, for [`Mapped`](diffgp_slots::Mapped).
pub fn model_at(location: Location) -> &'static [u8] {
    let (from, length) = (location.offset as usize, location.length as usize);
    if length > 4 * WORDS || from > 4 * WORDS - length {
        return &[];
    }
    // SAFETY: in bounds, as was just seen. `Slots` alone calls this, and lets nobody keep the bytes until they are erased.
    unsafe { slice::from_raw_parts(WORDS_OF_FLASH.0.get().cast::<u8>().add(from), length) }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let part = self.part(offset, bytes.len())?;
        bytes.iter_mut().zip(part).for_each(|(byte, stored)| *byte = *stored);
        Ok(())
    }

    fn capacity(&self) -> usize {
        4 * WORDS
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.part(from, to.saturating_sub(from) as usize)?.fill(0xff);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let part = self.part(offset, bytes.len())?;
        part.iter_mut().zip(bytes).for_each(|(stored, byte)| *stored &= *byte);
        Ok(())
    }
}
