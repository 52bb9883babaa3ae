//! Damaged headers and wrapping numbers, from the layout as it is documented.

use diffgp_core::blob::checksum;
use diffgp_slots::Layout;

use super::flash::Flash;
use super::{active, layout, models, replace};

type Small = Flash<1, 8, 256>;

/// S1 to S5 and their padding with words of eight bytes: header 24, mark 8.
const MODEL: usize = 32;

/// Both slots in use: the first model in the first slot, the second, active, in the second.
fn two_models(models: &[Vec<u8>]) -> (Layout, Small) {
    let (layout, mut flash) = layout(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    replace(&mut flash, layout, &models[1]).unwrap();
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[1]));
    (layout, flash)
}

#[test]
fn any_flipped_bit_of_a_header_or_a_model_leaves_a_model() {
    let models = models();
    let (layout, flash) = two_models(&models);
    let (mut flips, mut older) = (0, 0);
    for (slot, model) in models[..2].iter().enumerate() {
        let from = layout.start as usize + slot * layout.slot_bytes as usize;
        for bit in 0..8 * (MODEL + model.len()) {
            let mut flash = flash.clone();
            flash.bytes[from + bit / 8] ^= 1 << (bit % 8);
            let found = active(&mut flash, layout).expect("a model is left");
            assert!(found == models[0] || found == models[1], "bit {bit} of slot {slot}");
            older += usize::from(found == models[0]);
            flips += 1;
            if bit < 8 * MODEL {
                replace(&mut flash, layout, &models[2]).unwrap();
                assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[2]), "bit {bit} of slot {slot}");
            }
        }
    }
    // S1 to S4, their checksum and the model of the active slot: a bit of each is noticed, and nothing else matters.
    assert_eq!(older, 8 * (20 + models[1].len()));
    println!("{flips} flipped bits, models lost: 0");
}

#[test]
fn the_layout_is_the_documented_one() {
    let models = models();
    let (layout, flash) = two_models(&models);
    for (slot, model) in models[..2].iter().enumerate() {
        let from = layout.start as usize + slot * layout.slot_bytes as usize;
        let header = &flash.bytes[from..from + MODEL];
        let sequence = (slot as u32).to_le_bytes();
        let length = (model.len() as u32).to_le_bytes();
        let fields = [b"DGPs", &sequence[..], &length[..], &model[model.len() - 4..]].concat();
        assert_eq!(header[..16], fields);
        assert_eq!(header[16..20], checksum(&fields).to_le_bytes());
        assert_eq!(header[20..], [[0xff; 4], [0; 4], [0xff; 4]].concat());
        assert_eq!(flash.bytes[from + MODEL..][..model.len()], model[..]);
    }
}

/// Gives a slot another sequence number and mark.
fn rewrite(flash: &mut Small, layout: Layout, slot: u32, sequence: u32, confirmed: bool) {
    let from = (layout.start + slot * layout.slot_bytes) as usize;
    flash.bytes[from + 4..from + 8].copy_from_slice(&sequence.to_le_bytes());
    let own = checksum(&flash.bytes[from..from + 16]);
    flash.bytes[from + 16..from + 20].copy_from_slice(&own.to_le_bytes());
    flash.bytes[from + 24..from + 28].fill(if confirmed { 0 } else { 0xff });
}

#[test]
fn numbers_wrap() {
    let models = models();
    for start in [u32::MAX - 2, u32::MAX - 1, u32::MAX, (1 << 31) - 2, 1 << 31] {
        let (layout, mut flash) = two_models(&models);
        rewrite(&mut flash, layout, 0, start, true);
        rewrite(&mut flash, layout, 1, start.wrapping_add(1), true);
        for (round, model) in models.iter().cycle().skip(2).take(6).enumerate() {
            replace(&mut flash, layout, model).unwrap();
            assert_eq!(active(&mut flash, layout).as_ref(), Some(model), "from {start}, round {round}");
        }
    }
}

#[test]
fn a_header_that_may_not_have_been_completed_counts_only_when_nothing_else_does() {
    let models = models();
    let (layout, flash) = two_models(&models);
    let found = |confirmed: [bool; 2]| {
        let mut flash = flash.clone();
        for (slot, confirmed) in (0..).zip(confirmed) {
            rewrite(&mut flash, layout, slot, slot, confirmed);
        }
        active(&mut flash, layout).unwrap()
    };
    assert_eq!(found([true, true]), models[1]);
    assert_eq!(found([true, false]), models[0]);
    assert_eq!(found([false, true]), models[1]);
    assert_eq!(found([false, false]), models[0]);
    let mut alone = flash.clone();
    rewrite(&mut alone, layout, 1, 1, false);
    alone.bytes[layout.start as usize] ^= 1;
    assert_eq!(active(&mut alone, layout).as_ref(), Some(&models[1]));
}
