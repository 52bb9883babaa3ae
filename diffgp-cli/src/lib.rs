//! The `diffgp` command: raw arguments, and which subcommand answers them.
//!
//! [`about`] is what it says of a model, for other languages; everything else is the command's own.
#![forbid(unsafe_code)]

pub mod about;
mod bytes;
mod c_source;
mod calibrate;
mod class_notes;
mod completions;
mod compress;
mod console;
mod crossval;
mod demo;
mod device;
mod dirt;
mod eval;
mod explore;
mod export;
mod failure;
mod file_options;
mod identifiers;
mod importance;
mod inspect;
mod interrupt;
mod keep;
mod keygen;
mod keys;
mod known_rows;
mod labelled;
mod layout;
mod mistyped;
mod model_file;
mod model_names;
mod model_rows;
mod new_firmware;
mod output;
mod plot;
mod predict;
mod progress;
mod ranks;
mod report;
mod run_directory;
mod run_lock;
mod sampling;
mod serial;
mod settings;
mod shown;
mod sign;
mod test_rows;
mod threads;
mod train;
mod update;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Gaussian process flows for microcontrollers: train on a table, predict with an honest error bar on the device.
#[derive(Debug, Parser)]
#[command(name = "diffgp", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  diffgp demo                              the whole way on made-up data
  diffgp train data.csv --target y         train; writes model.dgp
  diffgp inspect model.dgp                 flash, memory and work it needs, and code to paste
  diffgp new-firmware DIR --board m4f      a program in Rust that predicts, for a board or QEMU
  diffgp export model.dgp --c DIR          the model as C, with a program that predicts
  diffgp compress model.dgp --data data.csv --max-bytes 32768 --out small.dgp
                                           a smaller model, and what it loses
  diffgp calibrate model.dgp fresh.csv --out calibrated.dgp
                                           error bars by rows that it has not seen
  diffgp eval model.dgp test.csv           error and log-likelihood, as the device computes them
  diffgp plot model.dgp test.csv           pictures of its predictions and its flow
  diffgp explore model.dgp test.csv        a page to play with, for any browser
  diffgp predict model.dgp new.csv         a mean and a variance for every row
  diffgp device model.dgp test.csv --port /dev/ttyACM0
                                           whether a device computes the same bits
  diffgp keygen pump                       keys that models are signed with
  diffgp sign model.dgp --key pump.key --counter 7
                                           sign a model for devices that ask for it
  diffgp update model.dgp --port /dev/ttyACM0
                                           replace the model of a device, on trial until --confirm

Exit code: 0 success, 2 a mistake in the arguments or the input, 1 anything else.";

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Eval(eval::Args),
    Predict(predict::Args),
    Inspect(inspect::Args),
    Export(export::Args),
    NewFirmware(new_firmware::Args),
    Compress(compress::Args),
    Calibrate(calibrate::Args),
    Device(device::Args),
    Update(update::Args),
    Keygen(keygen::Args),
    Sign(sign::Args),
    Verify(verify::Args),
    Crossval(Box<crossval::Args>),
    Plot(plot::Args),
    Explore(explore::Args),
    Demo(demo::Args),
    Completions(completions::Args),
}

/// Runs the command and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    match run(std::env::args_os().collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// The end where the arguments are wrong, or were a question: said once, however many processes were started together.
fn exit(error: &clap::Error) -> ! {
    if ranks::is_follower() {
        console::be_silent();
        if !error.use_stderr() {
            std::process::exit(0);
        }
    }
    failure::exit(error)
}

/// The command, with options whose values may be negative: what is wrong with -1 is said by the one who knows.
fn command() -> clap::Command {
    let may_be_negative = |argument: clap::Arg| {
        let has_value = argument.get_long().is_some() && argument.get_action().takes_values();
        if has_value { argument.allow_negative_numbers(true) } else { argument }
    };
    Cli::command().mut_subcommands(|subcommand| subcommand.mut_args(may_be_negative))
}

fn run(arguments: Vec<OsString>) -> anyhow::Result<()> {
    let arguments = file_options::expand::<Cli>(arguments)?;
    let subcommand = arguments.get(1).and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let matches = command().try_get_matches_from(arguments);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches)).unwrap_or_else(|mut error| {
        mistyped::correct(&mut error, &command(), &subcommand);
        exit(&error)
    });
    match cli.command {
        Command::Train(args) => train::run(*args),
        Command::Eval(args) => eval::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Export(args) => export::run(args),
        Command::NewFirmware(args) => new_firmware::run(args),
        Command::Compress(args) => compress::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Device(args) => device::run(args),
        Command::Update(args) => update::run(args),
        Command::Keygen(args) => keygen::run(args),
        Command::Sign(args) => sign::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Crossval(args) => crossval::run(*args),
        Command::Plot(args) => plot::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions(args) => completions::run(&args, &mut Cli::command()),
    }
}
