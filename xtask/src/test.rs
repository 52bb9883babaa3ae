//! `cargo xtask test`: every check of the project, in the order in which a mistake is cheapest to find.

use crate::{browser, c, command, packages, python, qemu, setup};
use anyhow::Result;
use std::fs;
use std::path::Path;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Leave out the emulated boards (and do not install QEMU)
    #[arg(long)]
    no_qemu: bool,
    /// Leave out the page in a browser (and do not install Chromium)
    #[arg(long)]
    no_browser: bool,
    /// Leave out what is compiled from C (and do not install its compilers)
    #[arg(long)]
    no_c: bool,
    /// Leave out the package for Python (and do not make its virtual environment)
    #[arg(long)]
    no_python: bool,
}

/// With Parquet files, which are left out by default.
const PARQUET: [&str; 2] = ["--features", "diffgp-train/parquet,diffgp-cli/parquet"];

pub(crate) fn run(args: Args) -> Result<()> {
    step("setup");
    setup::run(if args.no_qemu { setup::Need::RustOnly } else { setup::Need::Everything })?;
    step("format");
    for directory in [".", "diffgp-c/archive", "diffgp-c/header", "firmware-example", "firmware-example/wasm", "fuzz"] {
        command::run(&mut command::cargo(directory, ["fmt", "--all", "--check"]))?;
    }
    step("lints");
    let warnings = warnings()?;
    let mut clippy = command::cargo(".", ["clippy", "--locked", "--workspace", "--all-targets"]);
    command::run(clippy.args(PARQUET).args(["--", warnings]))?;
    qemu::lint_firmware(warnings)?;
    step("tests");
    // Documentation tests run here too.
    let skipped = command::root().join("target/skipped-tests.txt");
    let _ = fs::remove_file(&skipped);
    command::run(command::cargo(".", ["test", "--locked", "--workspace"]).env("DIFFGP_SKIPPED", &skipped))?;
    // Again with Parquet, what is about tables.
    let mut tables =
        command::cargo(".", ["test", "--locked", "-p", "diffgp-train", "-p", "diffgp-cli", "-p", "diffgp-tests"]);
    command::run(tables.args(PARQUET).args(["--tests", "table"]))?;
    if args.no_python {
        eprintln!(
            "\n*** SKIPPED: the package for Python (--no-python). Estimators, bits and types are NOT checked. ***"
        );
    } else {
        step("Python");
        python::run(&python::Args::default(), warnings)?;
    }
    let page_checked = if args.no_browser {
        eprintln!("\n*** SKIPPED: the page in a browser (--no-browser). What it shows is NOT checked. ***");
        false
    } else {
        step("page");
        browser::check(&browser::Args::default())? == browser::Outcome::Checked
    };
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
        eprintln!("*** SKIPPED with them: the C interface. Header, library and bits in C are NOT checked. ***");
        say_skipped(&skipped);
        return Ok(());
    }
    step("boards");
    qemu::run(qemu::Args::default())?;
    if args.no_c {
        eprintln!("\n*** SKIPPED: the C interface (--no-c). Header, library and bits in C are NOT checked. ***");
    } else {
        step("C");
        c::run(&c::Args::default())?;
    }
    say_skipped(&skipped);
    if !args.no_c && !args.no_python && page_checked {
        eprintln!("\nAll checks passed.");
    }
    Ok(())
}

/// Tests that did not test, because data or rights are not there: `cargo test` says `ok` of them.
fn say_skipped(noted: &Path) {
    let noted = fs::read_to_string(noted).unwrap_or_default();
    eprintln!("\nTests that were skipped: {}", noted.lines().count());
    noted.lines().for_each(|line| eprintln!("    {line}"));
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
    let [single, fixed] = ["single", "fixed"].map(|arithmetic| ["--no-default-features", "--features", arithmetic]);
    for features in [&single[..], &fixed, &["--features", "diffgp-infer/defmt"]] {
        let mut build = command::cargo(".", ["build", "--locked", "--release", "--target", "thumbv7em-none-eabihf"]);
        command::run(build.args(["-p", "diffgp-infer"]).args(features).env("RUSTFLAGS", warnings))?;
    }
    let mut build = command::cargo(".", ["build", "--locked", "--release", "--target", "thumbv6m-none-eabi"]);
    command::run(build.args(["-p", "diffgp-link", "--features", "async"]).env("RUSTFLAGS", warnings))?;
    Ok(())
}

fn step(name: &str) {
    eprintln!("\n=== {name}");
}
