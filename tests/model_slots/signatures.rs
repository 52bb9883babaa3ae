//! Signed models: what is forged, replayed, cut or older is not taken.

use diffgp_slots::{BLOCK_BYTES, Copied, Error, Layout, Signed, Slots, Unusable, is_signed_by};
use ed25519_compact::{KeyPair, Seed};

use self::attacks::{Attacker, KINDS, keys, sign};
use super::flash::{Flash, Lost};
use super::{layout, models};

#[path = "../../diffgp-slots/examples/forgeries/attacks.rs"]
mod attacks;

type Small = Flash<1, 8, 256>;

fn key(seed: u8) -> KeyPair {
    KeyPair::from_seed(Seed::new([seed; 32]))
}

/// An update with signed models; the counter of the model in use afterwards.
fn send(flash: &mut Small, layout: Layout, accept: Signed<'_>, bytes: &[u8]) -> Result<Option<u32>, Error<Lost>> {
    flash.power_on();
    let mut memory = [0_u32; 512];
    let mut slots = Slots::open(flash, layout, Copied(&mut memory), accept).unwrap();
    let mut update = slots.update(bytes.len() as u32)?;
    update.write(bytes)?;
    update.commit()?;
    slots.confirm().unwrap();
    Ok(slots.counter())
}

fn signed_layout(models: &[Vec<u8>]) -> (Layout, Small) {
    layout(models.iter().map(Vec::len).max().unwrap() + BLOCK_BYTES)
}

#[test]
fn the_block_is_the_documented_one() {
    let (model, key) = (&models()[0], key(1));
    let bytes = sign(model, 0x0403_0201, &key);
    let (signed, signature) = bytes.split_at(bytes.len() - 64);
    assert_eq!(signed, [model, &b"DGPg\x01\0\0\0\x01\x02\x03\x04"[..], &key.pk[..4]].concat());
    assert_eq!(bytes.len(), model.len() + BLOCK_BYTES);
    assert!(key.pk.verify(signed, &ed25519_compact::Signature::from_slice(signature).unwrap()).is_ok());
    assert!(is_signed_by(&key.pk, &bytes));
}

/// RFC 8032, section 7.1, TEST 3: the crate computes what everybody computes.
#[test]
fn keys_and_signatures_are_those_of_the_standard() {
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let seed = bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7");
    let public = bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
    let signature = bytes(
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
         18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    );
    let key = KeyPair::from_seed(Seed::from_slice(&seed).unwrap());
    assert_eq!(key.pk.as_slice(), public);
    assert_eq!(key.sk.sign([0xaf, 0x82], None).as_slice(), signature);
}

#[test]
fn only_newer_models_of_known_keys_are_taken() {
    let models = models();
    let (layout, mut flash) = signed_layout(&models);
    let (ours, next, theirs) = (key(1), key(2), key(3));
    let keys = [*ours.pk, *next.pk];
    let accept = Signed::by(&keys).from_counter(5);
    let refused = |reason| Err(Error::NotAModel(reason));

    assert_eq!(send(&mut flash, layout, accept, &models[0]), refused(Unusable::Unsigned));
    let older = sign(&models[0], 4, &ours);
    assert_eq!(send(&mut flash, layout, accept, &older), refused(Unusable::Older { counter: 4, least: 5 }));
    assert_eq!(send(&mut flash, layout, accept, &sign(&models[0], 5, &theirs)), refused(Unusable::OtherKey));
    let first = sign(&models[0], 5, &ours);
    assert_eq!(send(&mut flash, layout, accept, &first), Ok(Some(5)));
    // Once more, and one of the same number.
    for replayed in [&first, &sign(&models[1], 5, &ours)] {
        assert_eq!(send(&mut flash, layout, accept, replayed), refused(Unusable::Older { counter: 5, least: 6 }));
    }
    // The second key, a gap, and the last number there is.
    assert_eq!(send(&mut flash, layout, accept, &sign(&models[1], 6, &next)), Ok(Some(6)));
    assert_eq!(send(&mut flash, layout, accept, &sign(&models[2], 90, &ours)), Ok(Some(90)));
    assert_eq!(send(&mut flash, layout, accept, &sign(&models[1], u32::MAX, &ours)), Ok(Some(u32::MAX)));
    assert_eq!(send(&mut flash, layout, accept, &sign(&models[2], u32::MAX, &ours)), refused(Unusable::LastCounter));
}

#[test]
fn models_are_verified_at_boot_if_that_is_asked_for() {
    let models = models();
    let (layout, mut flash) = signed_layout(&models);
    let ours = key(1);
    let keys = [*ours.pk];
    send(&mut flash, layout, Signed::by(&keys), &sign(&models[0], 1, &ours)).unwrap();
    let others = [*key(2).pk];
    for (keys, strict, found) in [(&keys, true, true), (&others, true, false), (&others, false, true)] {
        let accept = if strict { Signed::by(keys).also_at_boot() } else { Signed::by(keys) };
        let mut memory = [0_u32; 512];
        let slots = Slots::open(&mut flash, layout, Copied(&mut memory), accept).unwrap();
        assert_eq!(slots.model().is_some(), found, "{strict}");
    }
}

/// Attacks on a device with a model of counter 7: `cargo xtask forge` makes a million.
#[test]
fn forged_replayed_cut_and_older_models_are_not_taken() {
    let models = models();
    let (layout, mut flash) = signed_layout(&models);
    let attacker = Attacker::new([&models[0], &models[1], &models[2]]);
    let keys = [*keys()[0].pk];
    let accept = Signed::by(&keys);
    send(&mut flash, layout, accept, attacker.in_use()).unwrap();
    flash.power_on();
    let mut memory = [0_u32; 512];
    let mut slots = Slots::open(&mut flash, layout, Copied(&mut memory), accept).unwrap();
    let mut refused = [0; KINDS.len()];
    for attempt in 0..1_800 {
        let (kind, bytes) = attacker.attack(attempt);
        let taken = slots.update(bytes.len() as u32).and_then(|mut update| {
            update.write(&bytes)?;
            update.commit()
        });
        assert!(taken.is_err(), "{} was taken, attempt {attempt}", KINDS[kind]);
        assert_eq!(slots.model(), Some(&models[0][..]));
        refused[kind] += 1;
    }
    assert_eq!(refused, [200; KINDS.len()]);
    // And the real one is.
    assert_eq!(send(&mut flash, layout, accept, &attacker.genuine), Ok(Some(8)));
}
