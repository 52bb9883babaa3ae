//! An update that holds no slots.

use core::fmt;

use crate::geometry::{BUFFER, Location, Side};
use crate::header::ERASED;

/// An update that holds no slots, so that they are free for other work between two pieces of a model.
pub struct Paused {
    pub(crate) side: Side,
    pub(crate) location: Location,
    /// S2 of the model.
    pub(crate) sequence: u32,
    /// Bytes that were given to the flash.
    pub(crate) written: u32,
    /// Bytes that wait for the buffer to be full, and how many wait.
    pub(crate) buffer: [u8; BUFFER],
    pub(crate) waiting: usize,
    pub(crate) epoch: u32,
}

impl Paused {
    pub(crate) const fn new(side: Side, location: Location, sequence: u32, epoch: u32) -> Self {
        Self { side, location, sequence, written: 0, buffer: [ERASED; BUFFER], waiting: 0, epoch }
    }

    /// Bytes of the model that have arrived.
    pub const fn received(&self) -> u32 {
        self.written + self.waiting as u32
    }

    /// Bytes that the model will have.
    pub const fn length(&self) -> u32 {
        self.location.length
    }
}

impl fmt::Debug for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update")
            .field("location", &self.location)
            .field("received", &self.received())
            .finish_non_exhaustive()
    }
}
