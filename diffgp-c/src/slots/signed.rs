//! Signed models: Ed25519 over the whole model file and its counter. docs/security.md says what it protects against.

use core::ffi::c_void;

use ::diffgp_slots::{Accept, Candidate, Signed, Unusable, is_signed_by};

use super::{diffgp_slots, open};
use crate::flash::diffgp_flash;
use crate::memory::{object, slice};
use crate::policy::{Keys, diffgp_limits};
use crate::status::answer;
use crate::status::diffgp_status::{self, *};

/// Which signatures are taken.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct diffgp_keys {
    /// Public keys of 32 bytes each, one behind the other, made by diffgp keygen; several allow for a change of keys. They
    /// stay as long as the slots are used.
    pub keys: *const u8,
    /// How many.
    pub count: usize,
    /// No model with a smaller counter, whatever is in use: the counter of a model that came with the firmware, plus one.
    pub least_counter: u32,
    /// Not zero: verify models at boot too.
    pub also_at_boot: u8,
}

/// diffgp_slots_open for a program that takes signed models only: an update must be signed by one of the keys, with a counter
/// larger than that of the model in use. Without keys no update is taken.
///
/// Verification needs 6 KiB of stack and about 18 KB of flash; a program that does not call this function has none of it. It
/// is the one part of the library that has checks of indices left: should one fail, the library stops in an endless loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_open_signed(
    slots: *mut diffgp_slots,
    flash: *const diffgp_flash,
    limits: *const diffgp_limits,
    keys: *const diffgp_keys,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    let keys = || unsafe {
        let keys = *object(keys.cast_mut())?;
        Ok(Some(Keys {
            keys: slice(keys.keys.cast::<[u8; 32]>(), keys.count)?,
            least_counter: keys.least_counter,
            also_at_boot: keys.also_at_boot != 0,
            accept,
        }))
    };
    // SAFETY: likewise.
    answer(unsafe { open(slots, flash, limits, keys) })
}

fn accept(keys: &Keys, candidate: &Candidate<'_>) -> Result<(), Unusable> {
    let signed = Signed::by(keys.keys).from_counter(keys.least_counter);
    if keys.also_at_boot { signed.also_at_boot() } else { signed }.accept(candidate)
}

/// Whether this public key of 32 bytes has signed this model file with its block of 80 bytes behind it: DIFFGP_OK, or
/// DIFFGP_ERROR_FORGED. The counter is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_is_signed_by(key: *const u8, bytes: *const c_void, length: usize) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    let asked = || unsafe {
        let (key, bytes) = (slice(key.cast::<[u8; 32]>(), 1)?, slice(bytes.cast::<u8>(), length)?);
        if key.iter().all(|key| is_signed_by(key, bytes)) { Ok(()) } else { Err(DIFFGP_ERROR_FORGED) }
    };
    answer(asked())
}
