//! A model on trial: confirmed it stays, else the next boot takes the old one back, whatever happens in between.

use diffgp_slots::{Copied, Error, Fits, Slots, Unconfirmed, Unusable};

use super::flash::{Damage, Flash};
use super::{active, layout, models, replace, try_out};

type Small = Flash<1, 8, 256>;

#[test]
fn what_is_not_confirmed_is_taken_back_at_the_next_boot() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    // Round after round: a model on trial leaves nothing that counts later.
    for round in 0..4 {
        let (old, new) = (&models[round % 4], &models[(round + 1) % 4]);
        for _ in 0..2 {
            try_out(&mut flash, layout, new, |slots| {
                assert!(slots.is_on_trial() && !slots.is_confirmed());
                Ok(())
            })
            .unwrap();
            flash.power_on();
            assert_eq!(active(&mut flash, layout).as_ref(), Some(old), "round {round}");
        }
        replace(&mut flash, layout, new).unwrap();
        flash.power_on();
        assert_eq!(active(&mut flash, layout).as_ref(), Some(new), "round {round}");
    }
}

#[test]
fn it_can_be_taken_back_without_a_boot_and_by_the_next_update() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    try_out(&mut flash, layout, &models[1], |slots| {
        slots.take_back();
        assert_eq!(slots.model(), Some(&models[0][..]));
        assert!(slots.is_confirmed() && !slots.is_on_trial());
        assert_eq!(slots.confirm(), Err(Unconfirmed::NothingOnTrial));
        Ok(())
    })
    .unwrap();
    try_out(&mut flash, layout, &models[1], |slots| {
        // The slot of the first model is out of bounds: the update erases that of the model on trial.
        let mut update = slots.update(models[2].len() as u32)?;
        assert_eq!(update.model(), Some(&models[0][..]));
        update.write(&models[2])?;
        update.commit()?;
        slots.confirm().map_err(super::Failed::ToConfirm)
    })
    .unwrap();
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[2]));
}

#[test]
fn a_first_model_is_not_confirmed_and_yet_used_if_there_is_no_other() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    try_out(&mut flash, layout, &models[0], |_| Ok(())).unwrap();
    let mut memory = [0_u32; 256];
    let mut slots = Slots::open(&mut flash, layout, Copied(&mut memory), ()).unwrap();
    assert_eq!(slots.model(), Some(&models[0][..]));
    assert!(!slots.is_confirmed());
    // Its header may have been cut short, and would be believed for good.
    assert_eq!(slots.confirm(), Err(Unconfirmed::NothingOnTrial));
    // The one after it is on trial as always.
    try_out(&mut flash, layout, &models[1], |_| Ok(())).unwrap();
    flash.power_on();
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]));
}

#[test]
fn a_paused_update_goes_on_and_does_not_outlive_another() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    let mut memory = [0_u32; 256];
    let mut slots = Slots::open(&mut flash, layout, Copied(&mut memory), ()).unwrap();
    let stale = slots.update(models[1].len() as u32).unwrap().pause();
    let mut paused = slots.update(models[1].len() as u32).unwrap().pause();
    assert!(slots.resume(stale).is_none());
    for piece in models[1].chunks(7) {
        assert_eq!(slots.model(), Some(&models[0][..]));
        let mut update = slots.resume(paused).unwrap();
        update.write(piece).unwrap();
        paused = update.pause();
    }
    assert_eq!(paused.received() as usize, models[1].len());
    slots.resume(paused).unwrap().commit().unwrap();
    slots.confirm().unwrap();
    let paused = slots.update(4).unwrap().pause();
    slots.update(8).unwrap().write(&[0; 8]).unwrap();
    assert!(slots.resume(paused).is_none());
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[1]));
}

#[test]
fn a_model_that_the_firmware_cannot_hold_is_not_committed() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    let mut memory = [0_u32; 256];
    // Three inducing points in the last model, one in the first.
    let fits = Fits::<1, 2> { operations: u64::MAX };
    let mut slots = Slots::open(&mut flash, layout, Copied(&mut memory), fits).unwrap();
    let mut update = slots.update(models[3].len() as u32).unwrap();
    update.write(&models[3]).unwrap();
    let needed = Unusable::Workspace { inputs: 1, features: 3, outputs: 1 };
    assert_eq!(update.commit(), Err(Error::NotAModel(needed)));
    assert_eq!(slots.model(), Some(&models[0][..]));
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]));

    let mut memory = [0_u32; 256];
    let late = Fits::<1, 3> { operations: 10 };
    let slots = Slots::open(&mut flash, layout, Copied(&mut memory), late).unwrap();
    assert_eq!(slots.model(), None);
    assert!(matches!(slots.refused(), Some(Unusable::Work { operations: 11.., most: 10 })));
}

/// Power lost in every step of commit and confirmation: before the mark is whole the old model may come back, after
/// `confirm` has returned never.
#[test]
fn a_boot_in_any_moment_finds_the_old_or_the_new_model() {
    let models = models();
    let (layout, mut start) = layout::<1, 8, 256>(600);
    replace(&mut start, layout, &models[0]).unwrap();
    for damage in Damage::ALL {
        let mut new = 0;
        for step in 0.. {
            let mut flash: Small = start.clone();
            flash.lose_power(step, damage);
            let outcome = replace(&mut flash, layout, &models[1]);
            if !flash.power_on() {
                outcome.unwrap();
                assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[1]));
                break;
            }
            let found = active(&mut flash, layout);
            match outcome.unwrap_err() {
                super::Failed::ToCommit(_) => assert_eq!(found.as_ref(), Some(&models[0]), "{damage:?}, step {step}"),
                super::Failed::ToConfirm(_) => assert!(found.is_some_and(|found| models[..2].contains(&found))),
            }
            new += 1;
        }
        assert!(new > 10);
    }
}
