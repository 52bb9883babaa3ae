//! Updates over a flash that loses power at random and leaves damage of every kind: there is always a whole model.

use diffgp_slots::{Copied, Layout, Slots};

use super::flash::{Damage, Flash};
use super::{Counts, Dice, Ground};

pub(super) fn attack(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    match dice.below(4) {
        0 => survives::<1, 4, 256>(ground, dice, counts),
        1 => survives::<8, 8, 64>(ground, dice, counts),
        2 => survives::<1, 16, 512>(ground, dice, counts),
        _ => survives::<4, 32, 1024>(ground, dice, counts),
    }
}

fn survives<const R: usize, const W: usize, const E: usize>(
    ground: &Ground,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Result<(), String> {
    let models = &ground.models;
    let longest = models.iter().map(Vec::len).max().unwrap_or(0);
    let slot_bytes = (longest + 4 * W.max(R) + 64).next_multiple_of(E);
    let mut flash = Flash::<R, W, E>::new(2 * slot_bytes + 2 * E);
    let layout = Layout { start: E as u32, slot_bytes: slot_bytes as u32 };
    let first = models[dice.below(models.len())].clone();
    replace(&mut flash, layout, &first).map_err(|()| "the first update failed".to_owned())?;
    // What a boot may find: one model, and more from a word that reads differently every time until a whole update, because
    // that word may be the mark of a model.
    let mut possible = vec![first];
    for _ in 0..20 {
        let next = models[dice.below(models.len())].clone();
        let steps = longest / W + 2 * slot_bytes / E;
        let (step, damage) = (dice.below(steps + 8), dice.of(&Damage::ALL));
        flash.lose_power(step, damage);
        let done = replace(&mut flash, layout, &next);
        let lost = flash.power_on();
        let found =
            active(&mut flash, layout).ok_or_else(|| format!("no model is left after {steps} steps at most"))?;
        let whole_update = !lost && done.is_ok() && found == next;
        if !whole_update && !(lost && (found == next || possible.contains(&found))) {
            return Err("neither the old nor the new model".to_owned());
        }
        let wavers = lost && (damage == Damage::Unstable || possible.len() > 1);
        if wavers {
            possible.push(next);
        } else {
            possible = vec![found];
        }
        *counts
            .entry(if lost { "updates cut by a loss of power" } else { "updates that were not cut" })
            .or_default() += 1;
    }
    Ok(())
}

fn active<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
) -> Option<Vec<u8>> {
    let mut memory = vec![0_u32; layout.slot_bytes as usize / 4];
    let slots = Slots::open(flash, layout, Copied(&mut memory), ()).ok()?;
    slots.model().map(<[u8]>::to_vec)
}

fn replace<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
    model: &[u8],
) -> Result<(), ()> {
    let mut memory = vec![0_u32; layout.slot_bytes as usize / 4];
    let mut slots = Slots::open(flash, layout, Copied(&mut memory), ()).map_err(drop)?;
    let mut update = slots.update(model.len() as u32).map_err(drop)?;
    model.chunks(61).try_for_each(|piece| update.write(piece)).map_err(drop)?;
    update.commit().map(drop).map_err(drop)?;
    slots.confirm().map_err(drop)
}
