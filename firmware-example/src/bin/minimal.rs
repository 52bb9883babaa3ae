//! The smallest image with everything in it: parse, flow, sampled prediction with variance. What a model costs in
//! flash, and that nothing in it can panic.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::{entry, region};
use diffgp_infer::{DefaultRng, Model, Workspace, keyed_rng};

diffgp_firmware::forbid_panic!();

#[entry]
fn main() -> ! {
    let mut rng: DefaultRng = keyed_rng(0, 0, 0);
    let mut workspace = Workspace::<8, 100>::new();
    let model = Model::parse(region::model());
    loop {
        // The sensor, and whoever reads the prediction, are black boxes: nothing is optimised away on their behalf.
        let x = black_box([0.0; 8]);
        if let Ok(model) = &model {
            let prediction = model.predict_sampled(&x, 32, &mut rng, &mut workspace);
            black_box(prediction.map(|p| (p.mean(), p.variance())).ok());
        }
    }
}
