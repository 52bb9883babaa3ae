//! The runtime on trained models, whole and damaged, without the trainer: small enough for Miri.
#![allow(unreachable_pub, reason = "the modules are those of a library too, of the fuzz targets")]

mod model;
mod repair;

use diffgp_infer::{Aligned, Model, ParseError, include_model};
use model::{Reached, check};

static MODELS: [&[u8]; 3] = [
    include_model!("../models/v2-steps.dgp"),
    include_model!("../models/v2-ring.dgp"),
    include_model!("../models/v2-pendulum-temporal.dgp"),
];

/// The interpreter is a thousand times slower than the processor: fewer flips, and no paths longer than the models'.
const STRIDE: usize = if cfg!(miri) { 4_999 } else { 101 };
const HEADER_STRIDE: usize = if cfg!(miri) { 29 } else { 1 };
const LONGEST: usize = if cfg!(miri) { 6_000 } else { usize::MAX };

#[test]
fn trained_models_predict() {
    for model in MODELS {
        assert_eq!(check(model, LONGEST), Reached::Parsed { predicted: true });
    }
}

#[test]
fn a_model_at_an_odd_address_is_refused() {
    let mut shifted = Aligned([0; 16 << 10]);
    let model = MODELS[0];
    for offset in 1..4 {
        shifted.0[offset..offset + model.len()].copy_from_slice(model);
        assert_eq!(Model::parse(&shifted.0[offset..]).unwrap_err(), ParseError::Unaligned);
    }
}

#[test]
fn flipped_bits_behind_a_repaired_checksum_are_refused_or_harmless() {
    let model = MODELS[0];
    let mut damaged = Aligned([0; 16 << 10]);
    let (mut refused, mut predicted) = (0, 0);
    // Every bit of the first words of the header, then some of all.
    let header = (96..176).step_by(HEADER_STRIDE);
    for bit in header.chain((96..8 * (model.len() - 4)).step_by(STRIDE)) {
        let bytes = &mut damaged.0[..model.len()];
        bytes.copy_from_slice(model);
        bytes[bit / 8] ^= 1 << (bit % 8);
        repair::repair(bytes);
        match check(bytes, LONGEST) {
            Reached::Parsed { .. } => predicted += 1,
            _ => refused += 1,
        }
    }
    assert!(refused > 0 && predicted > 0, "{refused} refused, {predicted} predicted");
}
