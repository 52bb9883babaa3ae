//! Where the randomness of a flow comes from.
//!
//! A flow draws one standard normal per step and dimension, in that order, path after path. Any `rand_core` generator
//! is a [`Noise`]; [`Keyed`] gives every (seed, row, path) a generator of its own, so that one row computed alone
//! has the same bits as the same row computed among others; [`FromFn`] wraps a closure, for hardware generators that
//! implement another version of `rand_core`; [`Replay`] plays given numbers, for tests and for comparisons.

use rand_core::{Rng, SeedableRng};

use crate::fixed;

/// The small default generator: 8 bytes of state, 32-bit operations only.
pub type DefaultRng = rand_xoshiro::Xoroshiro64StarStar;

/// A source of standard normal variates.
pub trait Noise {
    /// Called before the first draw of every path; sources that number their paths start that path's stream.
    fn begin_path(&mut self, path: u32);

    /// The next standard normal variate.
    fn normal(&mut self) -> f32;

    /// The next standard normal variate in Q24, for models that are evaluated in integers. Sources of words make it without
    /// floating-point arithmetic.
    fn fixed_normal(&mut self) -> i32 {
        fixed::state_from_single(self.normal())
    }
}

impl<R: Rng + ?Sized> Noise for R {
    fn begin_path(&mut self, _path: u32) {}

    fn normal(&mut self) -> f32 {
        crate::normal::from_word(self.next_u32())
    }

    fn fixed_normal(&mut self) -> i32 {
        fixed::normal_from_word(self.next_u32())
    }
}

/// Noise keyed by (seed, row, path): [`DefaultRng`] restarted for every path.
#[derive(Clone, Debug)]
pub struct Keyed {
    seed: u64,
    row: u32,
    rng: DefaultRng,
}

impl Keyed {
    /// The noise of one row.
    pub fn new(seed: u64, row: u32) -> Self {
        Self { seed, row, rng: keyed_rng(seed, row, 0) }
    }
}

impl Noise for Keyed {
    fn begin_path(&mut self, path: u32) {
        self.rng = keyed_rng(self.seed, self.row, path);
    }

    fn normal(&mut self) -> f32 {
        self.rng.normal()
    }

    fn fixed_normal(&mut self) -> i32 {
        self.rng.fixed_normal()
    }
}

/// The generator of (seed, row, path). Different (row, path) under one seed never share a starting state.
pub fn keyed_rng(seed: u64, row: u32, path: u32) -> DefaultRng {
    let key = mix(mix(seed) ^ (u64::from(row) << 32 | u64::from(path)));
    DefaultRng::from_seed(key.to_le_bytes())
}

/// A bijection of 64-bit words whose output bits all depend on all input bits (the finaliser of SplitMix64, after
/// adding its constant so that zero does not map to itself).
const fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Noise from any source of uniform 32-bit words, such as a hardware generator.
#[derive(Clone, Debug)]
pub struct FromFn<F>(pub F);

impl<F: FnMut() -> u32> Noise for FromFn<F> {
    fn begin_path(&mut self, _path: u32) {}

    fn normal(&mut self) -> f32 {
        crate::normal::from_word((self.0)())
    }

    fn fixed_normal(&mut self) -> i32 {
        fixed::normal_from_word((self.0)())
    }
}

/// Plays the given variates in order, then zeros.
#[derive(Clone, Debug)]
pub struct Replay<'a>(pub &'a [f32]);

impl Noise for Replay<'_> {
    fn begin_path(&mut self, _path: u32) {}

    fn normal(&mut self) -> f32 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_depend_on_what_was_drawn_before_it() {
        let mut alone = Keyed::new(7, 3);
        alone.begin_path(2);
        let expected = [alone.normal(), alone.normal()];
        let mut among = Keyed::new(7, 3);
        for path in 0..=2 {
            among.begin_path(path);
            let drawn = [among.normal(), among.normal()];
            assert_eq!(drawn == expected, path == 2);
        }
    }

    #[test]
    fn seed_row_and_path_all_matter() {
        let first = |seed, row, path| keyed_rng(seed, row, path).next_u32();
        let base = first(1, 2, 3);
        assert!(base != first(2, 2, 3) && base != first(1, 3, 3) && base != first(1, 2, 4) && base != first(1, 3, 2));
    }

    #[test]
    #[cfg_attr(miri, ignore = "a sweep over plain arithmetic: long, and without memory to look at")]
    fn first_draws_of_neighbouring_keys_are_uncorrelated() {
        // Mean product of n pairs of standard normals has a standard deviation of 1/√n: five of them allowed.
        let n = 100_000_u32;
        let z = |row, path| crate::normal::from_word(keyed_rng(0, row, path).next_u32());
        for (rows, paths) in [(1, 0), (0, 1), (1, 1)] {
            let sum: f64 = (0..n).map(|i| f64::from(z(i, i / 7)) * f64::from(z(i + rows, i / 7 + paths))).sum();
            assert!((sum / f64::from(n)).abs() < 5.0 / libm::sqrt(f64::from(n)), "({rows}, {paths}): {sum}");
        }
    }

    #[test]
    fn a_closure_and_the_generator_behind_it_agree() {
        let mut rng = keyed_rng(5, 0, 0);
        let mut copy = rng.clone();
        let mut closure = FromFn(move || copy.next_u32());
        for _ in 0..100 {
            assert_eq!(rng.normal(), closure.normal());
        }
    }

    #[test]
    fn replay_ends_in_zeros() {
        let mut replay = Replay(&[1.0, -2.0]);
        assert_eq!([replay.normal(), replay.normal(), replay.normal()], [1.0, -2.0, 0.0]);
    }
}
