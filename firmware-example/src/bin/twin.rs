//! The program of `c/minimal.c` in Rust, with the same parts of the runtime: what an interface for C adds to flash is the
//! difference of the two.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;
use core::hint::black_box;
use diffgp_firmware::{console, entry, region};
use diffgp_infer::{Keyed, Model, Prediction, Workspace};

diffgp_firmware::forbid_panic!();

/// Words that programs of C have as a static: the workspace is the caller's, and its size no part of a type.
struct Words(UnsafeCell<[u32; Workspace::words(8, 100, 1)]>);

// SAFETY: one core, and `main` alone takes them, once.
unsafe impl Sync for Words {}

static WORDS: Words = Words(UnsafeCell::new([0; Workspace::words(8, 100, 1)]));

#[entry]
fn main() -> ! {
    // SAFETY: as above.
    let words = unsafe { &mut *WORDS.0.get() };
    let Ok(model) = Model::parse(region::model()) else { console::exit(1) };
    let mut row = 0;
    loop {
        // The sensor.
        let x = black_box([0.0; 8]);
        if let Ok(p) = model.predict(&x, &mut words[..]) {
            read(&p);
        }
        // As in C, the compiler of the runtime does not know them.
        let [paths, seed] = black_box([1, 0]);
        if let Ok(p) = model.predict_sampled(&x, paths, &mut Keyed::new(seed.into(), row), &mut words[..]) {
            read(&p);
        }
        row += 1;
    }
}

/// What `diffgp_predict` fills in.
#[inline(never)]
fn read(p: &Prediction<'_>) {
    black_box((
        p.output(0).map(|first| (first.mean(), first.variance(), first.std_dev(), first.latent_variance())),
        p.out_of_range(),
    ));
}
