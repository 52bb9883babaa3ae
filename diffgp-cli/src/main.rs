//! The `diffgp` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    diffgp_cli::main()
}
