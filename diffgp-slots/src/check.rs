//! Whether the bytes in a slot are a model: the model file's own checks, in place or on a copy.

use diffgp_core::blob::Blob;
use embedded_storage::nor_flash::ReadNorFlash;
use zerocopy::IntoBytes;

use crate::error::Unusable;
use crate::geometry::Location;

/// A way to look at a model; [`Mapped`] and [`Copied`] are the two there are.
pub trait Check<F> {
    /// Makes every check of [`Blob::parse`].
    fn check(&mut self, flash: &mut F, location: Location) -> Result<(), Unusable>;
}

/// The flash can be read like memory: the function gives the bytes at a location, without a copy.
///
/// ```
/// # use diffgp_slots::{Location, Mapped};
/// # const FLASH: usize = 0x0800_0000;
/// fn model_at(location: Location) -> &'static [u8] {
///     let address = (FLASH + location.offset as usize) as *const u8;
///     // SAFETY: these bytes are flash that nothing writes to while the slot is the active one.
///     unsafe { core::slice::from_raw_parts(address, location.length as usize) }
/// }
/// let check = Mapped(model_at);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mapped<A>(pub A);

impl<'a, F, A: FnMut(Location) -> &'a [u8]> Check<F> for Mapped<A> {
    fn check(&mut self, _flash: &mut F, location: Location) -> Result<(), Unusable> {
        Blob::parse((self.0)(location)).map(drop).map_err(Unusable::Model)
    }
}

/// The flash cannot be read like memory: models are copied to this memory, which must hold the longest.
///
/// After [`Slots::open`](crate::Slots::open) and after a commit, failed or not, it holds the active model, if there is
/// one; [`Slots::check`](crate::Slots::check) leads there.
#[derive(Debug)]
pub struct Copied<'m>(pub &'m mut [u32]);

impl<F: ReadNorFlash> Check<F> for Copied<'_> {
    fn check(&mut self, flash: &mut F, location: Location) -> Result<(), Unusable> {
        let length = usize::try_from(location.length).unwrap_or(usize::MAX);
        let memory = self.0.as_mut_bytes();
        let (found, needed) = (memory.len(), length.checked_next_multiple_of(F::READ_SIZE).unwrap_or(usize::MAX));
        let memory = memory.get_mut(..needed).ok_or(Unusable::Memory { needed, found })?;
        flash.read(location.offset, memory).map_err(|_| Unusable::Unreadable)?;
        let model = memory.get(..length).unwrap_or_default();
        Blob::parse(model).map(drop).map_err(Unusable::Model)
    }
}
