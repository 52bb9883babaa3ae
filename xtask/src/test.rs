//! `cargo xtask test`: every check of the project, in the order in which a mistake is cheapest to find.

use crate::{command, packages, qemu, setup};
use anyhow::Result;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Leave out the emulated boards (and do not install QEMU)
    #[arg(long)]
    no_qemu: bool,
}

pub(crate) fn run(args: Args) -> Result<()> {
    step("setup");
    setup::run(if args.no_qemu { setup::Need::RustOnly } else { setup::Need::Everything })?;
    step("format");
    for directory in [".", "firmware-example", "firmware-example/wasm", "fuzz"] {
        command::run(&mut command::cargo(directory, ["fmt", "--all", "--check"]))?;
    }
    step("lints");
    let warnings = warnings()?;
    command::run(&mut command::cargo(".", ["clippy", "--locked", "--workspace", "--all-targets", "--", warnings]))?;
    qemu::lint_firmware(warnings)?;
    step("tests");
    // Documentation tests run here too.
    command::run(&mut command::cargo(".", ["test", "--locked", "--workspace"]))?;
    step("runtime without std");
    runtime_for_every_target(warnings)?;
    step("packages of the device crates");
    packages::test()?;
    step("documentation");
    let mut doc = command::cargo(".", ["doc", "--locked", "--workspace", "--no-deps"]);
    command::run(doc.env("RUSTDOCFLAGS", warnings))?;
    step("firmware");
    qemu::check_images()?;
    if args.no_qemu {
        eprintln!(
            "\n*** SKIPPED: the boards under QEMU (--no-qemu). Bits, instructions and memory are NOT checked. ***"
        );
        return Ok(());
    }
    step("boards");
    qemu::run(qemu::Args::default())?;
    eprintln!("\nAll checks passed.");
    Ok(())
}

/// The compiler's flag: warnings are errors with the compiler that the figures of the boards were made with. Another may
/// have lints that nobody could follow yet; its warnings are shown.
fn warnings() -> Result<&'static str> {
    let (here, recorded) = (qemu::rustc()?, qemu::recorded_rustc()?);
    if here == recorded {
        return Ok("-Dwarnings");
    }
    eprintln!("here is {here}, not {recorded}: its warnings are shown, but are no errors");
    Ok("-Wwarnings")
}

/// A warning on one target counts as much as one on all.
fn runtime_for_every_target(warnings: &str) -> Result<()> {
    for target in setup::TARGETS {
        let mut build = command::cargo(".", ["build", "--locked", "--release", "--target", target]);
        command::run(
            build.args(["-p", "diffgp-core", "-p", "diffgp-infer", "-p", "diffgp-slots"]).env("RUSTFLAGS", warnings),
        )?;
    }
    // What can be left out, and what can be added.
    for features in [&["--no-default-features"][..], &["--features", "diffgp-infer/defmt"]] {
        let mut build = command::cargo(".", ["build", "--locked", "--release", "--target", "thumbv7em-none-eabihf"]);
        command::run(build.args(["-p", "diffgp-infer"]).args(features).env("RUSTFLAGS", warnings))?;
    }
    Ok(())
}

fn step(name: &str) {
    eprintln!("\n=== {name}");
}
