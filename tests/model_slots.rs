//! Replacing a model in flash: whatever the moment at which power is lost, there is a whole model, old or new.
//!
//! The slots run over a flash that knows the rules of NOR flash and can lose power in the middle of any write or erase
//! (`flash`). The layout is read and written here from its description in `docs/model-update.md`, not from the code.

mod asynchronous;
mod device;
mod executor;
mod flash;
mod headers;
mod honest;
mod power_cuts;
mod signatures;
mod trial;
mod update;

use diffgp_slots::{Copied, Layout, Slots, Unconfirmed};
use diffgp_train::export::{Metadata, export};

use self::flash::{Flash, Lost};
use crate::random_models::{Shape, model, scaling};

/// Four small models, no two of the same length.
fn models() -> Vec<Vec<u8>> {
    let shape = |seed: u64, inducing| Shape {
        inputs: 1,
        flow_inducing: 0,
        steps: 0,
        predictor_inducing: inducing,
        seed,
        ..Shape::SMALL
    };
    let blob = |(seed, inducing)| {
        let shape = shape(seed, inducing);
        let scaling = scaling(&shape);
        let metadata = Metadata {
            scaling: &scaling,
            names: &[],
            classes: &[],
            model_id: &b"abcdefghijklmnop"[..4 * seed as usize],
            discretisation: None,
        };
        export(&model(&shape), &metadata, &[0.5]).unwrap().bytes
    };
    [(0, 1), (1, 2), (2, 1), (3, 3)].map(blob).to_vec()
}

/// Slots in the middle of a flash: one page is left free on either side.
fn layout<const R: usize, const W: usize, const E: usize>(longest: usize) -> (Layout, Flash<R, W, E>) {
    let slot_bytes = (longest + 4 * W.max(R) + 64).next_multiple_of(E);
    let flash = Flash::new(2 * slot_bytes + 2 * E);
    (Layout { start: E as u32, slot_bytes: slot_bytes as u32 }, flash)
}

/// The bytes of the model that the next boot finds, if there is one.
fn active<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
) -> Option<Vec<u8>> {
    let mut memory = [0_u32; 256];
    let slots = Slots::open(flash, layout, Copied(&mut memory), ()).unwrap();
    slots.model().map(<[u8]>::to_vec)
}

/// Replaces the active model and confirms the new one.
fn replace<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
    model: &[u8],
) -> Result<(), Failed> {
    try_out(flash, layout, model, |slots| slots.confirm().map_err(Failed::ToConfirm))
}

/// Commits a model, in pieces of an awkward length, and goes on as told. The slot of the active model is out of bounds.
fn try_out<const R: usize, const W: usize, const E: usize>(
    flash: &mut Flash<R, W, E>,
    layout: Layout,
    model: &[u8],
    then: impl FnOnce(&mut Slots<&mut Flash<R, W, E>, Copied<'_>>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut memory = [0_u32; 256];
    let mut slots = Slots::open(flash, layout, Copied(&mut memory), ()).unwrap();
    let active = slots.active();
    let slot = active.map(|location| (location.offset - layout.start) / layout.slot_bytes);
    slots.flash().protected = slot.map(|slot| {
        let from = layout.start + slot * layout.slot_bytes;
        from as usize..(from + layout.slot_bytes) as usize
    });
    let mut update = slots.update(model.len() as u32)?;
    for piece in model.chunks(13) {
        update.write(piece)?;
    }
    update.commit()?;
    assert_eq!(slots.model(), Some(model));
    then(&mut slots)
}

/// Where an update ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failed {
    ToCommit(diffgp_slots::Error<Lost>),
    ToConfirm(Unconfirmed),
}

impl From<diffgp_slots::Error<Lost>> for Failed {
    fn from(error: diffgp_slots::Error<Lost>) -> Self {
        Self::ToCommit(error)
    }
}
