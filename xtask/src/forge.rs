//! `cargo xtask forge`: sends forged, replayed, truncated and older models to a device that takes signed ones
//! (`diffgp-slots/examples/forgeries`), and counts.

use crate::command;
use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many
    #[arg(long, default_value_t = 1_000_000)]
    tries: u64,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let example = ["--release", "--quiet", "-p", "diffgp-slots", "--features", "signatures", "--example", "forgeries"];
    let mut cargo = command::cargo(".", ["run", "--locked"]);
    command::run(cargo.args(example).arg("--").arg(args.tries.to_string()))
}
