//! Sends forged, replayed, truncated and older models to a device that takes signed ones, and counts what becomes of them:
//! `cargo xtask forge`. The first argument says how many.

mod attacks;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use diffgp_core::blob::checksum;
use diffgp_slots::{Copied, Error, Layout, Signed, Slots, Unusable};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use attacks::{Attacker, KINDS, keys};

const MODEL: &[u8] = include_bytes!("../../models/steps.dgp");
const LAYOUT: Layout = Layout { start: 0, slot_bytes: 2048 };

/// Memory as a flash.
struct Ram([u8; 4096]);

impl ErrorType for Ram {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Ram {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.0[offset as usize..offset as usize + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Ram {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0[from as usize..to as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let words = self.0[offset as usize..].iter_mut().zip(bytes);
        words.for_each(|(old, new)| *old &= new);
        Ok(())
    }
}

/// The stored model with another number in it.
fn variant(bit: u8) -> Vec<u8> {
    let mut bytes = MODEL[..MODEL.len() - 4].to_vec();
    let number = bytes.chunks_exact(4).rposition(|word| word != [0; 4]).expect("a model with numbers");
    bytes[4 * number] ^= bit;
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// Refusals and acceptances of every kind of attack.
type Counts = [BTreeMap<&'static str, u64>; KINDS.len()];

fn main() -> ExitCode {
    let tries: u64 = std::env::args().nth(1).map_or(Ok(10_000), |tries| tries.parse()).expect("a number of tries");
    let workers = std::thread::available_parallelism().map_or(1, |workers| workers.get()) as u64;
    let start = Instant::now();
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let share = |worker| (worker..tries).step_by(workers as usize);
        let all: Vec<_> = (0..workers).map(|worker| scope.spawn(move || attack(share(worker)))).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let (mut refused, mut accepted) = (0, 0);
    for (kind, name) in KINDS.iter().enumerate() {
        let mut of_kind = BTreeMap::<&str, u64>::new();
        for (reason, count) in counts.iter().flat_map(|counts| &counts[kind]) {
            *of_kind.entry(reason).or_default() += count;
        }
        let taken = of_kind.remove(TAKEN).unwrap_or(0);
        let all: u64 = of_kind.values().sum();
        (refused, accepted) = (refused + all, accepted + taken);
        let reasons: Vec<_> = of_kind.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        println!("{name:<28}{taken:>3} accepted{all:>9} refused: {}", reasons.join(", "));
    }
    println!("{accepted} accepted, {refused} refused in {seconds:.1} s, {:.0} per second", tries as f64 / seconds);
    if accepted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const TAKEN: &str = "taken";

fn attack(attempts: impl Iterator<Item = u64>) -> Counts {
    let (next, other) = (variant(1), variant(2));
    let attacker = Attacker::new([MODEL, &next, &other]);
    let public = [*keys()[0].pk];
    let mut memory = [0; 512];
    let accept = Signed::by(&public);
    let mut slots = Slots::open(Ram([0xff; 4096]), LAYOUT, Copied(&mut memory), accept).expect("a layout that fits");
    send(&mut slots, attacker.in_use()).expect("the first model");
    slots.confirm().expect("a flash that works");
    let mut counts = Counts::default();
    for attempt in attempts {
        let (kind, bytes) = attacker.attack(attempt);
        let reason = send(&mut slots, &bytes).map_or_else(|error| reason(&error), |()| TAKEN);
        *counts[kind].entry(reason).or_default() += 1;
        assert!(reason == TAKEN || slots.model() == Some(MODEL), "attempt {attempt} cost the model in use");
    }
    // And the real one is taken.
    send(&mut slots, &attacker.genuine).expect("the genuine model");
    counts
}

fn send(slots: &mut Slots<Ram, Copied<'_>, Signed<'_>>, bytes: &[u8]) -> Result<(), Error<NorFlashErrorKind>> {
    let mut update = slots.update(bytes.len() as u32)?;
    update.write(bytes)?;
    update.commit().map(drop)
}

fn reason(error: &Error<NorFlashErrorKind>) -> &'static str {
    match error {
        Error::NotAModel(Unusable::Forged) => "by its signature",
        Error::NotAModel(Unusable::Older { .. }) => "by its counter",
        Error::NotAModel(Unusable::OtherKey) => "by its key",
        Error::NotAModel(Unusable::Unsigned | Unusable::Length { .. }) => "without a block",
        Error::NotAModel(_) => "no model",
        _ => "otherwise",
    }
}
