//! `cargo xtask soak`: attacks everything that takes bytes from elsewhere (`tests/examples/soak`), with every check on.

use crate::command;
use anyhow::Result;
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// The number of the first attack; the same numbers are the same attacks
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn run(args: Args) -> Result<()> {
    // Both from one selection of packages, that of `cargo xtask test`: what they share is built once.
    let build = ["build", "--locked", "--workspace", "--example", "soak", "--bin", "diffgp"];
    command::run(&mut command::cargo(".", build))?;
    let built = command::root().join("target/debug");
    let (seconds, seed) = ((60 * args.minutes).to_string(), args.seed.to_string());
    command::run(Command::new(built.join("examples/soak")).arg(built.join("diffgp")).args([seconds, seed]))
}
