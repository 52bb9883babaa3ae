//! Models in flash as C sees them; `c/slots.c` has more of it, with power cuts and signatures.

use std::ffi::{c_int, c_void};
use std::slice;

use diffgp_c::diffgp_status::*;

use crate::*;

const PAGE: usize = 256;
const SLOT: usize = 4 * PAGE;

/// A flash in memory. The driver gets at it through a pointer, as everybody else does.
struct Flash(Vec<u32>);

impl Flash {
    fn new() -> Self {
        Self(vec![u32::MAX; 2 * SLOT / 4])
    }

    fn driver(&mut self, memory: Option<&mut Vec<u32>>) -> diffgp_flash {
        let bytes: *mut c_void = self.0.as_mut_ptr().cast();
        let (mapped, memory, memory_bytes) = match memory {
            Some(memory) => (ptr::null(), memory.as_mut_ptr().cast(), 4 * memory.len()),
            None => (bytes.cast_const(), ptr::null_mut(), 0),
        };
        diffgp_flash {
            read: Some(read),
            write: Some(write),
            erase: Some(erase),
            context: bytes,
            bytes: 2 * SLOT as u32,
            erase_bytes: PAGE as u32,
            start: 0,
            slot_bytes: SLOT as u32,
            mapped,
            memory,
            memory_bytes,
        }
    }
}

unsafe extern "C" fn read(flash: *mut c_void, offset: u32, bytes: *mut c_void, length: usize) -> c_int {
    assert!(offset as usize + length <= 2 * SLOT);
    // SAFETY: in the flash, as was just seen.
    unsafe { ptr::copy_nonoverlapping(flash.cast::<u8>().add(offset as usize), bytes.cast(), length) };
    0
}

unsafe extern "C" fn write(flash: *mut c_void, offset: u32, bytes: *const c_void, length: usize) -> c_int {
    assert!(offset as usize + length <= 2 * SLOT && offset.is_multiple_of(32) && length.is_multiple_of(32));
    for index in 0..length {
        // SAFETY: likewise.
        unsafe { *flash.cast::<u8>().add(offset as usize + index) &= *bytes.cast::<u8>().add(index) };
    }
    0
}

unsafe extern "C" fn erase(flash: *mut c_void, from: u32, to: u32) -> c_int {
    assert!(
        from < to
            && to as usize <= 2 * SLOT
            && (from as usize).is_multiple_of(PAGE)
            && (to as usize).is_multiple_of(PAGE)
    );
    // SAFETY: likewise.
    unsafe { ptr::write_bytes(flash.cast::<u8>().add(from as usize), 0xff, (to - from) as usize) };
    0
}

fn update(slots: &mut diffgp_slots, model: &[u8]) -> diffgp_status {
    let mut update: diffgp_update = zeroed();
    // SAFETY: all pointers are those of references, here and below.
    unsafe {
        let begun = diffgp_update_begin(&mut update, slots, model.len() as u32);
        assert_eq!(begun, DIFFGP_OK);
        for piece in model.chunks(100) {
            assert_eq!(diffgp_update_write(&mut update, slots, piece.as_ptr().cast(), piece.len()), DIFFGP_OK);
        }
        diffgp_update_commit(&mut update, slots)
    }
}

/// The model in use, if there is one.
fn model(slots: &diffgp_slots) -> Option<&[u8]> {
    let (mut bytes, mut length) = (ptr::null(), 0);
    unsafe {
        match diffgp_slots_model(slots, &mut bytes, &mut length) {
            DIFFGP_OK => Some(slice::from_raw_parts(bytes.cast(), length)),
            status => {
                assert_eq!(status, DIFFGP_ERROR_NO_MODEL);
                None
            }
        }
    }
}

#[test]
fn a_model_is_replaced_tried_and_kept() {
    for copied in [false, true] {
        let (mut flash, mut memory) = (Flash::new(), vec![0; SLOT / 4]);
        let driver = flash.driver(copied.then_some(&mut memory));
        let mut slots: diffgp_slots = zeroed();
        unsafe {
            assert_eq!(diffgp_slots_open(&mut slots, &driver, ptr::null()), DIFFGP_OK);
            assert_eq!(model(&slots), None);
            assert_eq!(update(&mut slots, STEPS), DIFFGP_OK);
            assert_eq!(model(&slots), Some(STEPS));
            let mut parsed: diffgp_model = zeroed();
            let bytes = model(&slots).unwrap();
            assert_eq!(diffgp_parse_trusted(&mut parsed, bytes.as_ptr().cast(), bytes.len()), DIFFGP_OK);
            assert_eq!(diffgp_slots_confirm(&mut slots), DIFFGP_OK);
            assert_eq!(update(&mut slots, &STEPS[..700]), DIFFGP_ERROR_TRUNCATED);
            assert_eq!(model(&slots), Some(STEPS), "the one before it is in use");
            let mut info = zeroed();
            assert_eq!(diffgp_slots_open(&mut slots, &driver, ptr::null()), DIFFGP_OK);
            assert_eq!(diffgp_slots_describe(&mut slots, &mut info), DIFFGP_OK);
            assert_eq!((info.refused, info.is_confirmed, info.is_on_trial), (DIFFGP_OK, 1, 0));
            assert_eq!(model(&slots), Some(STEPS));
        }
    }
}

#[test]
fn what_is_not_there_or_was_moved_is_refused() {
    let mut flash = Flash::new();
    let driver = flash.driver(None);
    let (mut slots, mut begun): (diffgp_slots, diffgp_update) = (zeroed(), zeroed());
    unsafe {
        assert_eq!(diffgp_slots_confirm(&mut slots), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_slots_open(ptr::null_mut(), &driver, ptr::null()), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_slots_open(&mut slots, ptr::null(), ptr::null()), DIFFGP_ERROR_NULL);
        let askew = diffgp_flash { mapped: driver.mapped.byte_add(2), ..driver };
        assert_eq!(diffgp_slots_open(&mut slots, &askew, ptr::null()), DIFFGP_ERROR_ALIGNMENT);
        let beyond = diffgp_flash { start: PAGE as u32, ..driver };
        assert_eq!(diffgp_slots_open(&mut slots, &beyond, ptr::null()), DIFFGP_ERROR_LAYOUT);
        assert_eq!(diffgp_slots_open(&mut slots, &driver, ptr::null()), DIFFGP_OK);
        assert_eq!(diffgp_update_begin(ptr::null_mut(), &mut slots, 100), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_update_write(&mut begun, &mut slots, STEPS.as_ptr().cast(), 1), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_update_begin(&mut begun, &mut slots, 100), DIFFGP_OK);
        assert_eq!(diffgp_update_write(&mut begun, ptr::null_mut(), ptr::null(), 1), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_update_write(&mut begun, &mut slots, STEPS.as_ptr().cast(), 100), DIFFGP_OK);
        let moved = Box::new(ptr::read(&slots));
        let mut moved = moved;
        assert_eq!(diffgp_update_commit(&mut begun, &mut *moved), DIFFGP_ERROR_OBJECT);
        assert_eq!(diffgp_update_commit(&mut begun, &mut slots), DIFFGP_ERROR_TRUNCATED);
        assert_eq!(diffgp_update_commit(&mut begun, &mut slots), DIFFGP_ERROR_OBJECT, "it is over");
    }
}

#[test]
fn what_a_program_has_no_room_for_is_refused() {
    let mut flash = Flash::new();
    let (driver, limits) = (flash.driver(None), diffgp_limits { workspace_bytes: 20, operations: u64::MAX });
    let mut slots: diffgp_slots = zeroed();
    unsafe {
        assert_eq!(diffgp_slots_open(&mut slots, &driver, &limits), DIFFGP_OK);
        assert_eq!(update(&mut slots, STEPS), DIFFGP_ERROR_CAPACITY);
        let limits = diffgp_limits { workspace_bytes: 10_000, operations: 10 };
        assert_eq!(diffgp_slots_open(&mut slots, &driver, &limits), DIFFGP_OK);
        assert_eq!(update(&mut slots, STEPS), DIFFGP_ERROR_WORK);
        assert_eq!(model(&slots), None);
    }
}

#[test]
#[cfg_attr(miri, ignore = "a signature takes minutes there, and its verification is plain arithmetic")]
fn signed_models_only() {
    const KEY: [u8; 32] = [
        0x03, 0xa1, 0x07, 0xbf, 0xf3, 0xce, 0x10, 0xbe, 0x1d, 0x70, 0xdd, 0x18, 0xe7, 0x4b, 0xc0, 0x99, 0x67, 0xe4,
        0xd6, 0x30, 0x9b, 0xa5, 0x0d, 0x5f, 0x1d, 0xdc, 0x86, 0x64, 0x12, 0x55, 0x31, 0xb8,
    ];
    let small = include_bytes!("../../diffgp-slots/models/steps.dgp");
    let signed = [&small[..], include_bytes!("c/steps.dgp.sig")].concat();
    let mut flash = Flash::new();
    let driver = flash.driver(None);
    let keys = diffgp_keys { keys: KEY.as_ptr(), count: 1, least_counter: 0, also_at_boot: 1 };
    let mut slots: diffgp_slots = zeroed();
    unsafe {
        let none = diffgp_keys { count: usize::MAX, ..keys };
        assert_eq!(diffgp_slots_open_signed(&mut slots, &driver, ptr::null(), &none), DIFFGP_ERROR_LENGTH);
        assert_eq!(diffgp_slots_open_signed(&mut slots, &driver, ptr::null(), &keys), DIFFGP_OK);
        assert_eq!(update(&mut slots, small), DIFFGP_ERROR_UNSIGNED);
        assert_eq!(update(&mut slots, &signed), DIFFGP_OK);
        assert_eq!(diffgp_slots_confirm(&mut slots), DIFFGP_OK);
        assert_eq!(update(&mut slots, &signed), DIFFGP_ERROR_OLDER);
        let other = &raw mut slots;
        assert_eq!(diffgp_slots_open_signed(other, &driver, ptr::null(), ptr::null()), DIFFGP_ERROR_NULL);
        assert_eq!(diffgp_slots_confirm(other), DIFFGP_ERROR_OBJECT, "after a refusal it is empty");
        assert_eq!(diffgp_slots_open_signed(&mut slots, &driver, ptr::null(), &keys), DIFFGP_OK);
        assert_eq!(model(&slots), Some(&small[..]));
    }
}
