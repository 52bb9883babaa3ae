//! Models with changes behind a valid checksum: every input that the mutator makes has one.
#![no_main]

use diffgp_fuzz::model::{self, Reached};
use diffgp_fuzz::repair::repair;
use diffgp_fuzz::tally::Tally;
use diffgp_fuzz::trainer::aligned::AlignedBytes;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Multiply-adds of one path, a few times what the corpus needs: a fuzzer learns little from more steps of the same.
const LONGEST: usize = 1_000;

static TALLY: Tally<2> = Tally::new(["parsed", "predicted"]);

/// Numbers at the edges of what f32 and the limits of the format hold.
const NASTY: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-45,
    f32::MIN_POSITIVE,
    1e-30,
    1e-12,
    1e-6,
    1e3,
    1e12,
    -1e19,
    1e30,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
];

fuzz_target!(|bytes: &[u8]| {
    let reached = model::check(AlignedBytes::new(bytes).as_slice(), LONGEST);
    let predicted = reached == Reached::Parsed { predicted: true };
    TALLY.count([predicted || reached == Reached::Parsed { predicted: false }, predicted]);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // Three in eight: a number of the header (at any place) or of a tensor (at a multiple of four) becomes a nasty one.
    let (choice, place, number) = (seed % 8, (seed >> 3) as usize, NASTY[(seed >> 28) as usize]);
    let size = match choice {
        0..3 if size >= 24 => {
            let place = 16 + place % (size - 23);
            let place = if choice == 0 { place } else { place / 4 * 4 };
            data[place..place + 4].copy_from_slice(&number.to_le_bytes());
            size
        }
        _ => fuzzer_mutate(data, size, max_size),
    };
    repair(&mut data[..size])
});
