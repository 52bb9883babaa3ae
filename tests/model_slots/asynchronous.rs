//! The slots over asynchronous flash: word for word what the blocking ones do, and no model lost where a future is dropped.

use diffgp_slots::asynchronous::Slots;
use diffgp_slots::{Copied, Layout};

use super::executor::{Slow, run, run_for};
use super::flash::{Damage, Flash};
use super::{Failed, active, layout, models, replace};

type Small = Flash<1, 8, 256>;
type Open<'f, const R: usize, const W: usize, const E: usize> = Slots<Slow<'f, R, W, E>, Copied<'f>>;

async fn open<'f, const R: usize, const W: usize, const E: usize>(
    flash: &'f mut Flash<R, W, E>,
    layout: Layout,
    memory: &'f mut [u32],
) -> Open<'f, R, W, E> {
    Slots::open(Slow(flash), layout, Copied(memory), ()).await.unwrap()
}

/// Nothing may be changed in the slot of the model in use.
fn protect<const R: usize, const W: usize, const E: usize>(slots: &mut Open<'_, R, W, E>, layout: Layout) {
    let slot = slots.active().map(|location| (location.offset - layout.start) / layout.slot_bytes);
    slots.flash().0.protected = slot.map(|slot| {
        let from = layout.start + slot * layout.slot_bytes;
        from as usize..(from + layout.slot_bytes) as usize
    });
}

async fn commit<const R: usize, const W: usize, const E: usize>(
    slots: &mut Open<'_, R, W, E>,
    model: &[u8],
) -> Result<(), Failed> {
    let mut update = slots.update(model.len() as u32).await?;
    for piece in model.chunks(13) {
        update.write(piece).await?;
    }
    update.commit().await?;
    assert_eq!(slots.model(), Some(model));
    Ok(())
}

fn replace_slowly<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
    model: &[u8],
) -> Result<(), Failed> {
    let mut memory = [0_u32; 256];
    run(async {
        let mut slots = open(flash, layout, &mut memory).await;
        protect(&mut slots, layout);
        commit(&mut slots, model).await?;
        slots.confirm().await.map_err(Failed::ToConfirm)
    })
}

/// Power lost in every step of an update, with every damage: the same words are written, the same is said, and the same is
/// found afterwards. So what `power_cuts` shows of the one holds for the other.
fn same<const R: usize, const W: usize, const E: usize>() -> usize {
    let models = models();
    let (layout, mut start) = layout::<R, W, E>(600);
    replace(&mut start, layout, &models[0]).unwrap();
    start.power_on();
    let mut cuts = 0;
    for damage in Damage::ALL {
        for step in 0.. {
            let [mut blocking, mut slow] = [start.clone(), start.clone()];
            for flash in [&mut blocking, &mut slow] {
                flash.lose_power(step, damage);
            }
            let (said, also) =
                (replace(&mut blocking, layout, &models[1]), replace_slowly(&mut slow, layout, &models[1]));
            let what = format!("R {R} W {W} E {E}: {damage:?} in step {step}");
            assert_eq!(said, also, "{what}");
            assert_eq!(blocking.bytes, slow.bytes, "{what}");
            let lost = blocking.power_on();
            assert_eq!(lost, slow.power_on(), "{what}");
            let found = active(&mut blocking, layout);
            let mut memory = [0_u32; 256];
            let slots = run(open(&mut slow, layout, &mut memory));
            assert_eq!(slots.model(), found.as_deref(), "{what}");
            assert!(found.is_some(), "{what}");
            if !lost {
                break;
            }
            cuts += 1;
        }
    }
    cuts
}

#[test]
fn it_does_what_the_blocking_slots_do() {
    let cuts = same::<1, 8, 256>() + same::<4, 4, 512>() + same::<32, 32, 128>() + same::<1, 16, 1024>();
    println!("{cuts} power cuts, the same words written and the same model found");
    assert!(cuts > 1000, "{cuts}");
}

/// A future dropped at every turn of an update and its confirmation, over every state that the slots can be in; the slots go
/// on living.
#[test]
fn a_future_that_is_dropped_costs_no_model() {
    let models = models();
    let mut dropped = 0;
    for known in 0..3 {
        let (layout, mut start) = layout::<1, 8, 256>(600);
        for model in &models[..known] {
            replace(&mut start, layout, model).unwrap();
        }
        start.power_on();
        let old = models[..known].last();
        for again in [false, true] {
            for turns in 0.. {
                let mut flash = start.clone();
                let what = format!("{known} models, dropped after {turns} turns, reopened: {again}");
                if drop_after(turns, &mut flash, layout, (old, &models[2], &models[3]), again, &what) {
                    break;
                }
                assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[3]), "{what}");
                dropped += 1;
            }
        }
    }
    println!("{dropped} futures dropped, models lost: 0");
    assert!(dropped > 200, "{dropped}");
}

/// Whether the update came to its end before that.
fn drop_after(
    turns: usize,
    flash: &mut Small,
    layout: Layout,
    (old, new, next): (Option<&Vec<u8>>, &Vec<u8>, &Vec<u8>),
    reopen: bool,
    what: &str,
) -> bool {
    let mut memory = [0_u32; 256];
    let mut slots = run(open(flash, layout, &mut memory));
    protect(&mut slots, layout);
    let done = run_for(turns, async {
        commit(&mut slots, new).await.unwrap();
        slots.confirm().await.unwrap();
    });
    // Never a part of a model, never one that nobody has checked.
    let shown = slots.model().map(<[u8]>::to_vec);
    assert!(shown.is_none() || shown.as_ref() == old || shown.as_ref() == Some(new), "{what}");
    let boot = active(&mut slots.flash().0.clone(), layout);
    assert!(boot.as_ref() == Some(new) || boot.as_ref() == old, "{what}: a boot");
    if reopen {
        run(slots.reopen());
        let found = slots.model().map(<[u8]>::to_vec);
        assert_eq!(found, boot, "{what}");
        // Now it may be the new one that counts.
        protect(&mut slots, layout);
    } else if shown.as_ref() == Some(new) || shown.is_none() {
        slots.flash().0.protected = None;
    }
    run(commit(&mut slots, next)).unwrap();
    run(slots.confirm()).unwrap();
    done.is_some()
}

/// The flash itself ends the test if a word is written twice.
#[test]
fn after_a_write_that_was_dropped_no_word_is_written_twice() {
    let models = models();
    let (layout, mut start) = layout::<1, 8, 256>(2000);
    replace(&mut start, layout, &models[0]).unwrap();
    start.power_on();
    // Longer than what an update collects before it writes: no model, but what is tested comes before the commit.
    let bytes = vec![0x5a; 1800];
    let mut dropped = 0;
    for turns in 1.. {
        let mut flash: Small = start.clone();
        let mut memory = [0_u32; 512];
        let mut slots = run(open(&mut flash, layout, &mut memory));
        let mut update = run(slots.update(bytes.len() as u32)).unwrap();
        let done = run_for(turns, update.write(&bytes)).is_some();
        let rest = bytes.len() - update.received() as usize;
        run(update.write(&bytes[..rest])).unwrap();
        assert!(run(update.commit()).is_err());
        assert_eq!(slots.model(), Some(&models[0][..]));
        if done {
            break;
        }
        dropped += 1;
    }
    assert!(dropped > 100, "{dropped}");
}
