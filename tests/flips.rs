//! Damage to trained models: every flipped bit and every truncation is found. Behind a repaired checksum it is refused,
//! or predictions stay finite.
//!
//! Three models of at most 16 KiB are damaged in every single place, larger ones in many.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use std::{fs, thread};

use diffgp_infer::{Model, ParseError};
use rand_core::Rng;

use crate::fuzzed::model::{self, Reached};
use crate::fuzzed::repair::repair;
use crate::region::Region;
use crate::stored_models::path;

const SMALL: [&str; 5] = ["v2-steps", "v2-ring", "v2-pendulum-temporal", "v2-iris", "v2-energy2"];
const LARGE: &str = "v2-power";
const LARGEST: &str = "v2-kin8nm";

fn load(name: &str) -> Vec<u8> {
    fs::read(path(name)).expect("a stored model")
}

/// Counts the cases that `holds` for, on all cores, each with a copy of the model of its own.
fn count(blob: &[u8], cases: &[usize], holds: impl Fn(&mut Region, usize) -> bool + Sync) -> usize {
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut region = Region::new(blob);
                while let Some(&case) = cases.get(next.fetch_add(1, Relaxed)) {
                    found.fetch_add(usize::from(holds(&mut region, case)), Relaxed);
                }
            });
        }
    });
    found.into_inner()
}

/// Flips that the parser does not notice, of these.
fn unnoticed_flips(name: &str, blob: &[u8], bits: &[usize]) -> usize {
    assert!(Model::parse(Region::new(blob).bytes()).is_ok(), "{name} is whole to begin with");
    let begin = Instant::now();
    let missed = count(blob, bits, |region, bit| {
        region.flip(bit);
        let missed = Model::parse(region.bytes()).is_ok();
        region.flip(bit);
        missed
    });
    println!("{name}: {} bytes, {} flips tested, {missed} missed, {:?}", blob.len(), bits.len(), begin.elapsed());
    missed
}

/// Flips behind a repaired checksum: each is refused, or leaves a model that predicts, or one that overflows and says so.
/// Anything else panics in `model::check`.
fn repaired_flips(name: &str, blob: &[u8], bits: &[usize]) {
    let begin = Instant::now();
    let overflows = AtomicUsize::new(0);
    let predicting = count(blob, bits, |region, bit| {
        region.flip(bit);
        repair(region.bytes_mut());
        let reached = model::check(region.bytes(), usize::MAX);
        region.bytes_mut().copy_from_slice(blob);
        overflows.fetch_add(usize::from(reached == Reached::Parsed { predicted: false }), Relaxed);
        reached == Reached::Parsed { predicted: true }
    });
    let overflows = overflows.into_inner();
    let refused = bits.len() - predicting - overflows;
    println!(
        "{name}: {} repaired flips: {refused} refused, {predicting} predict, {overflows} overflow, {:?}",
        bits.len(),
        begin.elapsed()
    );
    // Most changes of a number in a tensor leave a model that predicts; most of the header do not.
    assert!(refused > 0 && predicting > bits.len() / 3);
}

/// Bits at the beginning (in bytes), at the end (in bytes), and at random.
fn some_bits(blob: &[u8], first: usize, last: usize, random: usize) -> Vec<usize> {
    let all = 8 * blob.len();
    let mut rng = diffgp_infer::keyed_rng(0xb17, 0, 0);
    let edges = (0..8 * first).chain(all - 8 * last..all);
    edges.chain((0..random).map(|_| rng.next_u32() as usize % all)).collect()
}

#[test]
fn every_flipped_bit_of_five_trained_models_is_found() {
    for name in SMALL {
        let blob = load(name);
        assert!(blob.len() <= 16 << 10);
        let bits: Vec<usize> = (0..8 * blob.len()).collect();
        assert_eq!(unnoticed_flips(name, &blob, &bits), 0);
    }
}

#[test]
fn every_truncation_of_five_trained_models_is_found() {
    for name in SMALL {
        let blob = load(name);
        let lengths: Vec<usize> = (0..blob.len()).collect();
        // A file that was cut off …
        let whole = Region::new(&blob);
        for &length in &lengths {
            let parsed = Model::parse(&whole.bytes()[..length]);
            assert!(matches!(parsed, Err(ParseError::Truncated { .. })), "{name}, {length} bytes: {parsed:?}");
        }
        // … and flash that was written in part, with erased bytes behind.
        let missed = count(&blob, &lengths, |region, length| {
            region.bytes_mut()[length..].fill(0xff);
            let missed = region.bytes() != blob && Model::parse(region.bytes()).is_ok();
            region.bytes_mut().copy_from_slice(&blob);
            missed
        });
        println!("{name}: {} truncations tested twice, {missed} missed", lengths.len());
        assert_eq!(missed, 0);
    }
}

#[test]
fn flipped_bits_of_the_largest_model_are_found() {
    let blob = load(LARGEST);
    assert_eq!(unnoticed_flips(LARGEST, &blob, &some_bits(&blob, 32, 16, 300)), 0);
}

#[test]
fn many_flipped_bits_of_a_large_model_are_found() {
    let blob = load(LARGE);
    assert_eq!(unnoticed_flips(LARGE, &blob, &some_bits(&blob, 4096, 64, 100_000)), 0);
}

#[test]
fn every_flipped_bit_behind_a_repaired_checksum_is_refused_or_harmless() {
    // A regression, three classes, two targets; and two in integers.
    for name in ["v2-steps", "v2-iris", "v2-energy2", "v2-iris-integers", "v2-energy2-integers"] {
        let blob = load(name);
        let bits: Vec<usize> = (0..8 * (blob.len() - 4)).collect();
        repaired_flips(name, &blob, &bits);
    }
}

#[test]
fn many_flipped_bits_of_a_large_model_behind_a_repaired_checksum_are_refused_or_harmless() {
    let blob = load(LARGE);
    let header = 16 + u32::from_le_bytes(blob[12..16].try_into().expect("four bytes")) as usize;
    repaired_flips(LARGE, &blob, &some_bits(&blob, header, 0, 500));
}
