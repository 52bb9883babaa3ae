//! The two slots, and which of them counts.

use diffgp_core::blob::Blob;

use super::access::Access;
use super::update::Update;
use super::{NorFlash, ReadNorFlash, twin};
use crate::accept::{Accept, Candidate, Moment};
use crate::block::BLOCK_BYTES;
use crate::error::{Error, LayoutError, Unusable};
use crate::geometry::{Geometry, Layout, Location, MAX_READ, Side, Units};
use crate::header::{ERASED, HEADER_BYTES, Header, MARK_BYTES};
use crate::paused::Paused;
use crate::slot::{Slot, Trial, model_and_block};

/// Two model slots in a flash, the models in them and the right to change them.
#[derive(Debug)]
pub struct Slots<F, M, A = ()> {
    pub(crate) flash: F,
    pub(crate) access: M,
    pub(crate) accept: A,
    pub(crate) geometry: Geometry,
    /// None while another model is looked at, so that a future that is dropped meanwhile leaves none.
    pub(crate) active: Option<Slot>,
    /// A model was committed since the slots were opened, and neither confirmed nor taken back.
    pub(crate) trial: Option<Trial>,
    pub(crate) refused: Option<Unusable>,
    /// One more with everything that an update which was paused must not survive.
    pub(crate) epoch: u32,
}

#[twin]
impl<F: NorFlash, M: Access<F>, A: Accept> Slots<F, M, A> {
    /// Finds the model that counts. Writes nothing.
    ///
    /// Cost: the checks of one model; of both only if that one cannot be used.
    pub async fn open(flash: F, layout: Layout, access: M, accept: A) -> Result<Self, LayoutError> {
        let units =
            Units { read: F::READ_SIZE, write: F::WRITE_SIZE, erase: F::ERASE_SIZE, capacity: flash.capacity() };
        let geometry = Geometry::new(units, layout)?;
        let mut slots = Self { flash, access, accept, geometry, active: None, trial: None, refused: None, epoch: 0 };
        slots.find().await;
        Ok(slots)
    }

    /// As after a restart: finds the model that counts now, and takes back one on trial.
    pub async fn reopen(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        (self.active, self.trial, self.refused) = (None, None, None);
        self.find().await;
    }

    async fn find(&mut self) {
        for slot in self.in_order().await.into_iter().flatten() {
            match self.usable(&slot).await {
                Ok(()) => {
                    self.active = Some(slot);
                    break;
                }
                Err(reason) => self.refused = self.refused.or(Some(reason)),
            }
        }
    }

    /// The model in use; `None` in new flash, or if every model there was [refused](Self::refused).
    ///
    /// It was checked: [`Model::parse_trusted`](diffgp_infer::Model::parse_trusted) is enough. It is borrowed, so that
    /// nobody has it when its slot is erased:
    ///
    /// ```compile_fail,E0502
    /// # use diffgp_slots::{Accept, Access, Slots};
    /// # use embedded_storage::nor_flash::NorFlash;
    /// # fn firmware<F: NorFlash, M: Access<F>, A: Accept>(mut slots: Slots<F, M, A>) {
    /// let model = slots.model().unwrap();
    /// let update = slots.update(1000);
    /// drop(update);
    /// drop(model.len());
    /// # }
    /// ```
    pub fn model(&self) -> Option<&[u8]> {
        self.active.and_then(|slot| model_and_block(self.access.bytes(slot.location)).ok()).map(|(model, _)| model)
    }

    /// Where the model in use lies, with its signature block.
    pub fn active(&self) -> Option<Location> {
        self.active.map(|slot| slot.location)
    }

    /// Whether the model in use was [confirmed](Self::confirm).
    ///
    /// A first model is used after the next boot although it was not, because there is no other. A firmware with a model
    /// of its own asks this, and takes its own one instead.
    pub fn is_confirmed(&self) -> bool {
        self.active.is_some_and(|slot| slot.confirmed)
    }

    /// Whether the next boot takes another model than the one in use, unless that is [confirmed](Self::confirm).
    pub fn is_on_trial(&self) -> bool {
        self.trial.is_some_and(|trial| trial.before.is_some())
    }

    /// B3 of the model in use, if it has a signature block.
    pub async fn counter(&mut self) -> Option<u32> {
        let location = self.active?.location;
        let block = (location.offset + location.length).checked_sub(BLOCK_BYTES as u32)?;
        if self.model().map(<[u8]>::len) == usize::try_from(location.length).ok() {
            return None;
        }
        let [_, _, counter] = *read::<12, F>(&mut self.flash, block).await?.as_chunks::<4>().0 else { return None };
        Some(u32::from_le_bytes(counter))
    }

    /// Why [`Slots::open`] passed over the model that counts most, if it did: it was damaged, or this firmware cannot use
    /// it ([`Copied`](crate::Copied) memory that is too small, a newer format, what [`Accept`] said).
    pub fn refused(&self) -> Option<Unusable> {
        self.refused
    }

    /// The longest model that a slot can hold, with its signature block.
    pub fn capacity(&self) -> u32 {
        self.geometry.capacity()
    }

    /// Begins to replace the model by one of `length` bytes, with its signature block if it has one: erases the slot that
    /// is not in use. If none is, that is one without a header, or else the one that counts less: a model that this
    /// firmware cannot use may suit another. A model on trial is taken back first.
    ///
    /// [`Blob::length_from_prelude`](diffgp_core::blob::Blob::length_from_prelude) tells the length of a model from the
    /// first bytes that arrive. Nothing changes until [`Update::commit`].
    pub async fn update(&mut self, length: u32) -> Result<Update<'_, F, M, A>, Error<F::Error>> {
        let capacity = self.capacity();
        if length > capacity {
            return Err(Error::TooLong { length, capacity });
        }
        self.take_back().await;
        self.epoch = self.epoch.wrapping_add(1);
        let counts_most = match self.active {
            None => self.in_order().await[0],
            in_use => in_use,
        };
        let side = counts_most.map_or(Side::First, |slot| slot.side.other());
        let location = self.geometry.model(side, length).ok_or(Error::TooLong { length, capacity })?;
        // Always, also where it reads as erased: a page whose erase was cut short may read so today only.
        let from = self.geometry.slot(side);
        let to = (location.offset + location.length).next_multiple_of(F::ERASE_SIZE as u32);
        self.flash.erase(from, to).await.map_err(Error::Flash)?;
        if read(&mut self.flash, self.geometry.mark(side)).await != Some([ERASED; MARK_BYTES]) {
            return Err(Error::NotErased);
        }
        let sequence = counts_most.map_or(0, |slot| slot.header.sequence.wrapping_add(1));
        Ok(Update::new(self, Paused::new(side, location, sequence, self.epoch)))
    }

    /// Goes on with an update that was [paused](Update::pause); `None` if the slots were changed since.
    pub fn resume(&mut self, paused: Paused) -> Option<Update<'_, F, M, A>> {
        let Paused { side, location, epoch, .. } = paused;
        // The rest holds only against the slots of another flash.
        let spare = self.active.is_none_or(|slot| slot.side != side);
        let mine = epoch == self.epoch && spare && self.geometry.model(side, location.length) == Some(location);
        mine.then(|| Update::new(self, paused))
    }

    /// The flash, for other uses than the slots.
    pub fn flash(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Gives the flash back.
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// Makes this the model in use once more, after another one was looked at: [`Copied`](crate::Copied) must hold it.
    pub(crate) async fn reload(&mut self, slot: Option<Slot>) {
        self.active = None;
        let Some(Slot { location, .. }) = slot else { return };
        match self.load(location).await {
            Ok(()) => self.active = slot,
            // It was usable and was not touched: the flash fails. The next boot may see it again.
            Err(reason) => self.refused = Some(reason),
        }
    }

    /// The slots with valid headers, first the one that counts more.
    pub(crate) async fn in_order(&mut self) -> [Option<Slot>; 2] {
        match (self.slot(Side::First).await, self.slot(Side::Second).await) {
            (Some(first), Some(second)) if second.counts_before(&first) => [Some(second), Some(first)],
            (None, second) => [second, None],
            (first, second) => [first, second],
        }
    }

    /// The slot if its header is valid. What cannot be read is not valid.
    pub(crate) async fn slot(&mut self, side: Side) -> Option<Slot> {
        let header = Header::decode(&read::<HEADER_BYTES, F>(&mut self.flash, self.geometry.slot(side)).await?)?;
        let location = self.geometry.model(side, header.length)?;
        let mark = read::<MARK_BYTES, F>(&mut self.flash, self.geometry.mark(side)).await;
        let confirmed = mark.is_some_and(|mark| mark != [ERASED; MARK_BYTES]);
        Some(Slot { side, header, location, confirmed })
    }

    async fn usable(&mut self, slot: &Slot) -> Result<(), Unusable> {
        let checksum = last_bytes(&mut self.flash, slot.location).await.ok_or(Unusable::Unreadable)?;
        if checksum != slot.header.checksum {
            return Err(Unusable::OtherModel);
        }
        self.examine(slot.location, Moment::Boot).await
    }

    /// Every check of a model as it lies in the flash.
    pub(crate) async fn examine(&mut self, location: Location, moment: Moment) -> Result<(), Unusable> {
        self.load(location).await?;
        let bytes = self.access.bytes(location);
        let (model, block) = model_and_block(bytes)?;
        self.accept.accept(&Candidate { model, block, bytes, moment })
    }

    async fn load(&mut self, location: Location) -> Result<(), Unusable> {
        self.access.load(&mut self.flash, location).await?;
        Blob::parse(self.access.bytes(location)).map(drop).map_err(Unusable::Model)
    }
}

/// S4 as it should be: the last bytes of what lies there.
#[twin]
pub(crate) async fn last_bytes<F: ReadNorFlash>(flash: &mut F, model: Location) -> Option<[u8; 4]> {
    read(flash, (model.offset + model.length).checked_sub(4)?).await
}

/// `N` bytes, which may be fewer than the flash reads at a time.
#[twin]
pub(crate) async fn read<const N: usize, F: ReadNorFlash>(flash: &mut F, offset: u32) -> Option<[u8; N]> {
    const { assert!(N <= MAX_READ, "the window below must have room for N bytes and a unit on either side") };
    let unit = F::READ_SIZE;
    let before = (offset as usize) % unit;
    let mut window = [0; 3 * MAX_READ];
    let window = window.get_mut(..(before + N).next_multiple_of(unit))?;
    flash.read(offset - before as u32, window).await.ok()?;
    window.get(before..)?.first_chunk().copied()
}
