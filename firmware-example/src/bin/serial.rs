//! Answers requests over the serial port: the device end of `diffgp-link`.
//!
//! Whatever comes in that is not a request is dropped and counted; a request without a usable model is answered too.
#![no_std]
#![no_main]

use diffgp_firmware::counter::Counter;
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{console, entry, region};
use diffgp_infer::{Error, Keyed, Model, Prediction, Workspace};
use diffgp_link::{Answer, MAX_PATHS, Receiver, Refusal, Request, Response, encode, model_checksum};

diffgp_firmware::forbid_panic!();

type Memory = Workspace<32, 100>;

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
    if request.paths > MAX_PATHS {
        return Err(Refusal::Paths);
    }
    let (ticks, prediction) = counter.ticks(|| predict(model, request, workspace));
    let prediction = prediction.map_err(|error| match error {
        Error::Capacity { .. } => Refusal::Capacity,
        Error::InputLength { expected, .. } => Refusal::InputLength { expected: expected as u32 },
        Error::InputNotFinite { .. } | Error::NotFinite => Refusal::NotFinite,
        _ => Refusal::Other,
    })?;
    Ok(Answer {
        mean: prediction.mean(),
        variance: prediction.variance(),
        latent_variance: prediction.latent_variance(),
        probability: prediction.probability(),
        in_range: prediction.in_range(),
        ticks,
    })
}

fn predict(model: &Model<'_>, request: &Request, workspace: &mut Memory) -> Result<Prediction, Error> {
    if request.paths == 0 {
        model.predict(&request.x, workspace)
    } else {
        model.predict_sampled(&request.x, request.paths, &mut Keyed::new(request.seed, request.row), workspace)
    }
}
