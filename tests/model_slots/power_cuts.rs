//! Power lost in every step of an update, and again in every step of the next one.

use diffgp_slots::Layout;

use super::flash::{Damage, Flash};
use super::{active, layout, models, replace};

#[derive(Debug, Default)]
struct Counts {
    /// Power cuts, one after which the flash was examined.
    cuts: usize,
    /// Pairs: a cut in an update, and a second one in the next update.
    pairs: usize,
    /// Updates that had reached their model when power was lost.
    renewed: usize,
}

/// Opens more than once: what reads differently every time must be a model every time.
fn whole_model<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
    allowed: &[&Vec<u8>],
    what: &str,
) -> Vec<u8> {
    let mut found = Vec::new();
    for _ in 0..3 {
        found = active(flash, layout).unwrap_or_else(|| panic!("no model is left: {what}"));
        assert!(allowed.contains(&&found), "neither the old nor the new model: {what}");
    }
    found
}

/// Cuts power in every step of the update from `old` to `new`, then in every `stride`-th step of the next update.
fn cut_everywhere<const R: usize, const W: usize, const E: usize>(
    start: &Flash<R, W, E>,
    layout: Layout,
    [old, new, next, last]: [&Vec<u8>; 4],
    stride: usize,
    counts: &mut Counts,
) {
    for damage in Damage::ALL {
        for step in 0.. {
            let mut flash = start.clone();
            flash.lose_power(step, damage);
            let outcome = replace(&mut flash, layout, new);
            if !flash.power_on() {
                outcome.unwrap();
                break;
            }
            let what = format!("R {R} W {W} E {E}: {damage:?} in step {step}");
            let found = whole_model(&mut flash, layout, &[old, new], &what);
            counts.cuts += 1;
            counts.renewed += usize::from(found == *new);
            for again in (step % stride..).step_by(stride) {
                let mut flash = flash.clone();
                let second = Damage::ALL[flash.random(Damage::ALL.len())];
                flash.lose_power(again, second);
                let outcome = replace(&mut flash, layout, next);
                if !flash.power_on() {
                    outcome.unwrap();
                    break;
                }
                let what = format!("{what}, {second:?} in step {again}");
                whole_model(&mut flash, layout, &[old, new, next], &what);
                counts.pairs += 1;
                replace(&mut flash, layout, last).unwrap();
                assert_eq!(active(&mut flash, layout).as_ref(), Some(last), "{what}");
            }
        }
    }
}

fn survives<const R: usize, const W: usize, const E: usize>(stride: usize) {
    let models = models();
    let longest = models.iter().map(Vec::len).max().unwrap();
    let (layout, mut flash) = layout::<R, W, E>(longest);
    let mut counts = Counts::default();
    replace(&mut flash, layout, &models[0]).unwrap();
    // Old and new, then old and new with the slot of the new one full of what was there before.
    for first in 0..2 {
        let order = [0, 1, 2, 3].map(|i| &models[(first + i) % 4]);
        cut_everywhere(&flash, layout, order, stride, &mut counts);
        replace(&mut flash, layout, order[1]).unwrap();
    }
    assert!(counts.renewed > 0 && counts.renewed < counts.cuts);
    let Counts { cuts, pairs, renewed } = counts;
    println!(
        "read {R} write {W} erase {E}: {cuts} power cuts ({renewed} with the new model), \
         {pairs} second cuts, models lost: 0"
    );
}

#[test]
fn a_model_survives_words_of_1_byte() {
    survives::<1, 1, 128>(31);
}

#[test]
fn a_model_survives_words_of_4_bytes() {
    survives::<1, 4, 256>(3);
    survives::<4, 4, 4096>(3);
}

#[test]
fn a_model_survives_words_of_8_bytes() {
    survives::<8, 8, 64>(1);
    survives::<1, 8, 2048>(1);
}

#[test]
fn a_model_survives_words_of_16_bytes() {
    survives::<1, 16, 512>(1);
}

#[test]
fn a_model_survives_words_of_32_bytes() {
    survives::<32, 32, 128>(1);
    survives::<4, 32, 1024>(1);
}

/// Before the first commit there is no model to lose, but there must be no nonsense either.
#[test]
fn a_first_model_is_there_or_not_there() {
    let models = models();
    for damage in Damage::ALL {
        for step in 0.. {
            let (layout, mut flash) = layout::<1, 8, 256>(600);
            flash.lose_power(step, damage);
            let outcome = replace(&mut flash, layout, &models[0]);
            if !flash.power_on() {
                outcome.unwrap();
                break;
            }
            let found = active(&mut flash, layout);
            assert!(found.is_none() || found.as_ref() == Some(&models[0]), "{damage:?} in step {step}");
            replace(&mut flash, layout, &models[1]).unwrap();
            assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[1]), "{damage:?} in step {step}");
        }
    }
}
