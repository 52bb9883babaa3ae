//! `diffgp update`: a new model for a device, on trial until it is confirmed.

mod transfer;

use std::path::PathBuf;

use anyhow::bail;
use diffgp_infer::Model;
use diffgp_link::{Info, Step, model_checksum};
use serde::Serialize;

use super::failure::mistake;
use super::serial::LineArgs;
use super::{interrupt, model_file, output, sign, verify};
use transfer::Transfer;

/// Replace the model of a device over a serial line.
///
/// The device must run firmware that takes updates (firmware-example/src/bin/update.rs). The model is sent in pieces, with
/// its signature block if MODEL.dgp.sig is there; where the line is lost, the next run goes on. The device checks what
/// arrived and uses it at once, on trial: unless it is confirmed, the next start of the device takes the old model back.
/// `diffgp device` tells whether the new model predicts as it should; the same command with --confirm then keeps it.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp update model.dgp --port /dev/ttyACM0
  diffgp device model.dgp test.csv --port /dev/ttyACM0
  diffgp update model.dgp --port /dev/ttyACM0 --confirm"
)]
pub(crate) struct Args {
    /// Model file.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    #[command(flatten)]
    line: LineArgs,
    /// The signature block [default: MODEL.dgp.sig if it is there].
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Keep the model: send it if it is not there, and confirm it.
    #[arg(long)]
    confirm: bool,
    /// Print one JSON object: bytes (of the file), sent (of those, in this run), on_trial, confirmed, counter, retries.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    bytes: usize,
    sent: usize,
    on_trial: bool,
    confirmed: bool,
    counter: Option<u32>,
    retries: usize,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let block = match &args.signature {
        Some(path) => verify::read_block(path)?,
        None if sign::beside(&args.model).exists() => verify::read_block(&sign::beside(&args.model))?,
        None => Vec::new(),
    };
    let bytes = [file.bytes(), &block].concat();
    let checksum = model_checksum(file.bytes());
    interrupt::listen()?;
    let mut transfer = Transfer::open(&args.line)?;
    let mut info = transfer.ask(Step::Info)?;
    let mut sent = 0;
    if info.model != checksum {
        fits(&args, &file.model(), bytes.len(), &info)?;
        sent = transfer.send(&bytes)?;
        info = transfer.ask(Step::Commit)?;
    }
    if info.model != checksum {
        bail!("{}: the device has another model in use than the one that it took", args.line.port);
    }
    if args.confirm && !info.confirmed {
        info = transfer.ask(Step::Confirm)?;
    }
    let report = Report {
        bytes: bytes.len(),
        sent,
        on_trial: info.on_trial,
        confirmed: info.confirmed,
        counter: info.counter,
        retries: transfer.retries(),
    };
    if args.json { output::print_json(&report) } else { output::print(&text(&args, &report)) }
}

fn text(args: &Args, report: &Report) -> String {
    let (port, model) = (&args.line.port, args.model.display());
    let sent = match report.sent {
        0 => "was there already".to_owned(),
        sent => format!("was sent ({sent} of {} bytes, {} retries)", report.bytes, report.retries),
    };
    let state = match (report.confirmed, report.on_trial) {
        (true, _) => "and is confirmed",
        (false, true) => {
            "and is in use on trial: the next start takes the old one back, unless --confirm is given before"
        }
        (false, false) => "and is in use, not confirmed; there was no other one",
    };
    format!("{port}: {model} {sent} {state}\n")
}

/// Refuses what the device would refuse, before anything is sent.
fn fits(args: &Args, model: &Model<'_>, bytes: usize, info: &Info) -> anyhow::Result<()> {
    let (port, file) = (&args.line.port, args.model.display());
    if bytes > info.capacity as usize {
        return Err(mistake(format!(
            "{file} has {bytes} bytes, {port} has room for {}; `diffgp compress` makes it smaller",
            info.capacity
        )));
    }
    let needed = [model.inputs(), model.features(), model.outputs()];
    let [inputs, features, outputs] = info.largest;
    if needed.iter().zip(info.largest).any(|(&needed, largest)| needed > largest.into()) {
        let [d, m, o] = needed;
        return Err(mistake(format!(
            "{file} needs a Workspace::<{d}, {m}, {o}>, the firmware of {port} has a Workspace::<{inputs}, {features}, \
             {outputs}>; train a smaller model, or build it with a larger one"
        )));
    }
    let operations = model.work_per_path().operations();
    if operations > info.operations {
        return Err(mistake(format!(
            "{file} takes {operations} operations per path, {port} allows {}; `diffgp compress` makes it cheaper",
            info.operations
        )));
    }
    Ok(())
}
