//! The device crates as their users get them: packed, unpacked elsewhere, and tested with what is in the packages.

use crate::command;
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

const CRATES: [&str; 5] = ["diffgp-core", "diffgp-infer", "diffgp-link", "diffgp-slots", "diffgp-twin"];

/// They know each other by versions that are in no registry yet.
const WORKSPACE: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"diffgp-*\"]\n\n[patch.crates-io]\n";

pub(crate) fn test() -> Result<()> {
    let root = command::root().join("target/packages");
    let (packed, unpacked) = (root.join("packed"), root.join("unpacked"));
    for old in [packed.join("package"), unpacked.clone()].iter().filter(|directory| directory.exists()) {
        fs::remove_dir_all(old).with_context(|| format!("cannot clear {}", old.display()))?;
    }
    let mut package = command::cargo(".", ["package", "--quiet", "--allow-dirty", "--no-verify"]);
    package.args(CRATES.iter().flat_map(|name| ["-p", name])).arg("--target-dir").arg(&packed);
    command::run(&mut package)?;
    fs::create_dir_all(&unpacked)?;
    let mut manifest = WORKSPACE.to_owned();
    for name in CRATES {
        let stem = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let file = packed.join("package").join(format!("{stem}.crate"));
        // As files of now: packages hold dates of long ago, by which cargo would take them for those of the last time.
        command::run(Command::new("tar").arg("xmzf").arg(&file).arg("-C").arg(&unpacked))?;
        manifest += &format!("{name} = {{ path = \"{stem}\" }}\n");
    }
    fs::write(unpacked.join("Cargo.toml"), manifest)?;
    // The versions that everything else is tested with, not the newest.
    fs::copy(command::root().join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    let mut test = command::cargo("target/packages/unpacked", ["test", "--quiet", "--workspace", "--target-dir"]);
    command::run(test.arg(root.join("tested")))
}
