//! Power lost in every word that an update writes and in its erase, on the board itself: memory that survives a reset
//! plays the flash, and a driver resets the board in the middle of a step.
//!
//! Beside the image lie two models, one behind the other. It prints what it found and ends; no model may be lost.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

use diffgp_firmware::flash::{Flash, LAYOUT, model_at};
use diffgp_firmware::{console, entry, region, reset};
use diffgp_infer::Blob;
use diffgp_slots::{Error, Mapped, Slots};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

diffgp_firmware::forbid_panic!();

/// What a step leaves: nothing, everything, half of its bits, zeros, or the first half of its bytes.
const DAMAGES: u32 = 5;
const BEGUN: u32 = 0x0d16_6b00;

/// What must be known after a reset.
#[derive(Clone, Copy)]
struct Plan {
    begun: u32,
    phase: u32,
    damage: u32,
    /// The step that power is lost in.
    step: u32,
    cuts: u32,
    /// Cuts after which the new model was there.
    renewed: u32,
    lost: u32,
}

const PREPARE: u32 = 0;
const CUT: u32 = 1;
const TRIAL: u32 = 2;

struct Kept(UnsafeCell<Plan>);

// SAFETY: one core, no interrupts.
unsafe impl Sync for Kept {}

#[unsafe(link_section = ".uninit.plan")]
static KEPT: Kept =
    Kept(UnsafeCell::new(Plan { begun: 0, phase: 0, damage: 0, step: 0, cuts: 0, renewed: 0, lost: 0 }));

fn plan() -> Plan {
    // SAFETY: plain numbers, of which any bits are valid, and one core.
    unsafe { KEPT.0.get().read_volatile() }
}

fn keep(plan: Plan) {
    // SAFETY: as above.
    unsafe { KEPT.0.get().write_volatile(plan) };
}

/// The flash, with a step in which power is lost.
struct Cut {
    flash: Flash,
    /// Steps until then; never, if there is none.
    left: Option<u32>,
    damage: u32,
}

impl Cut {
    /// Whether power is lost now; if so, this says what is left of the bytes meant.
    fn now(&mut self) -> bool {
        match &mut self.left {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}

impl ErrorType for Cut {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Cut {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        self.flash.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl NorFlash for Cut {
    const WRITE_SIZE: usize = Flash::WRITE_SIZE;
    const ERASE_SIZE: usize = Flash::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        if !self.now() {
            return self.flash.erase(from, to);
        }
        let half = from + (to - from) / 2;
        match self.damage {
            0 => {}
            1 => self.flash.erase(from, to)?,
            // Bits fall before they rise, everywhere or in a part.
            2 => self.fill(from, half, 0x55)?,
            3 => self.fill(from, to, 0)?,
            _ => self.fill(from, from + 64, 0)?,
        }
        reset::now()
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks::<4>().0) {
            if !self.now() {
                self.flash.write(at, word)?;
                continue;
            }
            let word = u32::from_le_bytes(*word);
            let left = match self.damage {
                0 => u32::MAX,
                1 => word,
                2 => word | 0x5a5a_a5a5,
                3 => 0,
                _ => word | 0xffff_0000,
            };
            self.flash.write(at, &left.to_le_bytes())?;
            reset::now()
        }
        Ok(())
    }
}

impl Cut {
    fn fill(&mut self, from: u32, to: u32, byte: u8) -> Result<(), NorFlashErrorKind> {
        (from..to).step_by(4).try_for_each(|at| self.flash.write(at, &[byte; 4]))
    }
}

#[entry]
fn main() -> ! {
    let Some([old, new]) = models() else { console::exit(3) };
    let mut plan = plan();
    if plan.begun != BEGUN {
        plan = Plan { begun: BEGUN, phase: PREPARE, damage: 0, step: 0, cuts: 0, renewed: 0, lost: 0 };
    }
    match plan.phase {
        PREPARE => {}
        CUT => {
            plan.cuts += 1;
            match found(old, new) {
                Found::Old => {}
                Found::New => plan.renewed += 1,
                Found::Other => plan.lost += 1,
            }
            plan.step += 1;
        }
        _ => {
            console::line("taken-back", &[matches!(found(old, new), Found::Old).into()]);
            console::line("cuts", &[plan.cuts, plan.renewed, plan.lost]);
            console::exit(if plan.lost == 0 { 0 } else { 4 });
        }
    }
    loop {
        // Where the next cut begins: the old model, whatever the last one left.
        keep(Plan { phase: PREPARE, ..plan });
        if !replace(old, None, 0, true) {
            console::exit(5);
        }
        if plan.damage == DAMAGES {
            // A model that nobody confirms, and a boot.
            keep(Plan { phase: TRIAL, ..plan });
            if !replace(new, None, 0, false) {
                console::exit(6);
            }
            reset::now()
        }
        keep(Plan { phase: CUT, ..plan });
        // The update came to its end before that step: on with the next kind of damage.
        if !replace(new, Some(plan.step), plan.damage, true) {
            console::exit(7);
        }
        plan.damage += 1;
        plan.step = 0;
    }
}

/// The two models beside the image.
fn models() -> Option<[&'static [u8]; 2]> {
    let flash = region::model();
    let (old, rest) = flash.split_at_checked(Blob::length_from_prelude(flash).ok()?)?;
    Some([old, rest.get(..Blob::length_from_prelude(rest).ok()?)?])
}

enum Found {
    Old,
    New,
    Other,
}

/// What a boot finds.
#[inline(never)]
fn found(old: &[u8], new: &[u8]) -> Found {
    let Ok(slots) = Slots::open(Flash::take(), LAYOUT, Mapped(model_at), ()) else { return Found::Other };
    match slots.model() {
        Some(model) if model == old => Found::Old,
        Some(model) if model == new => Found::New,
        _ => Found::Other,
    }
}

/// An update; whether it came to its end.
#[inline(never)]
fn replace(model: &[u8], left: Option<u32>, damage: u32, confirm: bool) -> bool {
    let flash = Cut { flash: Flash::take(), left, damage };
    let Ok(mut slots) = Slots::open(flash, LAYOUT, Mapped(model_at), ()) else { return false };
    let committed = slots.update(model.len() as u32).and_then(|mut update| {
        model.chunks(100).try_for_each(|piece| update.write(piece))?;
        update.commit()
    });
    let committed: Result<_, Error<_>> = committed;
    committed.is_ok() && (!confirm || slots.confirm().is_ok())
}
