//! Any bytes as a model.
#![no_main]

use diffgp_fuzz::model::{self, Reached};
use diffgp_fuzz::tally::Tally;
use diffgp_fuzz::trainer::aligned::AlignedBytes;
use libfuzzer_sys::fuzz_target;

/// Multiply-adds of one path, a few times what the corpus needs: a fuzzer learns little from more steps of the same.
const LONGEST: usize = 1_000;

static TALLY: Tally<3> = Tally::new(["parsed", "parsed on trust alone", "predicted"]);

fuzz_target!(|bytes: &[u8]| {
    let reached = model::check(AlignedBytes::new(bytes).as_slice(), LONGEST);
    let (parsed, trusted, predicted) = match reached {
        Reached::Nothing => (false, false, false),
        Reached::Trusted { predicted } => (false, true, predicted),
        Reached::Parsed { predicted } => (true, false, predicted),
    };
    TALLY.count([parsed, trusted, predicted]);
});
