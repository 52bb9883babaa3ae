//! What needs a nightly compiler: fuzzing and Miri. Installed when missing, and said so.

use crate::command;
use crate::setup::NeedsInstall;
use anyhow::Result;
use std::process::Command;

/// Components of the nightly toolchain that Miri needs.
pub(crate) const MIRI: [&str; 2] = ["miri", "rust-src"];

/// `cargo` of the nightly toolchain in `directory` (relative to the root).
pub(crate) fn cargo<'a>(directory: &str, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("rustup");
    // Variables that the outer cargo set for its own compiler must not reach the other one.
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
    command.current_dir(command::root().join(directory)).args(["run", "nightly", "cargo"]).args(arguments);
    command
}

/// Installs a nightly toolchain with these components unless it is there.
pub(crate) fn toolchain(components: &[&str]) -> Result<()> {
    let list = ["component", "list", "--installed", "--toolchain", "nightly"];
    let installed = command::capture(Command::new("rustup").args(list)).ok();
    let missing = |text: &String| components.iter().any(|name| !text.lines().any(|line| line.starts_with(name)));
    if installed.as_ref().is_some_and(|text| !missing(text)) {
        return Ok(());
    }
    let mut arguments = vec!["toolchain", "install", "nightly", "--profile", "minimal"];
    for component in components {
        arguments.extend(["--component", component]);
    }
    eprintln!("setup: installing the nightly toolchain {}", components.join(", "));
    install("the nightly toolchain", Command::new("rustup").args(&arguments), "rustup", &arguments)
}

/// Installs a cargo subcommand unless it is there.
pub(crate) fn subcommand(name: &'static str) -> Result<()> {
    if command::capture(command::cargo(".", [name, "--version"]).env_remove("RUSTUP_TOOLCHAIN")).is_ok() {
        return Ok(());
    }
    let package = format!("cargo-{name}");
    eprintln!("setup: installing {package}, built from source: some minutes");
    let arguments = ["install", "--locked", &package];
    install(&package, &mut command::cargo(".", arguments), "cargo", &arguments)
}

fn install(what: &str, command: &mut Command, program: &str, arguments: &[&str]) -> Result<()> {
    let by_hand = format!("{program} {}", arguments.join(" "));
    Ok(command::run(command).map_err(|_| NeedsInstall { what: what.to_owned(), by_hand })?)
}
