//! What an update accepts and refuses.

use diffgp_core::blob::{Blob, ParseError};
use diffgp_slots::{Copied, Error, Layout, LayoutError, Location, Mapped, Slots, Unconfirmed, Unusable};
use diffgp_train::aligned::AlignedBytes;

use super::flash::Flash;
use super::{Failed, active, layout, models, replace};

type Small = Flash<1, 8, 256>;

fn open<'m>(flash: &'m mut Small, layout: Layout, memory: &'m mut [u32]) -> Slots<&'m mut Small, Copied<'m>> {
    Slots::open(flash, layout, Copied(memory), ()).unwrap()
}

#[test]
fn what_is_not_the_announced_model_is_refused_and_the_old_one_stays() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    let mut refuse = |length: usize, bytes: &[u8]| {
        let mut memory = [0_u32; 256];
        let mut slots = open(&mut flash, layout, &mut memory);
        let mut update = slots.update(length as u32).unwrap();
        let error = update.write(bytes).and_then(|()| update.commit()).unwrap_err();
        assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]), "{error}");
        error
    };
    let model = &models[1];
    let length = model.len() as u32;
    let (longer, shorter) = ([&model[..], &[0; 4]].concat(), &model[..model.len() - 8]);
    assert_eq!(refuse(model.len(), shorter), Error::Bytes { expected: length, written: length - 8 });
    assert_eq!(refuse(model.len(), &longer), Error::Bytes { expected: length, written: length + 4 });
    let said = Unusable::Length { said: length + 4, found: model.len() };
    assert_eq!(refuse(longer.len(), &longer), Error::NotAModel(said));
    let truncated = ParseError::Truncated { needed: model.len(), found: shorter.len() };
    assert_eq!(refuse(shorter.len(), shorter), Error::NotAModel(Unusable::Model(truncated)));
    let mut damaged = model.clone();
    damaged[model.len() / 2] ^= 1;
    assert_eq!(refuse(model.len(), &damaged), Error::NotAModel(Unusable::Model(ParseError::Checksum)));
    assert_eq!(refuse(100, &[0; 100]), Error::NotAModel(Unusable::Model(ParseError::NotAModel)));
    assert!(matches!(refuse(0, &[]), Error::NotAModel(Unusable::Model(ParseError::Truncated { .. }))));
}

#[test]
fn a_model_must_fit_the_slot_and_the_memory() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    let mut memory = [0_u32; 16];
    let mut slots = open(&mut flash, layout, &mut memory);
    let capacity = slots.capacity();
    assert_eq!(capacity, layout.slot_bytes - 32);
    let error = slots.update(capacity + 1).unwrap_err();
    assert_eq!(error, Error::TooLong { length: capacity + 1, capacity });
    let mut update = slots.update(models[0].len() as u32).unwrap();
    update.write(&models[0]).unwrap();
    let needed = models[0].len();
    assert_eq!(update.commit().unwrap_err(), Error::NotAModel(Unusable::Memory { needed, found: 64 }));
}

#[test]
fn a_model_that_this_firmware_cannot_use_is_kept_for_one_that_can() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    let long = models.iter().max_by_key(|model| model.len()).unwrap();
    let short = models.iter().min_by_key(|model| model.len()).unwrap();
    let mut too_small = vec![0_u32; short.len() / 4];
    for committed in 1..=2 {
        replace(&mut flash, layout, long).unwrap();
        flash.power_on();
        let mut slots = open(&mut flash, layout, &mut too_small);
        assert_eq!(slots.active(), None);
        let (needed, found) = (long.len(), short.len());
        assert_eq!(slots.refused(), Some(Unusable::Memory { needed, found }), "{committed} models");
        slots.update(short.len() as u32).unwrap().write(short).unwrap();
        assert_eq!(active(&mut flash, layout).as_ref(), Some(long), "{committed} models, an update was begun");
    }
    let mut slots = open(&mut flash, layout, &mut too_small);
    let mut update = slots.update(short.len() as u32).unwrap();
    update.write(short).unwrap();
    update.commit().unwrap();
    slots.confirm().unwrap();
    assert_eq!(slots.refused(), None);
    assert_eq!(active(&mut flash, layout).as_ref(), Some(short), "the newest counts, whoever wrote it");
}

#[test]
fn after_a_refused_update_the_memory_holds_the_model_in_use() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    let mut memory = [0_u32; 256];
    let mut slots = open(&mut flash, layout, &mut memory);
    let mut damaged = models[1].clone();
    damaged[models[1].len() / 2] ^= 1;
    let mut update = slots.update(damaged.len() as u32).unwrap();
    update.write(&damaged).unwrap();
    assert_eq!(update.commit(), Err(Error::NotAModel(Unusable::Model(ParseError::Checksum))));
    assert_eq!(slots.model(), Some(&models[0][..]));
}

#[test]
fn flash_that_does_not_keep_what_is_written_is_found_out() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    // Header and mark of the second slot, word by word.
    let second = (layout.start + layout.slot_bytes) as usize;
    for word in 0..4 {
        let mut flash = flash.clone();
        flash.worn = second + 8 * word..second + 8 * word + 8;
        let failed = match word {
            3 => Failed::ToConfirm(Unconfirmed::Unknown),
            _ => Failed::ToCommit(Error::NotKept),
        };
        assert_eq!(replace(&mut flash, layout, &models[1]), Err(failed), "word {word}");
        assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]), "word {word}");
    }
    flash.erased = 0;
    assert_eq!(replace(&mut flash, layout, &models[1]), Err(Failed::ToCommit(Error::NotErased)));
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]));
}

#[test]
fn an_abandoned_update_leaves_no_trace() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    let mut memory = [0_u32; 256];
    let mut slots = open(&mut flash, layout, &mut memory);
    let before = slots.active();
    slots.update(models[1].len() as u32).unwrap().write(&models[1]).unwrap();
    assert_eq!(slots.active(), before);
    assert_eq!(active(&mut flash, layout).as_ref(), Some(&models[0]));
}

#[test]
fn flash_that_can_be_read_like_memory_is_read_in_place() {
    let models = models();
    let (layout, mut flash) = layout::<1, 8, 256>(600);
    replace(&mut flash, layout, &models[0]).unwrap();
    replace(&mut flash, layout, &models[1]).unwrap();
    let memory: &'static AlignedBytes = Box::leak(Box::new(AlignedBytes::new(&flash.bytes)));
    let at = |location: Location| &memory.as_slice()[location.offset as usize..][..location.length as usize];
    let slots = Slots::open(&mut flash, layout, Mapped(at), ()).unwrap();
    assert_eq!(slots.active().unwrap().offset, layout.start + layout.slot_bytes + 32);
    assert_eq!(slots.model(), Some(&models[1][..]));
    assert_eq!(slots.model().unwrap().as_ptr(), at(slots.active().unwrap()).as_ptr());
}

#[test]
fn the_length_of_a_model_is_known_from_its_first_bytes() {
    for model in models() {
        let prelude = AlignedBytes::new(&model[..16]);
        assert_eq!(Blob::length_from_prelude(prelude.as_slice()), Ok(model.len()));
        let short = Blob::length_from_prelude(&prelude.as_slice()[..12]);
        assert_eq!(short, Err(ParseError::Truncated { needed: 16, found: 12 }));
    }
    let erased = AlignedBytes::new(&[0xff; 16]);
    assert_eq!(Blob::length_from_prelude(erased.as_slice()), Err(ParseError::NotAModel));
    let mut impossible = models()[0][..16].to_vec();
    impossible[8..12].copy_from_slice(&16_u32.to_le_bytes());
    let impossible = AlignedBytes::new(&impossible);
    assert_eq!(Blob::length_from_prelude(impossible.as_slice()), Err(ParseError::Lengths));
}

#[test]
fn impossible_layouts_are_refused() {
    let refuse = |start, slot_bytes| {
        let mut flash = Small::new(4096);
        Slots::open(&mut flash, Layout { start, slot_bytes }, Copied(&mut []), ()).unwrap_err()
    };
    assert_eq!(refuse(100, 1024), LayoutError::Start { start: 100, erase_size: 256 });
    assert_eq!(refuse(256, 1000), LayoutError::SlotBytes { slot_bytes: 1000, erase_size: 256 });
    assert_eq!(refuse(256, 2048), LayoutError::OutOfFlash { end: 4352, capacity: 4096 });
    assert_eq!(refuse(256, u32::MAX - 255), LayoutError::OutOfFlash { end: 256 + 2 * 0xffff_ff00, capacity: 4096 });
    assert_eq!(refuse(256, 0), LayoutError::TooSmall { slot_bytes: 0, header: 32 });
    let layout = Layout { start: 0, slot_bytes: 1024 };
    let odd = Slots::open(&mut Flash::<3, 4, 256>::new(4096), layout, Copied(&mut []), ()).unwrap_err();
    assert_eq!(odd, LayoutError::Flash { read: 3, write: 4, erase: 256 });
    let wide = Slots::open(&mut Flash::<1, 1024, 1024>::new(4096), layout, Copied(&mut []), ()).unwrap_err();
    assert_eq!(wide, LayoutError::Flash { read: 1, write: 1024, erase: 1024 });
}
