//! Models in flash that can be replaced: two slots, of which a power cut at any moment leaves a whole model in one.

#[cfg(feature = "signatures")]
mod signed;

use core::ffi::c_void;
use core::mem::MaybeUninit;

use ::diffgp_slots::{Layout, Paused, Slots, Unconfirmed};

use crate::flash::{Driver, Look, diffgp_flash};
use crate::memory::{object, put, slice};
use crate::policy::{Keys, Policy, diffgp_limits};
use crate::status::answer;
use crate::status::diffgp_status::{self, *};

#[cfg(feature = "signatures")]
pub use signed::*;

/// Size of a diffgp_slots.
pub const DIFFGP_SLOTS_BYTES: usize = 320;

/// Size of a diffgp_update.
pub const DIFFGP_UPDATE_BYTES: usize = 576;

/// Two slots in flash, the model in use and the right to change it. It lives where it was opened: a copy is refused.
#[repr(C)]
pub struct diffgp_slots {
    /// Not for programs.
    pub opaque: [MaybeUninit<u64>; 40],
}

/// A model on its way into the slot that is not in use: what has not filled a page yet, and where it goes.
#[repr(C)]
pub struct diffgp_update {
    /// Not for programs.
    pub opaque: [MaybeUninit<u64>; 72],
}

/// What is known of the slots.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diffgp_slots_info {
    /// Why diffgp_slots_open passed over the model that counts most; DIFFGP_OK if it did not.
    pub refused: diffgp_status,
    /// The longest model that a slot can hold, with its signature.
    pub capacity: u32,
    /// The counter of the model in use, if it is signed.
    pub counter: u32,
    /// Whether the model in use is signed.
    pub is_signed: u8,
    /// Whether the model in use was confirmed. A first model is used after the next boot although it was not, because there
    /// is no other.
    pub is_confirmed: u8,
    /// Whether the next boot takes another model than the one in use, unless that is confirmed.
    pub is_on_trial: u8,
}

type Inner = Slots<Driver, Look, Policy>;

/// What is in a [`diffgp_slots`].
#[repr(C)]
struct Inside {
    /// Its own address and [`OPENED`], if there are slots behind it: of two copies one would not know what the other did.
    tag: usize,
    slots: MaybeUninit<Inner>,
}

/// What is in a [`diffgp_update`].
#[repr(C)]
struct Begun {
    /// [`BEGUN`] if there is an update behind it.
    tag: u32,
    paused: MaybeUninit<Paused>,
}

const OPENED: usize = u32::from_le_bytes(*b"dgpS") as usize;
const BEGUN: u32 = u32::from_le_bytes(*b"dgpU");

const _: () = assert!(size_of::<diffgp_slots>() == DIFFGP_SLOTS_BYTES && size_of::<Inside>() <= DIFFGP_SLOTS_BYTES);
const _: () = assert!(size_of::<diffgp_update>() == DIFFGP_UPDATE_BYTES && size_of::<Begun>() <= DIFFGP_UPDATE_BYTES);
const _: () = assert!(align_of::<Inside>() <= align_of::<u64>() && align_of::<Begun>() <= align_of::<u64>());

/// The slots in an object.
unsafe fn inner(pointer: *mut diffgp_slots) -> Result<*mut Inner, diffgp_status> {
    let inside: *mut Inside = object(pointer)?.cast();
    // SAFETY: the object is there (the caller's promise) and not smaller than `Inside` (asserted above).
    if unsafe { (&raw const (*inside).tag).read() } != pointer.addr() ^ OPENED {
        return Err(DIFFGP_ERROR_OBJECT);
    }
    // SAFETY: `open` writes the tag only behind slots; only a place is computed.
    Ok(unsafe { (&raw mut (*inside).slots).cast() })
}

/// The same for one call that changes them.
unsafe fn slots<'a>(pointer: *mut diffgp_slots) -> Result<&'a mut Inner, diffgp_status> {
    // SAFETY: there are slots, and nobody else uses them during the call (the caller's promise).
    Ok(unsafe { &mut *inner(pointer)? })
}

/// Opens slots in an object, which is empty if they cannot lie where they are said to.
unsafe fn open(
    to: *mut diffgp_slots,
    flash: *const diffgp_flash,
    limits: *const diffgp_limits,
    keys: impl FnOnce() -> Result<Option<Keys>, diffgp_status>,
) -> Result<(), diffgp_status> {
    let inside: *mut Inside = object(to)?.cast();
    // SAFETY: there is room for the object, and the others are there (the caller's promises).
    unsafe {
        (&raw mut (*inside).tag).write(0);
        let (keys, flash) = (keys()?, &*object(flash.cast_mut())?);
        let limits = if limits.is_null() { None } else { Some(*object(limits.cast_mut())?) };
        let layout = Layout { start: flash.start, slot_bytes: flash.slot_bytes };
        let (driver, look) = flash.parts()?;
        let slots = Slots::open(driver, layout, look, Policy { limits, keys }).map_err(|_| DIFFGP_ERROR_LAYOUT)?;
        (&raw mut (*inside).slots).write(MaybeUninit::new(slots));
        (&raw mut (*inside).tag).write(to.addr() ^ OPENED);
    }
    Ok(())
}

/// Finds the model in use. Writes nothing to the flash. That there is no model is no refusal: diffgp_slots_model says it.
///
/// flash is copied; what its pointers lead to stays as long as the slots are used. Models that do not keep to the limits are
/// refused, before they are committed and at boot; without limits (null), all are taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_open(
    slots: *mut diffgp_slots,
    flash: *const diffgp_flash,
    limits: *const diffgp_limits,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { open(slots, flash, limits, || Ok(None)) })
}

/// Where the model in use lies and its bytes, for diffgp_parse_trusted: it was checked. DIFFGP_ERROR_NO_MODEL in new flash, or
/// if no model there can be used.
///
/// Use it, and what was parsed from it, until the next diffgp_update_begin, diffgp_update_commit or diffgp_slots_take_back:
/// then ask and parse again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_model(
    slots: *const diffgp_slots,
    bytes: *mut *const c_void,
    length: *mut usize,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { inner(slots.cast_mut()) }.and_then(|slots| {
        object(length)?;
        // SAFETY: likewise; the slots are only looked at.
        unsafe {
            let model = (*slots).model().ok_or(DIFFGP_ERROR_NO_MODEL)?;
            put(bytes, model.as_ptr().cast())?;
            put(length, model.len())
        }
    }))
}

/// What is known of the slots and of the model in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_describe(
    slots: *mut diffgp_slots,
    info: *mut diffgp_slots_info,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { self::slots(slots) }.and_then(|slots| {
        let counter = slots.counter();
        let found = diffgp_slots_info {
            refused: slots.refused().map_or(DIFFGP_OK, diffgp_status::from),
            capacity: slots.capacity(),
            counter: counter.unwrap_or(0),
            is_signed: counter.is_some().into(),
            is_confirmed: slots.is_confirmed().into(),
            is_on_trial: slots.is_on_trial().into(),
        };
        // SAFETY: likewise.
        unsafe { put(info, found) }
    }))
}

/// Begins to replace the model by one of length bytes, with its signature if it has one: erases the slot that is not in use.
/// A model on trial is taken back first. Nothing else changes until diffgp_update_commit; an update that nobody commits leaves
/// no trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_update_begin(
    update: *mut diffgp_update,
    slots: *mut diffgp_slots,
    length: u32,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { empty(update) }.and_then(|begun| {
        // SAFETY: likewise.
        let paused = unsafe { self::slots(slots) }?.update(length)?.pause();
        // SAFETY: likewise.
        unsafe { keep(begun, paused) };
        Ok(())
    }))
}

/// Appends bytes of the model, any number of them. After a refusal the update is over: begin another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_update_write(
    update: *mut diffgp_update,
    slots: *mut diffgp_slots,
    bytes: *const c_void,
    length: usize,
) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    let write = || unsafe {
        let (bytes, slots) = (slice(bytes.cast::<u8>(), length)?, self::slots(slots)?);
        let (begun, paused) = take(update)?;
        let mut update = slots.resume(paused).ok_or(DIFFGP_ERROR_STALE)?;
        update.write(bytes)?;
        keep(begun, update.pause());
        Ok(())
    };
    answer(write())
}

/// Checks what is in the flash now and puts it to use, on trial: the next boot finds the model of before, unless
/// diffgp_slots_confirm is called until then. The update is over.
///
/// After a refusal the model of before is in use, and the next boot finds it too; except after DIFFGP_ERROR_UNKNOWN, which
/// only happens if there was none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_update_commit(update: *mut diffgp_update, slots: *mut diffgp_slots) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    let commit = || unsafe {
        let slots = self::slots(slots)?;
        let (_, paused) = take(update)?;
        slots.resume(paused).ok_or(DIFFGP_ERROR_STALE)?.commit()?;
        Ok(())
    };
    answer(commit())
}

/// Keeps the model that was committed since the slots were opened: the next boot finds it, and not the one before. If the
/// flash fails (DIFFGP_ERROR_UNKNOWN), the next boot finds one of the two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_confirm(slots: *mut diffgp_slots) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { self::slots(slots) }.and_then(|slots| {
        slots.confirm().map_err(|error| match error {
            Unconfirmed::NothingOnTrial => DIFFGP_ERROR_NOTHING_ON_TRIAL,
            _ => DIFFGP_ERROR_UNKNOWN,
        })
    }))
}

/// Gives up the model on trial and uses the one before it again. Without a model on trial, or without one before it, nothing
/// happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diffgp_slots_take_back(slots: *mut diffgp_slots) -> diffgp_status {
    // SAFETY: the caller's promises are these.
    answer(unsafe { self::slots(slots) }.map(Inner::take_back))
}

/// Empties an update.
unsafe fn empty(update: *mut diffgp_update) -> Result<*mut Begun, diffgp_status> {
    let begun: *mut Begun = object(update)?.cast();
    // SAFETY: there is room for the object (the caller's promise), which is not smaller than `Begun`.
    unsafe { (&raw mut (*begun).tag).write(0) };
    Ok(begun)
}

/// Takes an update out of its object, which is empty then.
unsafe fn take(update: *mut diffgp_update) -> Result<(*mut Begun, Paused), diffgp_status> {
    let begun: *mut Begun = object(update)?.cast();
    // SAFETY: the object is there (the caller's promise); `keep` writes the tag only behind an update, which is read once.
    unsafe {
        if (&raw const (*begun).tag).read() != BEGUN {
            return Err(DIFFGP_ERROR_OBJECT);
        }
        (&raw mut (*begun).tag).write(0);
        Ok((begun, (&raw const (*begun).paused).read().assume_init()))
    }
}

/// Fills an object that `empty` or `take` has checked.
unsafe fn keep(begun: *mut Begun, paused: Paused) {
    // SAFETY: as there.
    unsafe {
        (&raw mut (*begun).paused).write(MaybeUninit::new(paused));
        (&raw mut (*begun).tag).write(BEGUN);
    }
}
