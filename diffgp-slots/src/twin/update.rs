//! Replacing a model: stream it into the free slot, check it, and only then write the header.

use core::fmt;

use super::access::Access;
use super::slots::{Slots, last_bytes};
use super::{NorFlash, twin};
use crate::accept::{Accept, Moment};
use crate::error::{Error, Unusable};
use crate::geometry::{BUFFER, Location};
use crate::header::{ERASED, Header, put};
use crate::paused::Paused;
use crate::slot::Slot;

/// A model on its way into the slot that is not in use. Dropped before [`Update::commit`], it leaves no trace. After an
/// error it cannot go on: begin another.
#[must_use = "the slot that is not in use was erased for it"]
pub struct Update<'s, F, M, A> {
    slots: &'s mut Slots<F, M, A>,
    paused: Paused,
}

#[twin]
impl<'s, F: NorFlash, M: Access<F>, A: Accept> Update<'s, F, M, A> {
    pub(crate) fn new(slots: &'s mut Slots<F, M, A>, paused: Paused) -> Self {
        Self { slots, paused }
    }

    /// Gives the slots back in the middle of it: predictions go on with [`Slots::model`], and the update with
    /// [`Slots::resume`].
    pub fn pause(self) -> Paused {
        self.paused
    }

    /// The model in use, which an update does not touch.
    pub fn model(&self) -> Option<&[u8]> {
        self.slots.model()
    }

    /// Bytes of the model that have arrived.
    pub const fn received(&self) -> u32 {
        self.paused.received()
    }

    /// Appends bytes of the model, any number of them.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        let expected = self.paused.length();
        let written = u64::from(self.received()) + bytes.len() as u64;
        if written > u64::from(expected) {
            let written = u32::try_from(written).unwrap_or(u32::MAX);
            return Err(Error::Bytes { expected, written });
        }
        for &byte in bytes {
            if self.paused.waiting == BUFFER {
                self.flush().await?;
            }
            if let Some(place) = self.paused.buffer.get_mut(self.paused.waiting) {
                *place = byte;
                self.paused.waiting += 1;
            }
        }
        Ok(())
    }

    /// Checks what is in the flash now and puts it to use, on trial: the next boot finds the model of before, unless
    /// [`Slots::confirm`] is called until then.
    ///
    /// # Errors
    ///
    /// After an error the model of before is in use, and the next boot finds it too; except after [`Error::Unknown`],
    /// which only happens if there was none.
    pub async fn commit(mut self) -> Result<Location, Error<F::Error>> {
        let counter = self.slots.counter().await;
        let before = self.slots.active.take();
        match self.try_to_commit(Moment::Update { in_use: counter }).await {
            Ok(slot) => {
                self.slots.try_out(slot, before);
                Ok(slot.location)
            }
            Err(error) => {
                self.slots.reload(before).await;
                // With another model in use, which counts before one without a mark, the next boot finds that one.
                // Without, a whole header may be there.
                Err(if before.is_none() && matches!(error, Error::NotKept) { Error::Unknown } else { error })
            }
        }
    }

    async fn try_to_commit(&mut self, moment: Moment) -> Result<Slot, Error<F::Error>> {
        self.flush().await?;
        let Paused { side, location, sequence, written, .. } = self.paused;
        let expected = location.length;
        if written != expected {
            return Err(Error::Bytes { expected, written });
        }
        self.slots.examine(location, moment).await.map_err(Error::NotAModel)?;
        let checksum = last_bytes(&mut self.slots.flash, location).await;
        let checksum = checksum.ok_or(Error::NotAModel(Unusable::Unreadable))?;
        let header = Header { sequence, length: expected, checksum };
        put(&mut self.paused.buffer, &header.encode());
        self.paused.waiting = header.encode().len();
        self.write_buffer(self.slots.geometry.slot(side)).await.map_err(|_| Error::NotKept)?;
        let kept = self.slots.slot(side).await;
        kept.filter(|slot| slot.header == header && !slot.confirmed).ok_or(Error::NotKept)
    }

    /// Writes what waits behind what is there. It counts as written before it is, so that no word is written twice
    /// whatever happens: if it is not, the commit finds that out.
    async fn flush(&mut self) -> Result<(), Error<F::Error>> {
        let offset = self.paused.location.offset + self.paused.written;
        self.paused.written += self.paused.waiting as u32;
        self.write_buffer(offset).await
    }

    /// Writes what waits, filled up to whole words.
    async fn write_buffer(&mut self, offset: u32) -> Result<(), Error<F::Error>> {
        let Paused { buffer, waiting, .. } = &mut self.paused;
        let waiting = core::mem::take(waiting);
        if let Some(behind) = buffer.get_mut(waiting..) {
            behind.fill(ERASED);
        }
        let words = buffer.get(..waiting.next_multiple_of(F::WRITE_SIZE)).unwrap_or_default();
        if words.is_empty() {
            return Ok(());
        }
        self.slots.flash.write(offset, words).await.map_err(Error::Flash)
    }
}

impl<F, M, A> fmt::Debug for Update<'_, F, M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.paused.fmt(f)
    }
}
