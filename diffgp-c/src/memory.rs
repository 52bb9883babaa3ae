//! Pointers of C, checked as far as a pointer can be checked. What is left is the caller's promise: see the crate's page.

use core::mem::MaybeUninit;
use core::slice;

use crate::status::diffgp_status::{self, *};

/// A piece of memory: where it begins, and its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

/// Where so many values are, or are said to be.
pub(crate) fn piece<T>(pointer: *const T, count: usize) -> Piece {
    Piece { start: pointer.addr(), bytes: count.saturating_mul(size_of::<T>()) }
}

impl Piece {
    /// Null, misaligned, or going around the end of the address space.
    #[inline(never)]
    pub(crate) fn check(self, align: usize) -> Result<(), diffgp_status> {
        if self.start == 0 {
            return Err(DIFFGP_ERROR_NULL);
        }
        if self.start & (align - 1) != 0 {
            return Err(DIFFGP_ERROR_ALIGNMENT);
        }
        let ends = self.bytes <= isize::MAX as usize && self.start.checked_add(self.bytes).is_some();
        if ends { Ok(()) } else { Err(DIFFGP_ERROR_LENGTH) }
    }

    /// Whether two pieces that were checked have a byte in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        // One begins inside the other.
        self.start.wrapping_sub(other.start) < other.bytes || other.start.wrapping_sub(self.start) < self.bytes
    }
}

/// Values of C that any bytes are.
pub(crate) trait Plain {}

impl Plain for u8 {}
impl Plain for [u8; 32] {}
impl Plain for u32 {}
impl Plain for f32 {}

/// Values that nobody changes during `'a`.
pub(crate) unsafe fn slice<'a, T: Plain>(pointer: *const T, count: usize) -> Result<&'a [T], diffgp_status> {
    piece(pointer, count).check(align_of::<T>())?;
    // SAFETY: the values are there and stay (the caller's promise), the pointer is aligned and not null, and the length
    // goes neither around the address space nor beyond `isize::MAX`. Any bytes are a `T`.
    Ok(unsafe { slice::from_raw_parts(pointer, count) })
}

/// Room for values that nobody else touches during `'a`.
pub(crate) unsafe fn room<'a, T: Plain>(
    pointer: *mut T,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>], diffgp_status> {
    piece(pointer, count).check(align_of::<T>())?;
    // SAFETY: as in `slice`; it need not be initialised.
    Ok(unsafe { slice::from_raw_parts_mut(pointer.cast(), count) })
}

/// The pointer itself, if an object can be there.
pub(crate) fn object<T>(pointer: *mut T) -> Result<*mut T, diffgp_status> {
    piece(pointer, 1).check(align_of::<T>())?;
    Ok(pointer)
}

/// Writes a result.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), diffgp_status> {
    let pointer = object(pointer)?;
    // SAFETY: there is room (the caller's promise), and the pointer is aligned.
    unsafe { pointer.write(value) };
    Ok(())
}
