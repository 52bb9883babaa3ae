//! Looking at the bytes of a slot.

use zerocopy::IntoBytes;

use super::{ReadNorFlash, twin};
use crate::access::{Copied, Mapped};
use crate::error::Unusable;
use crate::geometry::Location;

/// A way to look at what lies in a slot; [`Mapped`] and [`Copied`] are the two there are.
#[twin]
#[allow(async_fn_in_trait, reason = "futures of firmware need not be Send")]
pub trait Access<F> {
    /// Makes the bytes at a location readable. What was readable before need not be afterwards.
    async fn load(&mut self, flash: &mut F, location: Location) -> Result<(), Unusable>;

    /// The bytes at the location that was loaded last.
    fn bytes(&self, location: Location) -> &[u8];
}

#[twin]
impl<F, A: Fn(Location) -> &'static [u8]> Access<F> for Mapped<A> {
    async fn load(&mut self, _flash: &mut F, _location: Location) -> Result<(), Unusable> {
        Ok(())
    }

    fn bytes(&self, location: Location) -> &[u8] {
        (self.0)(location)
    }
}

#[twin]
impl<F: ReadNorFlash> Access<F> for Copied<'_> {
    async fn load(&mut self, flash: &mut F, location: Location) -> Result<(), Unusable> {
        let length = usize::try_from(location.length).unwrap_or(usize::MAX);
        let memory = self.0.as_mut_bytes();
        let (found, needed) = (memory.len(), length.checked_next_multiple_of(F::READ_SIZE).unwrap_or(usize::MAX));
        let memory = memory.get_mut(..needed).ok_or(Unusable::Memory { needed, found })?;
        flash.read(location.offset, memory).await.map_err(|_| Unusable::Unreadable)
    }

    fn bytes(&self, location: Location) -> &[u8] {
        let length = usize::try_from(location.length).unwrap_or(usize::MAX);
        self.0.as_bytes().get(..length).unwrap_or_default()
    }
}
