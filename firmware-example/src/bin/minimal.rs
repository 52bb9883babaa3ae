//! The smallest image with everything in it: parse, flow, predictions along the drift and sampled, with variance. What
//! a model costs in flash, and that nothing in it can panic.
//!
//! It measures nothing: `cargo xtask qemu` counts its instructions from outside, between the two named functions.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::{entry, region};
use diffgp_infer::{DefaultRng, Error, Model, Prediction, Workspace, keyed_rng};

diffgp_firmware::forbid_panic!();

type Memory = Workspace<8, 100>;

#[entry]
fn main() -> ! {
    let mut rng: DefaultRng = keyed_rng(0, 0, 0);
    let mut workspace = Memory::new();
    let model = Model::parse(region::model());
    loop {
        // The sensor, and whoever reads the predictions, are black boxes: nothing is optimised away on their behalf.
        let x = black_box([0.0; 8]);
        if let Ok(model) = &model {
            black_box(along_the_drift(model, &x, &mut workspace).map(|p| (p.mean(), p.variance())).ok());
            black_box(sampled(model, &x, &mut rng, &mut workspace).map(|p| (p.mean(), p.variance())).ok());
        }
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
fn along_the_drift<'w>(model: &'w Model<'_>, x: &[f32], workspace: &'w mut Memory) -> Result<Prediction<'w>, Error> {
    model.predict(x, workspace)
}

/// One path: others cost the same again.
#[inline(never)]
#[unsafe(no_mangle)]
fn sampled<'w>(
    model: &'w Model<'_>,
    x: &[f32],
    rng: &mut DefaultRng,
    workspace: &'w mut Memory,
) -> Result<Prediction<'w>, Error> {
    model.predict_sampled(x, black_box(1), rng, workspace)
}
