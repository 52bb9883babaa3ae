//! The `diffgp` command: from a CSV file to a model on the device.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
