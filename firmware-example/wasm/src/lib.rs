//! The runtime as a WebAssembly module: no imports, no allocator, 1 MiB for the model.
//!
//! JavaScript writes the model to [`model_space`] and a row to [`input_space`], calls [`predict`], and reads bit
//! patterns from [`output_space`]. `run.mjs` does that for a whole job and prints what the boards print.
#![no_std]

use core::cell::UnsafeCell;
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};

const MODEL_BYTES: usize = 1 << 20;
const INPUTS: usize = 32;
/// Mean, variance, latent variance, probability (−1 without) and whether the input was in range.
const WORDS: usize = 5;

/// No panic may be reachable: a call of this handler would leave an import in the module, which has none.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn a_panic_path_is_left_in_this_image() -> !;
    }
    // SAFETY: never executed, since a module with this import is refused by the tests and cannot be instantiated.
    unsafe { a_panic_path_is_left_in_this_image() }
}

/// Memory that JavaScript and this module share.
#[repr(C, align(4))]
struct Shared {
    model: UnsafeCell<[u8; MODEL_BYTES]>,
    input: UnsafeCell<[f32; INPUTS]>,
    output: UnsafeCell<[u32; 2 * WORDS]>,
}

// SAFETY: the module has one thread, and JavaScript touches the memory only while no function of it runs.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    model: UnsafeCell::new([0; MODEL_BYTES]),
    input: UnsafeCell::new([0.0; INPUTS]),
    output: UnsafeCell::new([0; 2 * WORDS]),
};

/// Where the model goes.
#[unsafe(no_mangle)]
pub extern "C" fn model_space() -> *mut u8 {
    SHARED.model.get().cast()
}

/// Where a row of inputs goes.
#[unsafe(no_mangle)]
pub extern "C" fn input_space() -> *mut f32 {
    SHARED.input.get().cast()
}

/// Where the two predictions appear: along the drift, then sampled.
#[unsafe(no_mangle)]
pub extern "C" fn output_space() -> *const u32 {
    SHARED.output.get().cast()
}

/// Predicts one row with the model. 0 is success, 1 a refused model, 2 a refused row.
#[unsafe(no_mangle)]
pub extern "C" fn predict(inputs: usize, paths: u32, seed_low: u32, seed_high: u32, row: u32) -> u32 {
    // SAFETY: nothing writes to the model or the input while this function runs (see `Sync` above).
    let (bytes, x) = unsafe { (&*SHARED.model.get(), &*SHARED.input.get()) };
    let Ok(model) = Model::parse(bytes) else { return 1 };
    let Some(x) = x.get(..inputs) else { return 2 };
    let mut workspace = Workspace::<INPUTS, 100>::new();
    let drift = model.predict(x, &mut workspace);
    let mut noise = Keyed::new(u64::from(seed_low) | u64::from(seed_high) << 32, row);
    let sampled = model.predict_sampled(x, paths, &mut noise, &mut workspace);
    let (Some(drift), Some(sampled)) = (words(drift), words(sampled)) else { return 2 };
    // SAFETY: nothing else reads or writes the output while this function runs (see `Sync` above).
    let output = unsafe { &mut *SHARED.output.get() };
    for (output, word) in output.iter_mut().zip(drift.into_iter().chain(sampled)) {
        *output = word;
    }
    0
}

fn words(prediction: Result<Prediction, Error>) -> Option<[u32; WORDS]> {
    let p = prediction.ok()?;
    let numbers = [p.mean(), p.variance(), p.latent_variance(), p.probability().unwrap_or(-1.0)];
    let [mean, variance, latent, probability] = numbers.map(f32::to_bits);
    Some([mean, variance, latent, probability, p.in_range().into()])
}
