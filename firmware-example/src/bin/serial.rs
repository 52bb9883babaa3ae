//! Answers requests over the serial port: the device end of `diffgp-link`.
//!
//! Whatever comes in that is not a request is dropped and counted; a request without a usable model is answered too.
#![no_std]
#![no_main]

use diffgp_firmware::counter::Counter;
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{console, entry, region};
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};
use diffgp_link::{Answer, MAX_OUTPUTS, Output, Receiver, Refusal, Request, Response, encode, model_checksum};

diffgp_firmware::forbid_panic!();

type Memory = Workspace<32, 100, 6>;

/// The most work of one request, so that no frame keeps the device busy for good: about a minute at 50 MHz. An operation
/// is a multiply-add, of 2.4 instructions with floating-point hardware and up to 240 without.
const MOST_OPERATIONS: u64 = if cfg!(target_abi = "eabihf") { 1_000_000_000 } else { 10_000_000 };

#[entry]
fn main() -> ! {
    let Some(counter) = Counter::start() else { console::exit(1) };
    let mut uart = Uart::start();
    let mut receiver = Receiver::new();
    let mut workspace = Memory::new();
    let model = Model::parse(region::model()).ok();
    let checksum = model.and_then(|_| model_checksum(region::model()));
    loop {
        let Some(request) = receiver.push::<Request>(uart.read()) else { continue };
        let outcome = match &model {
            Some(model) => answer(model, &request, &mut workspace, &counter),
            None => Err(Refusal::NoModel),
        };
        let response = Response { id: request.id, dropped: receiver.dropped(), model: checksum, outcome };
        if let Some(frame) = encode(&response) {
            uart.write(&frame);
        }
    }
}

fn answer(model: &Model<'_>, request: &Request, workspace: &mut Memory, counter: &Counter) -> Result<Answer, Refusal> {
    let of_path = model.work_per_path().operations();
    if of_path.saturating_mul(request.paths.into()) > MOST_OPERATIONS {
        let most_paths = u32::try_from(MOST_OPERATIONS / of_path.max(1)).unwrap_or(u32::MAX);
        return Err(Refusal::TooMuchWork { most_paths });
    }
    let (ticks, prediction) = counter.ticks(|| predict(model, request, workspace));
    let prediction = prediction.map_err(|error| match error {
        Error::Capacity { .. } => Refusal::Capacity,
        Error::InputLength { expected, .. } => Refusal::InputLength { expected: expected as u32 },
        Error::InputNotFinite { .. } | Error::NotFinite => Refusal::NotFinite,
        _ => Refusal::Other,
    })?;
    // At most as many as there is room for.
    let output = |o: diffgp_infer::Output| Output {
        mean: o.mean(),
        variance: o.variance(),
        latent_variance: o.latent_variance(),
    };
    Ok(Answer {
        outputs: prediction.outputs().take(MAX_OUTPUTS).map(output).collect(),
        probabilities: prediction.probabilities().take(MAX_OUTPUTS).collect(),
        out_of_range: prediction.out_of_range().bits(),
        ticks,
    })
}

fn predict<'w>(model: &'w Model<'_>, request: &Request, workspace: &'w mut Memory) -> Result<Prediction<'w>, Error> {
    if request.paths == 0 {
        model.predict(&request.x, workspace)
    } else {
        model.predict_sampled(&request.x, request.paths, &mut Keyed::new(request.seed, request.row), workspace)
    }
}
