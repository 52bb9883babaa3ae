//! `cargo xtask bench step`: the time of one training step next to the machine's matrix product.

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
