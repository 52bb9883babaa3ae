//! The two slots, and which of them counts.

use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};

use crate::check::Check;
use crate::error::{Error, LayoutError, Unusable};
use crate::geometry::{Geometry, Layout, Location, MAX_READ, Side};
use crate::header::{ERASED, HEADER_BYTES, Header, MARK_BYTES};
use crate::update::Update;

/// Two model slots in a flash.
#[derive(Debug)]
pub struct Slots<F, C> {
    pub(crate) flash: F,
    pub(crate) check: C,
    pub(crate) geometry: Geometry,
    active: Option<Slot>,
    refused: Option<Unusable>,
}

/// A slot with a valid header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) side: Side,
    pub(crate) header: Header,
    pub(crate) location: Location,
    /// S5: the write of the header is known to have been completed.
    pub(crate) confirmed: bool,
}

impl Slot {
    /// Of two confirmed slots the newer counts, of two unconfirmed ones the older: the newer one was written while the
    /// older one was in use.
    fn counts_before(&self, other: &Self) -> bool {
        match (self.confirmed, other.confirmed) {
            (true, true) => self.header.is_newer_than(&other.header),
            (false, false) => other.header.is_newer_than(&self.header),
            (confirmed, _) => confirmed,
        }
    }
}

impl<F: NorFlash, C: Check<F>> Slots<F, C> {
    /// Finds the newest valid model. Writes nothing.
    ///
    /// Cost: the checks of one model; of both only if the newer one is damaged.
    pub fn open(flash: F, layout: Layout, check: C) -> Result<Self, LayoutError> {
        let geometry = Geometry::new(&flash, layout)?;
        let mut slots = Self { flash, check, geometry, active: None, refused: None };
        for slot in slots.in_order().into_iter().flatten() {
            match slots.usable(&slot) {
                Ok(()) => {
                    slots.active = Some(slot);
                    break;
                }
                Err(reason) => slots.refused = slots.refused.or(Some(reason)),
            }
        }
        Ok(slots)
    }

    /// Where the model in use lies; `None` in new flash, or if every model there was [refused](Self::refused).
    ///
    /// It stays there, unchanged, until an update is committed *and* a second one is begun.
    pub fn active(&self) -> Option<Location> {
        self.active.map(|slot| slot.location)
    }

    /// Why [`Slots::open`] passed over the newest model, if it did: it was damaged, or this firmware cannot use it
    /// ([`Copied`](crate::Copied) memory that is too small, a newer format).
    pub fn refused(&self) -> Option<Unusable> {
        self.refused
    }

    /// How models are looked at; the memory of [`Copied`](crate::Copied) is in there.
    pub fn check(&self) -> &C {
        &self.check
    }

    /// The longest model that a slot can hold.
    pub fn capacity(&self) -> u32 {
        self.geometry.capacity()
    }

    /// Begins to replace the model by one of `length` bytes: erases the slot that is not in use. If none is, that is
    /// one without a header, or else the older: a model that this firmware cannot use may suit another.
    ///
    /// [`Blob::length_from_prelude`](diffgp_core::blob::Blob::length_from_prelude) tells the length from the first
    /// bytes that arrive. Nothing changes until [`Update::commit`].
    pub fn update(&mut self, length: u32) -> Result<Update<'_, F, C>, Error<F::Error>> {
        let [counts_most, _] = self.active.map_or_else(|| self.in_order(), |slot| [Some(slot), None]);
        let side = counts_most.map_or(Side::First, |slot| slot.side.other());
        let capacity = self.capacity();
        let location = self.geometry.model(side, length).ok_or(Error::TooLong { length, capacity })?;
        // Always, also where it reads as erased: a page whose erase was cut short may read so today only.
        let (from, to) = (self.geometry.slot(side), location.end_of_pages::<F>());
        self.flash.erase(from, to).map_err(Error::Flash)?;
        if read(&mut self.flash, self.geometry.mark(side)) != Some([ERASED; MARK_BYTES]) {
            return Err(Error::NotErased);
        }
        let sequence = counts_most.map_or(0, |slot| slot.header.sequence.wrapping_add(1));
        Ok(Update::new(self, side, location, sequence))
    }

    /// The flash, for other uses than the slots.
    pub fn flash(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Gives the flash back.
    pub fn into_flash(self) -> F {
        self.flash
    }

    pub(crate) fn activate(&mut self, slot: Slot) {
        (self.active, self.refused) = (Some(slot), None);
    }

    /// Looks at the active model once more, so that it is what [`Copied`](crate::Copied) holds.
    pub(crate) fn look_again(&mut self) {
        if let Some(slot) = self.active {
            // It was usable, and was not touched.
            let _ = self.check.check(&mut self.flash, slot.location);
        }
    }

    /// The slots with valid headers, first the one that counts more.
    fn in_order(&mut self) -> [Option<Slot>; 2] {
        match (self.slot(Side::First), self.slot(Side::Second)) {
            (Some(first), Some(second)) if second.counts_before(&first) => [Some(second), Some(first)],
            (None, second) => [second, None],
            (first, second) => [first, second],
        }
    }

    /// The slot if its header is valid. What cannot be read is not valid.
    pub(crate) fn slot(&mut self, side: Side) -> Option<Slot> {
        let header = Header::decode(&read::<HEADER_BYTES, F>(&mut self.flash, self.geometry.slot(side))?)?;
        let location = self.geometry.model(side, header.length)?;
        let mark = read::<MARK_BYTES, F>(&mut self.flash, self.geometry.mark(side));
        let confirmed = mark.is_some_and(|mark| mark != [ERASED; MARK_BYTES]);
        Some(Slot { side, header, location, confirmed })
    }

    fn usable(&mut self, slot: &Slot) -> Result<(), Unusable> {
        let checksum = last_bytes(&mut self.flash, slot.location).ok_or(Unusable::Unreadable)?;
        if checksum != slot.header.checksum {
            return Err(Unusable::OtherModel);
        }
        self.check.check(&mut self.flash, slot.location)
    }
}

/// S4 as it should be: the checksum with which a model ends.
pub(crate) fn last_bytes<F: ReadNorFlash>(flash: &mut F, model: Location) -> Option<[u8; 4]> {
    read(flash, (model.offset + model.length).checked_sub(4)?)
}

/// `N` bytes, which may be fewer than the flash reads at a time.
pub(crate) fn read<const N: usize, F: ReadNorFlash>(flash: &mut F, offset: u32) -> Option<[u8; N]> {
    const { assert!(N <= MAX_READ, "the window below must have room for N bytes and a unit on either side") };
    let unit = F::READ_SIZE;
    let before = (offset as usize) % unit;
    let mut window = [0; 3 * MAX_READ];
    let window = window.get_mut(..(before + N).next_multiple_of(unit))?;
    flash.read(offset - before as u32, window).ok()?;
    window.get(before..)?.first_chunk().copied()
}
