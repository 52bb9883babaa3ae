//! `cargo xtask bench step`: the time of one training step next to the machine's matrix product.

use anyhow::Result;

use crate::command;

#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    /// One training step in f32 next to a plain matrix product, in milliseconds and GFLOP/s
    Step {
        /// --dim --inducing --batch --paths --steps --threads with a number each; --per-dimension; --json
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        flags: Vec<String>,
    },
}

/// Builds the benchmark in release mode and runs it; standard output is the benchmark's alone.
pub(crate) fn run(what: Bench) -> Result<()> {
    let Bench::Step { flags } = what;
    let arguments = ["run", "--locked", "--release", "--quiet", "-p", "diffgp-train", "--example", "bench_step", "--"];
    command::run(command::cargo(".", arguments).args(flags))
}
