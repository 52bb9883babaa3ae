//! The smallest image that computes with integers alone: parse, flow, predictions along the drift and sampled, with
//! variance, from what a sensor counts to fixed-point numbers. Built with the feature `fixed` alone there is no code for
//! floats in it, and nothing that can panic.
//!
//! It measures nothing, as `minimal`: `cargo xtask qemu` counts its instructions from outside.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::{entry, region};
use diffgp_infer::{DefaultRng, Error, Model, ParseError, RawPrediction, Workspace, keyed_rng};

diffgp_firmware::forbid_panic!();
diffgp_firmware::small_copies!();

type Memory = Workspace<8, 100>;

/// Binary digits behind the point, of the sensor's numbers and of the predictions.
const DIGITS: u32 = 8;

#[entry]
fn main() -> ! {
    // Looked at where it is: a copy would lie on the stack, too.
    match &parse() {
        Ok(model) => predict(model),
        // Without a model there is nothing to do.
        Err(_) => loop {
            black_box(());
        },
    }
}

/// Apart, so that what it needs of the stack is given back.
#[inline(never)]
fn parse() -> Result<Model<'static>, ParseError> {
    Model::parse(region::model())
}

#[inline(never)]
fn predict(model: &Model<'_>) -> ! {
    let mut rng: DefaultRng = keyed_rng(0, 0, 0);
    let mut workspace = Memory::new();
    loop {
        // The sensor, and whoever reads the predictions, are black boxes: nothing is optimised away on their behalf.
        let x = black_box([0; 8]);
        along_the_drift(model, &x, &mut workspace);
        sampled(model, &x, &mut rng, &mut workspace);
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
fn along_the_drift(model: &Model<'_>, x: &[i32; 8], workspace: &mut Memory) {
    show(model.predict_raw(x, DIGITS, workspace));
}

/// One path: others cost the same again.
#[inline(never)]
#[unsafe(no_mangle)]
fn sampled(model: &Model<'_>, x: &[i32; 8], rng: &mut DefaultRng, workspace: &mut Memory) {
    show(model.predict_raw_sampled(x, DIGITS, black_box(1), rng, workspace));
}

/// Mean and variance of the first target.
#[inline(never)]
fn show(prediction: Result<RawPrediction<'_>, Error>) {
    let output = prediction.ok().and_then(|p| p.output(0));
    black_box(output.map(|output| (output.mean(DIGITS), output.variance(DIGITS))));
}
