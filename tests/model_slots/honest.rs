//! What an update says of itself, with a flash whose driver lies: it does what it is told, or a part of it, or nothing,
//! and says that it did, or that it failed.

use diffgp_slots::{Copied, Error, Layout, Slots, Unconfirmed};
use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

use super::flash::{Flash, Lost};
use super::{active, layout, models, replace};

type Small = Flash<1, 8, 256>;

/// A driver that lies in one of its calls.
struct Liar<'f> {
    flash: &'f mut Small,
    /// Calls until the lie.
    calls: usize,
    lie: Lie,
}

#[derive(Clone, Copy, Debug)]
enum Lie {
    /// Done, and reported as failed.
    Done,
    /// Not done, and reported as failed.
    Undone,
    /// Not done, and reported as done.
    Hushed,
}

impl ErrorType for Liar<'_> {
    type Error = Lost;
}

impl ReadNorFlash for Liar<'_> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Lost> {
        self.flash.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl Liar<'_> {
    fn call(&mut self, work: impl FnOnce(&mut Small) -> Result<(), Lost>) -> Result<(), Lost> {
        let lies = self.calls == 0;
        self.calls = self.calls.wrapping_sub(1);
        match (lies, self.lie) {
            (false, _) => work(self.flash),
            (true, Lie::Done) => work(self.flash).and(Err(Lost)),
            (true, Lie::Undone) => Err(Lost),
            (true, Lie::Hushed) => Ok(()),
        }
    }
}

impl NorFlash for Liar<'_> {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 256;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Lost> {
        self.call(|flash| flash.erase(from, to))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Lost> {
        self.call(|flash| flash.write(offset, bytes))
    }
}

#[derive(Debug, Default)]
struct Counts {
    committed: usize,
    refused: usize,
    unknown: usize,
}

/// One lie in every call of an update, over every state that the slots can be in.
#[test]
fn an_error_means_that_the_next_boot_finds_the_old_model_or_says_that_it_is_unknown() {
    let models = models();
    let mut counts = Counts::default();
    for known in 0..4 {
        let (layout, mut start) = layout::<1, 8, 256>(600);
        let before = prepare(&mut start, layout, &models, known);
        for lie in [Lie::Done, Lie::Undone, Lie::Hushed] {
            for call in 0..8 {
                let mut flash = start.clone();
                let what = format!("state {known}, {lie:?} in call {call}");
                one_lie(&mut flash, layout, &models[2], before, (call, lie), &what, &mut counts);
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.committed > 10 && counts.refused > 10 && counts.unknown > 5, "{counts:?}");
}

/// Nothing; a model that was confirmed; two; one that was not.
fn prepare<'m>(flash: &mut Small, layout: Layout, models: &'m [Vec<u8>], known: usize) -> Option<&'m Vec<u8>> {
    match known {
        0 => return None,
        1 => replace(flash, layout, &models[0]).unwrap(),
        2 => {
            replace(flash, layout, &models[1]).unwrap();
            replace(flash, layout, &models[0]).unwrap();
        }
        _ => super::try_out(flash, layout, &models[0], |_| Ok(())).unwrap(),
    }
    flash.power_on();
    Some(&models[0])
}

fn one_lie(
    flash: &mut Small,
    layout: Layout,
    new: &Vec<u8>,
    before: Option<&Vec<u8>>,
    (calls, lie): (usize, Lie),
    what: &str,
    counts: &mut Counts,
) {
    let mut memory = [0_u32; 256];
    let liar = Liar { flash, calls, lie };
    let mut slots = Slots::open(liar, layout, Copied(&mut memory), ()).unwrap();
    let committed = slots.update(new.len() as u32).and_then(|mut update| {
        update.write(new)?;
        update.commit()
    });
    let confirmed = committed.map(|_| slots.confirm());
    let in_use = slots.model().map(<[u8]>::to_vec);
    let next = active(flash, layout);
    match confirmed {
        Ok(Ok(())) => {
            assert_eq!((in_use.as_ref(), next.as_ref()), (Some(new), Some(new)), "{what}");
            counts.committed += 1;
        }
        Ok(Err(error)) => {
            assert_eq!(error, Unconfirmed::Unknown, "{what}");
            assert_eq!(in_use.as_ref(), Some(new), "{what}");
            assert!(next.as_ref() == Some(new) || next.as_ref() == before, "{what}");
            counts.unknown += 1;
        }
        Err(Error::Unknown) => {
            assert_eq!((in_use.as_ref(), before), (None, None), "{what}");
            assert!(next.is_none() || next.as_ref() == Some(new), "{what}");
            counts.unknown += 1;
        }
        Err(error) => {
            assert_eq!((in_use.as_ref(), next.as_ref()), (before, before), "{what}: {error}");
            counts.refused += 1;
        }
    }
}
