//! `cargo xtask bench step`: the time of one training step next to the machine's matrix product; `bench cost`: the same
//! over a range of sizes, with memory; `bench peers` and `bench verify`: what is counted on boards.

mod peers;
mod verify;

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
    /// The table of docs/cost.md: time and memory against every size
    Cost,
    /// What CMSIS-DSP takes on the emulated Cortex-M4F for the arithmetic of a prediction; pip brings its sources
    Peers,
    /// What the verification of a signed model costs on Cortex-M0 and M4F: the table of docs/security.md
    Verify,
}

pub(crate) fn run(what: Bench) -> Result<()> {
    match what {
        Bench::Step { flags } => step(&flags),
        Bench::Cost => cost(),
        Bench::Peers => peers::run(),
        Bench::Verify => verify::run(),
    }
}

/// Builds the benchmark in release mode and runs it; standard output is the benchmark's alone.
fn step(flags: &[String]) -> Result<()> {
    let arguments = ["run", "--locked", "--release", "--quiet", "-p", "diffgp-train", "--example", "bench_step", "--"];
    command::run(command::cargo(".", arguments).args(flags))
}

/// One process per row, so that each has its own peak of memory.
fn cost() -> Result<()> {
    println!("| D | P | M | B | S | K | ms per step | peak MiB |\n|---|---|---|---|---|---|---|---|");
    let sizes: [&[&str]; 12] = [
        &[],
        &["--batch", "250"],
        &["--batch", "4000"],
        &["--dim", "4"],
        &["--dim", "16"],
        &["--inducing", "50"],
        &["--inducing", "200"],
        &["--paths", "4"],
        &["--steps", "5"],
        &["--steps", "80"],
        &["--per-dimension"],
        &["--per-dimension", "--dim", "16"],
    ];
    for flags in sizes {
        let flags: Vec<String> = flags.iter().chain(&["--markdown"]).map(|&flag| flag.to_owned()).collect();
        step(&flags)?;
    }
    Ok(())
}
