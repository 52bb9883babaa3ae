//! A model update with `diffgp-slots`, over memory in place of the board's flash: how the calls go together, and that
//! nothing in them can panic. `docs/model-update.md` says how it is done with a real flash.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::{entry, region};
use diffgp_slots::{Copied, Layout, Slots};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

diffgp_firmware::forbid_panic!();

/// Two slots of two pages.
const LAYOUT: Layout = Layout { start: 0, slot_bytes: 2048 };
/// Bytes of a model that are handed over at a time, as a link would.
const PIECE: usize = 100;

/// Stands for the driver of the HAL.
struct Memory([u8; 4096]);

impl Memory {
    fn part(&mut self, from: u32, length: usize) -> Result<&mut [u8], NorFlashErrorKind> {
        let part = self.0.get_mut(from as usize..).and_then(|rest| rest.get_mut(..length));
        part.ok_or(NorFlashErrorKind::OutOfBounds)
    }
}

impl ErrorType for Memory {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Memory {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let part = self.part(offset, bytes.len())?;
        bytes.iter_mut().zip(part).for_each(|(byte, stored)| *byte = *stored);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Memory {
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

#[entry]
fn main() -> ! {
    let mut copy = [0; 512];
    if let Ok(mut slots) = Slots::open(Memory(black_box([0xff; 4096])), LAYOUT, Copied(&mut copy)) {
        let received = black_box(region::model());
        let replaced = slots.update(received.len() as u32).and_then(|mut update| {
            received.chunks(PIECE).try_for_each(|piece| update.write(piece))?;
            update.commit()
        });
        // On an error the old model is still the active one.
        black_box((replaced.is_ok(), slots.active()));
    }
    loop {
        black_box(&copy);
    }
}
