//! Replacing a model: stream it into the free slot, check it, and only then write the header.

use core::fmt;

use diffgp_core::blob::{Blob, PRELUDE_BYTES};
use embedded_storage::nor_flash::NorFlash;
use zerocopy::IntoBytes;

use crate::check::Check;
use crate::error::{Error, Unusable};
use crate::geometry::{BUFFER, Location, Side};
use crate::header::{ERASED, Header, MARK_BYTES, put};
use crate::slots::{Slot, Slots, last_bytes, read};

/// A model on its way into the slot that is not in use. Dropped before [`Update::commit`], it leaves no trace. After an
/// error it cannot go on: begin another.
#[must_use = "the slot that is not in use was erased for it"]
pub struct Update<'s, F, C> {
    slots: &'s mut Slots<F, C>,
    side: Side,
    location: Location,
    /// S2 of the model.
    sequence: u32,
    /// Bytes that are in the flash.
    written: u32,
    /// Bytes that wait for the buffer to be full, erased bytes behind them, and how many wait.
    buffer: [u8; BUFFER],
    waiting: usize,
}

impl<'s, F: NorFlash, C: Check<F>> Update<'s, F, C> {
    pub(crate) fn new(slots: &'s mut Slots<F, C>, side: Side, location: Location, sequence: u32) -> Self {
        Self { slots, side, location, sequence, written: 0, buffer: [ERASED; BUFFER], waiting: 0 }
    }

    /// Appends bytes of the model, any number of them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        let expected = self.location.length;
        let written = u64::from(self.written) + self.waiting as u64 + bytes.len() as u64;
        if written > u64::from(expected) {
            let written = u32::try_from(written).unwrap_or(u32::MAX);
            return Err(Error::Bytes { expected, written });
        }
        for &byte in bytes {
            if self.waiting == BUFFER {
                self.flush()?;
            }
            if let Some(place) = self.buffer.get_mut(self.waiting) {
                *place = byte;
                self.waiting += 1;
            }
        }
        Ok(())
    }

    /// Checks what is in the flash now and makes it the active model.
    pub fn commit(mut self) -> Result<Location, Error<F::Error>> {
        let outcome = self.try_to_commit();
        if outcome.is_err() {
            self.slots.look_again();
        }
        outcome
    }

    fn try_to_commit(&mut self) -> Result<Location, Error<F::Error>> {
        self.flush()?;
        let (location, expected, written) = (self.location, self.location.length, self.written);
        if written != expected {
            return Err(Error::Bytes { expected, written });
        }
        let checksum = self.check().map_err(Error::NotAModel)?;
        let header = Header { sequence: self.sequence, length: expected, checksum };
        self.write_at(self.slots.geometry.slot(self.side), &header.encode())?;
        self.kept(header).ok_or(Error::NotKept)?;
        // S5: only now is it known that the header will read tomorrow as it reads today.
        self.write_at(self.slots.geometry.mark(self.side), &[0; MARK_BYTES])?;
        let slot = self.kept(header).filter(|slot| slot.confirmed).ok_or(Error::NotKept)?;
        self.slots.activate(slot);
        Ok(location)
    }

    /// The slot as it reads now, if this is its header.
    fn kept(&mut self, header: Header) -> Option<Slot> {
        self.slots.slot(self.side).filter(|slot| slot.header == header)
    }

    /// Every check of the model as it lies in the flash; its own checksum.
    fn check(&mut self) -> Result<[u8; 4], Unusable> {
        let (location, flash) = (self.location, &mut self.slots.flash);
        self.slots.check.check(flash, location)?;
        // Aligned, as a model must be.
        let mut prelude = [0_u32; PRELUDE_BYTES / 4];
        put(prelude.as_mut_bytes(), &read::<PRELUDE_BYTES, F>(flash, location.offset).ok_or(Unusable::Unreadable)?);
        let found = Blob::length_from_prelude(prelude.as_bytes()).map_err(Unusable::Model)?;
        if u32::try_from(found) != Ok(location.length) {
            return Err(Unusable::Length { said: location.length, found });
        }
        last_bytes(flash, location).ok_or(Unusable::Unreadable)
    }

    /// Writes what waits behind what is there.
    fn flush(&mut self) -> Result<(), Error<F::Error>> {
        let waiting = self.waiting as u32;
        self.write_buffer(self.location.offset + self.written)?;
        self.written += waiting;
        Ok(())
    }

    /// Writes a few bytes; nothing else may be waiting.
    fn write_at(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        put(&mut self.buffer, bytes);
        self.waiting = bytes.len();
        self.write_buffer(offset)
    }

    /// Writes what waits, filled up to whole words.
    fn write_buffer(&mut self, offset: u32) -> Result<(), Error<F::Error>> {
        let words = self.buffer.get(..self.waiting.next_multiple_of(F::WRITE_SIZE)).unwrap_or_default();
        if !words.is_empty() {
            self.slots.flash.write(offset, words).map_err(Error::Flash)?;
        }
        self.buffer = [ERASED; BUFFER];
        self.waiting = 0;
        Ok(())
    }
}

impl<F, C> fmt::Debug for Update<'_, F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update")
            .field("location", &self.location)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}
