//! The caller's flash: functions that read, write and erase it, and where models are looked at.

use core::ffi::{c_int, c_void};
use core::slice;

use diffgp_slots::{Access, Location, Unusable};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::memory::piece;
use crate::status::diffgp_status::{self, *};

/// Bytes that are written at a time, at multiples of it: a multiple of what every flash writes. One that writes more at a time
/// has a driver that fills up with ff.
pub const DIFFGP_FLASH_WRITE_BYTES: usize = 32;

/// A flash, and where the two slots for models lie in it. Offsets count from the beginning of the flash.
///
/// The three functions return 0 if it went well, anything else if the flash failed; they do not call functions of these
/// slots. Erased flash reads as ff. length is at most 512 for write; read may be asked for any bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct diffgp_flash {
    /// Copies bytes from the flash.
    pub read:
        Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, bytes: *mut c_void, length: usize) -> c_int>,
    /// Writes to erased flash; offset and length are multiples of DIFFGP_FLASH_WRITE_BYTES.
    pub write:
        Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, bytes: *const c_void, length: usize) -> c_int>,
    /// Erases whole pages: from and to are multiples of erase_bytes.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, from: u32, to: u32) -> c_int>,
    /// What the functions are called with.
    pub context: *mut c_void,
    /// Bytes of the flash.
    pub bytes: u32,
    /// Bytes of a page, which is erased as a whole: a power of two, at least 32; of unequal pages the largest in the slots.
    pub erase_bytes: u32,
    /// Where the first slot begins, a multiple of erase_bytes; the second one follows it.
    pub start: u32,
    /// Bytes of each slot, a multiple of erase_bytes.
    pub slot_bytes: u32,
    /// The address at which the flash can be read like memory, a multiple of 4; null if it cannot.
    pub mapped: *const c_void,
    /// Without an address: memory that holds the model in use, aligned to 4 bytes, and its bytes. Null otherwise.
    pub memory: *mut c_void,
    /// Bytes of the memory: room for the longest model with its signature.
    pub memory_bytes: usize,
}

impl diffgp_flash {
    /// The driver and the way to look at models, if all of it is as it must be.
    pub(crate) fn parts(&self) -> Result<(Driver, Look), diffgp_status> {
        let (Some(read), Some(write), Some(erase)) = (self.read, self.write, self.erase) else {
            return Err(DIFFGP_ERROR_NULL);
        };
        let page = self.erase_bytes;
        let whole = |number: u32| number & page.wrapping_sub(1) == 0;
        let small = (page as usize) < DIFFGP_FLASH_WRITE_BYTES;
        if small || !page.is_power_of_two() || !whole(self.start) || !whole(self.slot_bytes) {
            return Err(DIFFGP_ERROR_LAYOUT);
        }
        let place = if self.mapped.is_null() {
            piece(self.memory.cast::<u8>(), self.memory_bytes)
        } else {
            piece(self.mapped.cast::<u8>(), self.bytes as usize)
        };
        place.check(align_of::<u32>())?;
        let driver = Driver { read, write, erase, context: self.context, bytes: self.bytes, page };
        Ok((driver, Look { mapped: self.mapped.cast(), memory: self.memory.cast(), memory_bytes: self.memory_bytes }))
    }
}

/// The functions of a flash, for the slots.
pub(crate) struct Driver {
    read: unsafe extern "C" fn(*mut c_void, u32, *mut c_void, usize) -> c_int,
    write: unsafe extern "C" fn(*mut c_void, u32, *const c_void, usize) -> c_int,
    erase: unsafe extern "C" fn(*mut c_void, u32, u32) -> c_int,
    context: *mut c_void,
    bytes: u32,
    /// Bytes of a page, a power of two.
    page: u32,
}

fn outcome(code: c_int) -> Result<(), NorFlashErrorKind> {
    if code == 0 { Ok(()) } else { Err(NorFlashErrorKind::Other) }
}

impl Driver {
    /// Copies from the flash to where there is room for as much.
    unsafe fn copy(&mut self, offset: u32, to: *mut u8, length: usize) -> Result<(), NorFlashErrorKind> {
        // SAFETY: the function may be called with this context (the caller's promise), and there is room.
        outcome(unsafe { (self.read)(self.context, offset, to.cast(), length) })
    }
}

impl ErrorType for Driver {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Driver {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        // SAFETY: there is room in a slice.
        unsafe { self.copy(offset, bytes.as_mut_ptr(), bytes.len()) }
    }

    fn capacity(&self) -> usize {
        self.bytes as usize
    }
}

impl NorFlash for Driver {
    const WRITE_SIZE: usize = DIFFGP_FLASH_WRITE_BYTES;
    /// Of no unit: the length of a page is known at run time only, and `erase` rounds up to it.
    const ERASE_SIZE: usize = 1;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        // Slots are whole pages, so the end of the last one is in the slot.
        let last = self.page - 1;
        let to = to.checked_add(last).ok_or(NorFlashErrorKind::OutOfBounds)? & !last;
        // SAFETY: the function may be called with this context (the caller's promise).
        outcome(unsafe { (self.erase)(self.context, from, to) })
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        // SAFETY: likewise.
        outcome(unsafe { (self.write)(self.context, offset, bytes.as_ptr().cast(), bytes.len()) })
    }
}

/// Models in mapped flash, or copied to the caller's memory.
pub(crate) struct Look {
    mapped: *const u8,
    memory: *mut u8,
    memory_bytes: usize,
}

impl Access<Driver> for Look {
    fn load(&mut self, flash: &mut Driver, location: Location) -> Result<(), Unusable> {
        if !self.mapped.is_null() {
            return Ok(());
        }
        let (needed, found) = (location.length as usize, self.memory_bytes);
        if needed > found {
            return Err(Unusable::Memory { needed, found });
        }
        // SAFETY: there is room, as was just seen, and nobody looks at what was there before (the caller's promise).
        unsafe { flash.copy(location.offset, self.memory, needed) }.map_err(|_| Unusable::Unreadable)
    }

    fn bytes(&self, location: Location) -> &[u8] {
        let length = location.length as usize;
        let start = if self.mapped.is_null() {
            if length > self.memory_bytes {
                return &[];
            }
            self.memory.cast_const()
        } else {
            // In the flash, as every location of the slots is.
            self.mapped.wrapping_add(location.offset as usize)
        };
        // SAFETY: the memory was filled by `load`, and the flash is there as far as was said (the caller's promise). Neither
        // is written to while somebody looks: the slots lend no model during an update of its slot.
        unsafe { slice::from_raw_parts(start, length) }
    }
}
