//! `cargo xtask bench step`: the time of one training step next to the machine's matrix product; `bench cost`: the same
//! over a range of sizes, with memory.

use std::process::Command;

use anyhow::{Context as _, bail};

/// Builds the benchmark in release mode and runs it with `flags`; its standard output is the benchmark's alone.
///
/// Flags: `--dim --inducing --batch --paths --steps --threads` with a number each, `--per-dimension`, `--json`.
pub(crate) fn step(flags: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--release", "--quiet", "--package", "diffgp-train", "--example", "bench_step", "--"])
        .args(flags)
        .status()
        .context("running cargo")?;
    if !status.success() {
        bail!("the benchmark failed: {status}");
    }
    Ok(())
}

/// Prints the table of `docs/cost.md`: one process per row, so that each has its own peak of memory.
pub(crate) fn cost() -> anyhow::Result<()> {
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
