//! A NOR flash in memory, with its rules and its power cuts.
//!
//! Rules, each broken one a failed test: reads, writes and erases are aligned and in bounds, a word is written once
//! between two erases, writes only clear bits. One word written and one page erased are one step each; power can be lost
//! in any step, and leaves what [`Damage`] says.

use std::ops::Range;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

/// What a step leaves that power was lost in, between the bytes before and the bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// The bytes before.
    Nothing,
    /// The bytes meant; the step was not reported as done.
    Everything,
    /// Few, half or most of the bits that should change did.
    Bits,
    /// A number of bytes from the beginning are done.
    Front,
    /// A number of bytes at the end are done.
    Back,
    /// Zeros, with which an erase may begin.
    Zeros,
    /// Any bytes at all.
    Garbage,
    /// It reads differently every time: as before, as meant, or anything between.
    Unstable,
    /// Reading it is an error, as where every word carries a checksum of its own.
    Unreadable,
}

impl Damage {
    pub(super) const ALL: [Self; 9] = [
        Self::Nothing,
        Self::Everything,
        Self::Bits,
        Self::Front,
        Self::Back,
        Self::Zeros,
        Self::Garbage,
        Self::Unstable,
        Self::Unreadable,
    ];
}

/// Power was lost, or what was read cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost;

impl NorFlashError for Lost {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// Bytes that a cut step left neither here nor there.
#[derive(Clone, Debug)]
struct Torn {
    range: Range<usize>,
    /// The bytes before and the bytes meant, between which it wavers; `None` if reading is an error.
    wavers: Option<[Vec<u8>; 2]>,
}

#[derive(Clone, Debug)]
pub(super) struct Flash<const R: usize, const W: usize, const E: usize> {
    pub(super) bytes: Vec<u8>,
    /// For every word, whether it was written since it was erased.
    written: Vec<bool>,
    torn: Vec<Torn>,
    /// Steps until power is lost, and what is left then.
    cut: Option<(usize, Damage)>,
    lost: bool,
    /// Nothing may be changed here.
    pub(super) protected: Option<Range<usize>>,
    /// What is written here is accepted and not kept.
    pub(super) worn: Range<usize>,
    /// What an erase leaves.
    pub(super) erased: u8,
    random: Random,
}

impl<const R: usize, const W: usize, const E: usize> Flash<R, W, E> {
    /// A flash as it comes from the factory.
    pub(super) fn new(bytes: usize) -> Self {
        let random = Random(0x9e37_79b9_7f4a_7c15);
        let (torn, written) = (Vec::new(), vec![false; bytes / W]);
        let (worn, erased) = (0..0, 0xff);
        Self {
            bytes: vec![erased; bytes],
            written,
            torn,
            cut: None,
            lost: false,
            protected: None,
            worn,
            erased,
            random,
        }
    }

    /// Lets power be lost in that step, counted from 0.
    pub(super) fn lose_power(&mut self, step: usize, damage: Damage) {
        self.cut = Some((step, damage));
        self.random = Random(self.random.0 ^ (step as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
    }

    /// Power is back; whether it was lost at all.
    pub(super) fn power_on(&mut self) -> bool {
        self.cut = None;
        self.protected = None;
        std::mem::take(&mut self.lost)
    }

    pub(super) fn random(&mut self, below: usize) -> usize {
        (self.random.next() % below as u64) as usize
    }

    /// One word or page becomes `meant`, unless power is lost on the way.
    fn step(&mut self, range: Range<usize>, meant: &[u8]) -> Result<(), Lost> {
        if let Some(protected) = &self.protected {
            assert!(range.end <= protected.start || protected.end <= range.start, "the active slot was touched");
        }
        match &mut self.cut {
            Some((0, damage)) => {
                let damage = *damage;
                self.damage(range, meant, damage);
                self.lost = true;
                return Err(Lost);
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        self.bytes[range].copy_from_slice(meant);
        Ok(())
    }

    fn damage(&mut self, range: Range<usize>, meant: &[u8], damage: Damage) {
        let before = self.bytes[range.clone()].to_vec();
        let part = self.random(meant.len() + 1);
        let density = self.random(3);
        let random = &mut self.random;
        let mut mask = |at: usize| match damage {
            Damage::Nothing => 0,
            Damage::Everything => 0xff,
            Damage::Front => {
                if at < part {
                    0xff
                } else {
                    0
                }
            }
            Damage::Back => {
                if at >= part {
                    0xff
                } else {
                    0
                }
            }
            _ => match density {
                0 => random.byte() & random.byte() & random.byte(),
                1 => random.byte(),
                _ => random.byte() | random.byte() | random.byte(),
            },
        };
        let mixed: Vec<u8> = (0..meant.len()).map(|at| before[at] ^ ((before[at] ^ meant[at]) & mask(at))).collect();
        let left = match damage {
            Damage::Zeros => vec![0; meant.len()],
            Damage::Garbage => (0..meant.len()).map(|_| self.random.byte()).collect(),
            _ => mixed,
        };
        self.bytes[range.clone()].copy_from_slice(&left);
        match damage {
            Damage::Unstable => self.torn.push(Torn { range, wavers: Some([before, meant.to_vec()]) }),
            Damage::Unreadable => self.torn.push(Torn { range, wavers: None }),
            _ => {}
        }
    }
}

impl<const R: usize, const W: usize, const E: usize> ErrorType for Flash<R, W, E> {
    type Error = Lost;
}

impl<const R: usize, const W: usize, const E: usize> ReadNorFlash for Flash<R, W, E> {
    const READ_SIZE: usize = R;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Lost> {
        let offset = offset as usize;
        assert!(offset.is_multiple_of(R) && bytes.len().is_multiple_of(R), "{offset} and {} to read", bytes.len());
        if self.lost {
            return Err(Lost);
        }
        let range = offset..offset + bytes.len();
        bytes.copy_from_slice(&self.bytes[range.clone()]);
        for torn in &self.torn {
            let touched = torn.range.start.max(range.start)..torn.range.end.min(range.end);
            if touched.is_empty() {
                continue;
            }
            let Some([before, meant]) = &torn.wavers else { return Err(Lost) };
            let mood = self.random.next() % 3;
            for at in touched {
                let (before, meant) = (before[at - torn.range.start], meant[at - torn.range.start]);
                bytes[at - offset] = match mood {
                    0 => before,
                    1 => meant,
                    _ => before ^ ((before ^ meant) & self.random.byte()),
                };
            }
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const R: usize, const W: usize, const E: usize> NorFlash for Flash<R, W, E> {
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Lost> {
        let (from, to) = (from as usize, to as usize);
        assert!(from.is_multiple_of(E) && to.is_multiple_of(E) && from <= to && to <= self.bytes.len());
        for page in (from..to).step_by(E) {
            if self.lost {
                return Err(Lost);
            }
            let range = page..page + E;
            // Whatever an erase leaves, nothing may be written there before the next one.
            self.written[page / W..(page + E) / W].fill(true);
            self.torn.retain(|torn| torn.range.end <= range.start || range.end <= torn.range.start);
            self.step(range, &[self.erased; E])?;
            self.written[page / W..(page + E) / W].fill(false);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Lost> {
        let offset = offset as usize;
        assert!(offset.is_multiple_of(W) && bytes.len().is_multiple_of(W), "{offset} and {} to write", bytes.len());
        for (at, word) in (offset..).step_by(W).zip(bytes.as_chunks::<W>().0) {
            if self.lost {
                return Err(Lost);
            }
            assert!(!std::mem::replace(&mut self.written[at / W], true), "the word at {at} was written twice");
            let meant: Vec<u8> = word.iter().zip(&self.bytes[at..]).map(|(new, old)| new & old).collect();
            assert_eq!(meant, word, "the word at {at} was not erased");
            if !self.worn.contains(&at) {
                self.step(at..at + W, &meant)?;
            }
        }
        Ok(())
    }
}

/// xorshift64*: plenty for choosing bits.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}
