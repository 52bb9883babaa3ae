//! Runs the model and the job beside this image: prints the bits of every prediction, and what the first one costs.
//!
//! No panic path, no `core::fmt`: this one image shows speed, size, memory and bits.
#![no_std]
#![no_main]

use core::hint::black_box;
use diffgp_firmware::console;
use diffgp_firmware::counter::Counter;
use diffgp_firmware::job::{Job, MAX_INPUTS};
use diffgp_firmware::{entry, region, stack};
use diffgp_infer::{Error, Keyed, Model, ParseError, Prediction, Workspace};

diffgp_firmware::forbid_panic!();

type Memory = Workspace<MAX_INPUTS, 100, MAX_OUTPUTS>;

/// Outputs of the models that this image takes.
const MAX_OUTPUTS: usize = 6;

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(2) };
    let Some(job) = Job::find() else { console::exit(3) };
    match Model::parse(region::model()) {
        Ok(model) => measure(&model, &job, counter),
        Err(_) => console::exit(4),
    }
}

fn measure(model: &Model<'_>, job: &Job, mut counter: Counter) -> ! {
    let mut workspace = Memory::new();
    let mut x = [0.0; MAX_INPUTS];
    let Some(first) = job.row(0, &mut x) else { console::exit(5) };
    // What a model with D = 8 and M = 100 needs; this image takes wider ones too.
    console::line("workspace-bytes", &[Workspace::<8, 100>::BYTES as u32]);
    console::line("model-bytes", &[size_of::<Model<'_>>() as u32]);

    console::line("calibration", &[counter.calibrate()]);
    let (ticks, parsed) = counter.ticks(parse);
    console::line("ticks-parse", &[ticks, parsed.is_ok().into()]);
    let (ticks, drift) = counter.ticks(|| predict(model, first, &mut workspace));
    console::line("ticks-drift", &[ticks, drift.is_ok().into()]);
    let (ticks, sampled) = counter.ticks(|| predict_sampled(model, job, 0, first, &mut workspace));
    console::line("ticks-sampled", &[ticks, sampled.is_ok().into()]);

    counter.silence();
    console::line("stack-parse", &[stack::used(|| parse().is_ok()).0]);
    console::line("stack-drift", &[stack::used(|| predict(model, first, &mut workspace).is_ok()).0]);
    console::line("stack-sampled", &[stack::used(|| predict_sampled(model, job, 0, first, &mut workspace).is_ok()).0]);
    let together = stack::used(|| match &parse() {
        Ok(model) => predict_sampled(model, job, 0, first, &mut workspace).is_ok(),
        Err(_) => false,
    });
    console::line("stack-together", &[together.0]);

    for row in 0..job.rows {
        let Some(x) = job.row(row, &mut x) else { console::exit(6) };
        show("drift", row, predict(model, x, &mut workspace));
        show("sampled", row, predict_sampled(model, job, row, x, &mut workspace));
        show("resumed", row, predict_in_pieces(model, job, row, x, &mut workspace));
    }
    console::exit(0)
}

// One copy of each, so that the figures are those of a program that calls them once.

#[inline(never)]
fn parse() -> Result<Model<'static>, ParseError> {
    Model::parse(region::model())
}

#[inline(never)]
fn predict<'w>(model: &'w Model<'_>, x: &[f32], workspace: &'w mut Memory) -> Result<Prediction<'w>, Error> {
    model.predict(x, workspace)
}

#[inline(never)]
fn predict_sampled<'w>(
    model: &'w Model<'_>,
    job: &Job,
    row: u32,
    x: &[f32],
    workspace: &'w mut Memory,
) -> Result<Prediction<'w>, Error> {
    model.predict_sampled(x, job.paths, &mut Keyed::new(job.seed, row), workspace)
}

/// The same as a firmware with other things to do would: it comes back after every piece.
#[inline(never)]
fn predict_in_pieces<'w>(
    model: &'w Model<'_>,
    job: &Job,
    row: u32,
    x: &[f32],
    workspace: &'w mut Memory,
) -> Result<Prediction<'w>, Error> {
    let mut noise = Keyed::new(job.seed, row);
    let mut run = model.begin(x, job.paths, &mut noise, workspace)?;
    while black_box(&mut run).advance()?.is_pending() {}
    run.finish()
}

/// Row, inputs out of range, then mean, variance, latent variance and the low end of the 90 % interval of every output, then every probability.
fn show(name: &str, row: u32, prediction: Result<Prediction<'_>, Error>) {
    let mut words = [0; 2 + 5 * MAX_OUTPUTS];
    let mut used = 0;
    if let Ok(p) = prediction {
        let outputs = p.outputs().flat_map(|output| {
            let (low, _) = output.interval(0.9).unwrap_or_default();
            [output.mean(), output.variance(), output.latent_variance(), low]
        });
        let numbers = outputs.chain(p.probabilities()).map(f32::to_bits);
        let head = [row, p.out_of_range().bits() as u32];
        for (word, number) in words.iter_mut().zip(head.into_iter().chain(numbers)) {
            *word = number;
            used += 1;
        }
    }
    console::line(name, words.get(..used).unwrap_or_default());
}
