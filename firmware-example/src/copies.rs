//! Copy and clear in a few instructions: those of the compiler's library are fast, and take 880 bytes on a Cortex-M0.

use core::hint::black_box;

/// Byte by byte, from the lowest address.
///
/// # Safety
///
/// As of C's `memcpy`.
#[inline(always)]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    for i in 0..bytes {
        // Or the compiler takes the loop for a copy, and makes a call of what it is the body of.
        black_box(());
        // SAFETY: both have so many bytes, as the caller says.
        unsafe { to.add(i).write(from.add(i).read()) }
    }
}

/// The same with one value.
///
/// # Safety
///
/// As of C's `memset`.
#[inline(always)]
pub unsafe fn fill(to: *mut u8, value: u8, bytes: usize) {
    for i in 0..bytes {
        black_box(());
        // SAFETY: it has so many bytes, as the caller says.
        unsafe { to.add(i).write(value) }
    }
}

/// For an image that counts bytes: these under the names that the compiler calls. The linker takes them instead of the
/// library's. A model's description is copied once, when it is loaded, so that this costs no time.
#[macro_export]
macro_rules! small_copies {
    () => {
        /// # Safety
        /// As of C's `memcpy`.
        #[cfg(target_arch = "riscv32")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe { $crate::copies::copy(to, from, bytes) };
            to
        }

        /// # Safety
        /// As of C's `memset`.
        #[cfg(target_arch = "riscv32")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn memset(to: *mut u8, value: i32, bytes: usize) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe { $crate::copies::fill(to, value as u8, bytes) };
            to
        }

        /// # Safety
        /// As of `memcpy`; the name is that of Arm's run-time ABI.
        #[cfg(target_arch = "arm")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn __aeabi_memcpy(to: *mut u8, from: *const u8, bytes: usize) {
            // SAFETY: the caller's.
            unsafe { $crate::copies::copy(to, from, bytes) };
        }

        /// # Safety
        /// Likewise.
        #[cfg(target_arch = "arm")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn __aeabi_memcpy4(to: *mut u8, from: *const u8, bytes: usize) {
            // SAFETY: the caller's.
            unsafe { $crate::copies::copy(to, from, bytes) };
        }

        /// # Safety
        /// Likewise, of what is to become zero.
        #[cfg(target_arch = "arm")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn __aeabi_memclr4(to: *mut u8, bytes: usize) {
            // SAFETY: the caller's.
            unsafe { $crate::copies::fill(to, 0, bytes) };
        }
    };
}
