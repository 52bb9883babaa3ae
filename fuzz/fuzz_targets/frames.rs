//! A serial line with anything on it.
#![no_main]

use diffgp_fuzz::line::{self, Piece};
use diffgp_fuzz::tally::Tally;
use libfuzzer_sys::fuzz_target;

static TALLY: Tally<2> = Tally::new(["with a frame received", "with a frame dropped"]);

fuzz_target!(|line: Vec<Piece>| {
    let (received, dropped) = line::check(&line);
    TALLY.count([received > 0, dropped]);
});
