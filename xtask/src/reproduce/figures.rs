//! The paper's pictures.

use std::process::Command;

use anyhow::{Context, Result};

use super::run::build;
use crate::command;

/// What the flow does to one input with steps: `diffgp demo` draws it.
pub(super) fn step() -> Result<()> {
    build()?;
    let scratch = command::root().join("target/reproduce-step");
    std::fs::create_dir_all(&scratch)?;
    let mut diffgp = Command::new(command::root().join("target/release/diffgp"));
    command::run(diffgp.current_dir(&scratch).args(["demo", "--dir", "."]))?;
    for picture in ["comparison.svg", "flow.svg"] {
        let kept = format!("docs/results/step-{picture}");
        std::fs::copy(scratch.join(picture), command::root().join(&kept))
            .with_context(|| format!("the demo did not write {picture}"))?;
        eprintln!("wrote {kept}");
    }
    Ok(())
}

/// Rank of deep and differential priors, and the parts of a flow.
pub(super) fn rank() -> Result<()> {
    let example = ["run", "--locked", "--release", "--quiet", "-p", "diffgp-train", "--example", "prior", "--"];
    command::run(command::cargo(".", example).arg("docs/results"))
}
