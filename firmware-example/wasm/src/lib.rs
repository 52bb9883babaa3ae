//! The runtime as a WebAssembly module: no imports, no allocator, 1 MiB for the model.
//!
//! JavaScript writes the model to [`model_space`] and a row to [`input_space`], calls [`predict`], and reads bit
//! patterns from [`output_space`]. `run.mjs` does that for a whole job and prints what the boards print.
#![no_std]

use core::cell::UnsafeCell;
use core::hint::black_box;
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};

const MODEL_BYTES: usize = 1 << 20;
const INPUTS: usize = 32;
const OUTPUTS: usize = 6;
/// How many words follow, inputs out of range (bits), mean, variance, latent variance and the low end of the 90 % interval
/// of every output, then every probability.
const WORDS: usize = 2 + 5 * OUTPUTS;

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
    output: UnsafeCell<[u32; 3 * WORDS]>,
}

// SAFETY: the module has one thread, and JavaScript touches the memory only while no function of it runs.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    model: UnsafeCell::new([0; MODEL_BYTES]),
    input: UnsafeCell::new([0.0; INPUTS]),
    output: UnsafeCell::new([0; 3 * WORDS]),
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

/// Where the three predictions appear: along the drift, sampled, and sampled piece by piece.
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
    let mut workspace = Workspace::<INPUTS, 100, OUTPUTS>::new();
    let drift = words(model.predict(x, &mut workspace));
    let noise = Keyed::new(u64::from(seed_low) | u64::from(seed_high) << 32, row);
    let sampled = words(model.predict_sampled(x, paths, &mut noise.clone(), &mut workspace));
    let resumed = words(in_pieces(&model, x, paths, &mut noise.clone(), &mut workspace));
    let (Some(drift), Some(sampled), Some(resumed)) = (drift, sampled, resumed) else { return 2 };
    // SAFETY: nothing else reads or writes the output while this function runs (see `Sync` above).
    let output = unsafe { &mut *SHARED.output.get() };
    for (output, word) in output.iter_mut().zip(drift.into_iter().chain(sampled).chain(resumed)) {
        *output = word;
    }
    0
}

fn in_pieces<'w>(
    model: &'w Model<'_>,
    x: &[f32],
    paths: u32,
    noise: &mut Keyed,
    workspace: &'w mut Workspace<INPUTS, 100, OUTPUTS>,
) -> Result<Prediction<'w>, Error> {
    let mut noise = noise.clone();
    let mut run = model.begin(x, paths, &mut noise, workspace)?;
    while black_box(&mut run).advance()?.is_pending() {}
    run.finish()
}

fn words(prediction: Result<Prediction<'_>, Error>) -> Option<[u32; WORDS]> {
    let p = prediction.ok()?;
    let outputs = p.outputs().flat_map(|output| {
        let (low, _) = output.interval(0.9).unwrap_or_default();
        [output.mean(), output.variance(), output.latent_variance(), low]
    });
    let numbers = outputs.chain(p.probabilities()).map(f32::to_bits);
    let mut words = [0; WORDS];
    let mut used = 0;
    let (count, places) = words.split_first_mut()?;
    for (place, number) in places.iter_mut().zip([p.out_of_range().bits() as u32].into_iter().chain(numbers)) {
        *place = number;
        used += 1;
    }
    *count = used;
    Some(words)
}
