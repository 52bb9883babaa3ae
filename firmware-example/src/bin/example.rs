//! The program to copy: read a sample, predict, act on the mean *and* on how sure it is.
//!
//! Under QEMU the samples are those of the job beside the image, and the actions are lines of text. On a board of
//! your own, `Samples` becomes your sensor and `act` your actuator; `docs/porting.md` has the rest.
#![no_std]
#![no_main]

use diffgp_firmware::job::{Job, MAX_INPUTS};
use diffgp_firmware::{console, entry, region};
use diffgp_infer::{Model, Prediction, Workspace, keyed_rng};
use semihosting::println;

diffgp_firmware::report_panic!();

/// Sizes of the largest model this program accepts: `diffgp inspect` prints them.
type Memory = Workspace<MAX_INPUTS, 100>;

/// Sampled paths per prediction: more of them make the error bar less noisy, at their full cost each.
const PATHS: u32 = 4;

/// Act only if the standard deviation is below this: 5 MW, for the output of the power plant that the model predicts.
const SURE_ENOUGH: f32 = 5.0;

/// The mean from which on we act, in MW.
const THRESHOLD: f32 = 450.0;

#[entry]
fn main() -> ! {
    // The model was flashed on its own, or came with this image: it is checked before it is used.
    let model = match Model::parse(region::model()) {
        Ok(model) => model,
        Err(error) => {
            println!("no usable model: {error}");
            console::exit(1)
        }
    };
    if !Memory::fits(&model) {
        println!("the model needs a Workspace::<{}, {}, {}>", model.inputs(), model.features(), model.outputs());
        console::exit(1)
    }
    let mut workspace = Memory::new();
    let mut noise = keyed_rng(1, 0, 0);
    let mut samples = Samples::new();
    let mut x = [0.0; MAX_INPUTS];
    while let Some(sample) = samples.read(&mut x) {
        match model.predict_sampled(sample, PATHS, &mut noise, &mut workspace) {
            Ok(prediction) => act(&prediction),
            Err(error) => println!("no prediction: {error}"),
        }
    }
    console::exit(0)
}

/// A prediction is two numbers. Whoever looks at the mean alone could as well have used a lookup table.
fn act(prediction: &Prediction<'_>) {
    let (mean, variance) = (prediction.mean(), prediction.variance());
    let sure = variance < SURE_ENOUGH * SURE_ENOUGH && prediction.in_range();
    match (sure, mean > THRESHOLD) {
        (true, true) => println!("on    {mean:.1} (variance {variance:.1})"),
        (true, false) => println!("off   {mean:.1} (variance {variance:.1})"),
        (false, _) => println!("safe  {mean:.1} (variance {variance:.1}): not sure enough to act"),
    }
}

/// The sensor.
struct Samples {
    job: Option<Job>,
    next: u32,
}

impl Samples {
    fn new() -> Self {
        Self { job: Job::find(), next: 0 }
    }

    fn read<'x>(&mut self, x: &'x mut [f32; MAX_INPUTS]) -> Option<&'x [f32]> {
        let job = self.job.as_ref().filter(|job| self.next < job.rows)?;
        let sample = job.row(self.next, x);
        self.next += 1;
        sample
    }
}
