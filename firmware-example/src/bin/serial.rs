//! Answers requests over the serial port: the device end of `diffgp-link`.
//!
//! Whatever comes in that is not a request is dropped and counted; a request without a usable model is answered too.
#![no_std]
#![no_main]

use diffgp_firmware::counter::Counter;
use diffgp_firmware::uart::Uart;
use diffgp_firmware::{MOST_OPERATIONS, console, entry, region};
use diffgp_infer::{Model, Workspace};
use diffgp_link::{Receiver, Refusal, Request, Response, encode, model_checksum, predict};

diffgp_firmware::forbid_panic!();

type Memory = Workspace<32, 100, 6>;

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
            Some(model) => predict(model, &request, &mut workspace, MOST_OPERATIONS, |work| counter.ticks(work).0),
            None => Err(Refusal::NoModel),
        };
        let response = Response { id: request.id, dropped: receiver.dropped(), model: checksum, outcome };
        if let Some(frame) = encode(&response) {
            uart.write(&frame);
        }
    }
}
