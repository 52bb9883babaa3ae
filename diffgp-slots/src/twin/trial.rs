//! A model on trial: confirmed for good, or taken back.

use super::access::Access;
use super::slots::Slots;
use super::{NorFlash, twin};
use crate::accept::Accept;
use crate::error::Unconfirmed;
use crate::geometry::BUFFER;
use crate::header::{ERASED, MARK_BYTES, put};
use crate::slot::{Slot, Trial};

#[twin]
impl<F: NorFlash, M: Access<F>, A: Accept> Slots<F, M, A> {
    /// Keeps the model that was committed since the slots were opened: the next boot finds it, and not the one before.
    ///
    /// # Errors
    ///
    /// [`Unconfirmed::NothingOnTrial`] if no model was committed, or it was confirmed or taken back since.
    /// [`Unconfirmed::Unknown`] if the flash fails: the mark may be there or not, and so the next boot finds either model.
    /// This one stays in use until then.
    pub async fn confirm(&mut self) -> Result<(), Unconfirmed> {
        let Some(slot) = self.active.filter(|_| self.trial.is_some()) else { return Err(Unconfirmed::NothingOnTrial) };
        (self.active, self.trial) = (None, None);
        self.epoch = self.epoch.wrapping_add(1);
        // S5. The header was written and read while power was on all the time: it will read tomorrow as it reads today.
        let mut words = [ERASED; BUFFER];
        put(&mut words, &[0; MARK_BYTES]);
        let words = words.get(..MARK_BYTES.next_multiple_of(F::WRITE_SIZE)).unwrap_or_default();
        let written = self.flash.write(self.geometry.mark(slot.side), words).await.is_ok();
        let kept = self.slot(slot.side).await;
        let kept = kept.filter(|kept| written && kept.confirmed && kept.header == slot.header);
        self.active = kept.or(Some(slot));
        kept.map(drop).ok_or(Unconfirmed::Unknown)
    }

    /// Gives up the model on trial and uses the one before it again, which costs the checks of that one. Without a model
    /// on trial, or without one before it, nothing happens.
    pub async fn take_back(&mut self) {
        if let Some(Trial { before: Some(before) }) = self.trial {
            self.trial = None;
            self.epoch = self.epoch.wrapping_add(1);
            self.reload(Some(before)).await;
        }
    }

    /// The model that was committed is in use from now on, on trial.
    pub(crate) fn try_out(&mut self, slot: Slot, before: Option<Slot>) {
        self.trial = Some(Trial { before });
        (self.active, self.refused) = (Some(slot), None);
        self.epoch = self.epoch.wrapping_add(1);
    }
}
