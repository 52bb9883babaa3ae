//! Programs of the workspace that run on the host beside the boards.

use crate::command;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// Builds them with the features that `cargo test --workspace` uses: after the tests nothing is left to build.
pub(crate) fn build() -> Result<()> {
    let arguments =
        ["build", "--locked", "--quiet", "--workspace", "--bin", "diffgp", "--example", "device_cases", "--target-dir"];
    command::run(command::cargo(".", arguments).arg(target()))
}

/// Writes the cases, see `tests/examples/device_cases.rs`.
pub(crate) fn device_cases() -> Command {
    Command::new(target().join("debug/examples/device_cases"))
}

/// The `diffgp` command.
pub(crate) fn diffgp() -> Command {
    Command::new(target().join("debug/diffgp"))
}

fn target() -> PathBuf {
    command::root().join("target")
}
