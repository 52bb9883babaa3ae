//! Counts the instructions of one prediction along the drift and of one over a sampled path, for a model of any shape:
//! the job is the input, D singles.
#![no_std]
#![no_main]

use diffgp_firmware::console;
use diffgp_firmware::counter::Counter;
use diffgp_firmware::{entry, region};
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace, WorkspaceSlice};

diffgp_firmware::forbid_panic!();

/// The limits of the format.
const MAX_INPUTS: usize = 64;
const MAX_FEATURES: usize = 1024;
const MAX_OUTPUTS: usize = 32;
const WORDS: usize = Workspace::<MAX_INPUTS, MAX_FEATURES, MAX_OUTPUTS>::BYTES / 4;

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(2) };
    let Ok(model) = Model::parse(region::model()) else { console::exit(4) };
    let mut x = [0.0; MAX_INPUTS];
    for (x, value) in x.iter_mut().zip(region::job().as_chunks::<4>().0) {
        *x = f32::from_le_bytes(*value);
    }
    let Some(x) = x.get(..model.inputs()) else { console::exit(5) };
    let mut words = [0; WORDS];
    let mut workspace = Workspace::in_slice(&mut words);

    console::line("calibration", &[counter.calibrate()]);
    let (ticks, drift) = counter.many_ticks(|| predict(&model, x, &mut workspace));
    console::line("ticks-drift", &[ticks as u32, (ticks >> 32) as u32]);
    if drift.is_err() {
        console::exit(6)
    }
    let (ticks, sampled) = counter.many_ticks(|| predict_sampled(&model, x, &mut workspace));
    console::line("ticks-sampled", &[ticks as u32, (ticks >> 32) as u32]);
    console::exit(if sampled.is_ok() { 0 } else { 7 })
}

// One copy of each, so that the figures are those of a program that calls them once.

#[inline(never)]
fn predict<'w>(model: &'w Model<'_>, x: &[f32], memory: &'w mut WorkspaceSlice<'_>) -> Result<Prediction<'w>, Error> {
    model.predict(x, memory)
}

#[inline(never)]
fn predict_sampled<'w>(
    model: &'w Model<'_>,
    x: &[f32],
    memory: &'w mut WorkspaceSlice<'_>,
) -> Result<Prediction<'w>, Error> {
    model.predict_sampled(x, 1, &mut Keyed::new(0, 0), memory)
}
