//! The interface as C sees it, from Rust: small enough for Miri, which looks at every access.
#![allow(unused_must_use, reason = "some statuses are looked at elsewhere")]

mod misuse;
mod objects;
mod same_bits;
mod slots;

use std::mem::MaybeUninit;
use std::ptr;

use diffgp_c::*;
use diffgp_infer::include_model;

/// A regression with a flow, a ring of two classes, three irises (no flow), two targets.
static STEPS: &[u8] = include_model!("../../diffgp-infer/models/v2-steps-small.dgp");
static RING: &[u8] = include_model!("../../diffgp-infer/models/v2-ring.dgp");
static IRIS: &[u8] = include_model!("../../diffgp-infer/models/v2-iris.dgp");
static ENERGY: &[u8] = include_model!("../../diffgp-infer/models/v2-energy2.dgp");
/// A regression with a flow, in integers.
static INTEGERS: &[u8] = include_model!("../../tests/blobs/v2-power-integers.dgp");

const NO_NOISE: *const diffgp_noise = ptr::null();
const SEEDED: diffgp_noise = diffgp_noise { seed: 7, row: 3, next: None, context: ptr::null_mut() };

/// An object as C has it: zeros.
fn zeroed<T>() -> T {
    // SAFETY: only for objects of the interface, of which zeros are a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn parsed(bytes: &'static [u8]) -> diffgp_model {
    let mut model = zeroed();
    // SAFETY: both pointers are those of references.
    assert_eq!(unsafe { diffgp_parse(&mut model, bytes.as_ptr().cast(), bytes.len()) }, diffgp_status::DIFFGP_OK);
    model
}

fn info(model: &diffgp_model) -> diffgp_info {
    let mut info = zeroed();
    // SAFETY: likewise.
    assert_eq!(unsafe { diffgp_model_info(model, &mut info) }, diffgp_status::DIFFGP_OK);
    info
}

/// The middle of the ranges seen in training, a little to the side.
fn middle(model: &diffgp_model) -> Vec<f32> {
    let range = |index| {
        let (mut low, mut high) = (0.0, 0.0);
        // SAFETY: likewise.
        assert_eq!(unsafe { diffgp_input_range(model, index, &mut low, &mut high) }, diffgp_status::DIFFGP_OK);
        0.45 * low + 0.55 * high
    };
    (0..info(model).inputs as usize).map(range).collect()
}

/// A workspace of exactly the size that the model needs.
fn workspace(model: &diffgp_model) -> Vec<u32> {
    vec![0xffff_ffff; info(model).workspace_bytes / 4]
}
