//! Where things lie in the flash.

use crate::error::LayoutError;
use crate::header::{HEADER_BYTES, MARK_BYTES};

/// The largest `WRITE_SIZE`, and what an update collects before it writes.
pub(crate) const BUFFER: usize = 512;
/// The largest `READ_SIZE`.
pub(crate) const MAX_READ: usize = 32;

/// Which part of the flash holds the two slots: the first from `start` on, the second right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the first slot begins, counted from the beginning of the flash; a multiple of the flash's `ERASE_SIZE`.
    pub start: u32,
    /// Length of each slot; a multiple of the flash's `ERASE_SIZE`.
    pub slot_bytes: u32,
}

/// Where a model lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Counted from the beginning of the flash; a multiple of four.
    pub offset: u32,
    /// Bytes of the model.
    pub length: u32,
}

/// One of the two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

impl Side {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// What a flash says of itself: `READ_SIZE`, `WRITE_SIZE`, `ERASE_SIZE` and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub(crate) read: usize,
    pub(crate) write: usize,
    pub(crate) erase: usize,
    pub(crate) capacity: usize,
}

/// A layout that was checked against its flash, and the parts of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    layout: Layout,
    /// S5, from the beginning of the slot.
    mark: u32,
    /// From the beginning of the slot.
    model: u32,
}

impl Geometry {
    pub(crate) fn new(units: Units, layout: Layout) -> Result<Self, LayoutError> {
        let Units { read, write, erase, capacity } = units;
        let powers = read.is_power_of_two() && write.is_power_of_two() && erase.is_power_of_two();
        let (true, true, true, Ok(erase_size)) = (powers, read <= MAX_READ, write <= BUFFER, u32::try_from(erase))
        else {
            return Err(LayoutError::Flash { read, write, erase });
        };
        let Layout { start, slot_bytes } = layout;
        if !start.is_multiple_of(erase_size) {
            return Err(LayoutError::Start { start, erase_size });
        }
        if !slot_bytes.is_multiple_of(erase_size) {
            return Err(LayoutError::SlotBytes { slot_bytes, erase_size });
        }
        let end = u64::from(start) + 2 * u64::from(slot_bytes);
        if usize::try_from(end).map_or(true, |end| end > capacity) || end > u64::from(u32::MAX) {
            return Err(LayoutError::OutOfFlash { end, capacity });
        }
        // Header, mark and model begin at words of their own that can be read alone.
        let unit = read.max(write).max(4);
        let mark = HEADER_BYTES.next_multiple_of(unit);
        let model = (mark + MARK_BYTES).next_multiple_of(unit) as u32;
        if slot_bytes <= model {
            return Err(LayoutError::TooSmall { slot_bytes, header: model });
        }
        Ok(Self { layout, mark: mark as u32, model })
    }

    /// Where a slot begins.
    pub(crate) const fn slot(&self, side: Side) -> u32 {
        match side {
            Side::First => self.layout.start,
            Side::Second => self.layout.start + self.layout.slot_bytes,
        }
    }

    /// Where a slot has its mark.
    pub(crate) const fn mark(&self, side: Side) -> u32 {
        self.slot(side) + self.mark
    }

    /// Where a slot has a model of that many bytes, if it has room for it.
    pub(crate) fn model(&self, side: Side, length: u32) -> Option<Location> {
        (length <= self.capacity()).then(|| Location { offset: self.slot(side) + self.model, length })
    }

    /// The longest model.
    pub(crate) const fn capacity(&self) -> u32 {
        self.layout.slot_bytes - self.model
    }
}
