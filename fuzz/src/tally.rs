//! Shows that a target does not turn in circles at the front door: how many inputs reached what.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts executions and how many of them got how far.
#[derive(Debug)]
pub struct Tally<const N: usize> {
    names: [&'static str; N],
    executions: AtomicU64,
    counts: [AtomicU64; N],
}

impl<const N: usize> Tally<N> {
    /// Nothing counted yet; `names` say what is counted.
    pub const fn new(names: [&'static str; N]) -> Self {
        Self { names, executions: AtomicU64::new(0), counts: [const { AtomicU64::new(0) }; N] }
    }

    /// Counts one execution that reached these; prints the sums whenever the executions are a power of two.
    pub fn count(&self, reached: [bool; N]) {
        for (count, reached) in self.counts.iter().zip(reached) {
            count.fetch_add(u64::from(reached), Relaxed);
        }
        let executions = self.executions.fetch_add(1, Relaxed) + 1;
        if executions.is_power_of_two() || executions.is_multiple_of(1 << 20) {
            let sums: Vec<String> = self
                .names
                .iter()
                .zip(&self.counts)
                .map(|(name, count)| format!(", {} {name}", count.load(Relaxed)))
                .collect();
            eprintln!("tally: {executions} executions{}", sums.concat());
        }
    }
}
