//! The runtime as WebAssembly under Node: the same cases, the same bits.

use super::cases::Case;
use super::measure::compare;
use crate::command;
use anyhow::{Context, Result, ensure};
use std::process::Command;
use std::time::Duration;

const DIRECTORY: &str = "firmware-example/wasm";
const TIME_LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(cases: &[Case]) -> Result<()> {
    eprintln!("WebAssembly");
    let arguments = ["build", "--locked", "--quiet", "--release", "--target", "wasm32-unknown-unknown"];
    command::run(&mut command::cargo(DIRECTORY, arguments))?;
    let directory = command::root().join(DIRECTORY);
    // Instantiated without imports: had the module asked for an allocator or anything else, Node would refuse it.
    let module = directory.join("target/wasm32-unknown-unknown/release/diffgp_wasm.wasm");
    for case in cases {
        let mut node = Command::new("node");
        node.arg(directory.join("run.mjs")).arg(&module).arg(&case.model).arg(&case.job);
        let finished = command::run_limited(&mut node, TIME_LIMIT)?;
        ensure!(finished.status.success(), "case {}: {}", case.name, finished.stderr);
        compare(&case.expected, &finished.stdout).with_context(|| format!("wasm32, case {}", case.name))?;
    }
    Ok(())
}
