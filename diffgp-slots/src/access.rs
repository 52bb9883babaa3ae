//! How the bytes of a slot are looked at: in place or in a copy.

/// The flash can be read like memory: the function gives the bytes at a location, without a copy.
///
/// ```
/// # use diffgp_slots::{Location, Mapped};
/// # const FLASH: usize = 0x0800_0000;
/// fn model_at(location: Location) -> &'static [u8] {
///     let address = (FLASH + location.offset as usize) as *const u8;
///     // SAFETY: these bytes are flash. `Slots` alone calls this, and lets nobody keep the bytes until they are erased.
///     unsafe { core::slice::from_raw_parts(address, location.length as usize) }
/// }
/// let access = Mapped(model_at);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mapped<A>(pub A);

/// The flash cannot be read like memory: models are copied to this memory, which must hold the longest, with its
/// signature block if there is one.
#[derive(Debug)]
pub struct Copied<'m>(pub &'m mut [u32]);
