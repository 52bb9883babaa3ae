//! Developer commands of diffgp: `cargo xtask test` checks everything, the others are its parts.

mod bench;
mod browser;
mod c;
mod command;
mod cost;
mod deny;
mod forge;
mod fuzz;
mod header;
mod miri;
mod mpi;
mod nightly;
mod packages;
mod python;
mod qemu;
mod reproduce;
mod setup;
mod soak;
mod test;
mod wheel;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer commands of diffgp")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the other commands need: Rust targets and QEMU
    Setup,
    /// Format, lints, tests, docs, no_std builds and the boards under QEMU
    Test(test::Args),
    /// Run the firmware on emulated boards: compare bits with the host, measure instructions and memory
    Qemu(qemu::Args),
    /// Open the pages of `diffgp explore` in headless Chromium: the same bits, no request, text that stays text
    Browser(browser::Args),
    /// Count instructions over random models of all shapes, and fit what `diffgp inspect` estimates from; takes minutes
    Cost,
    /// Measure the trainer
    #[command(subcommand)]
    Bench(bench::Bench),
    /// The paper's experiments: trains what is not finished, then writes docs/results
    #[command(subcommand)]
    Reproduce(reproduce::Experiment),
    /// Fuzz the parsers of models, frames and CSV files; needs nightly
    Fuzz(fuzz::Args),
    /// Attack everything that takes bytes from elsewhere, for some minutes, and print counts
    Soak(soak::Args),
    /// Send forged, replayed, truncated and older models to a device that takes signed ones, and count
    Forge(forge::Args),
    /// Run the tests of the device's crates under Miri; needs nightly
    Miri,
    /// Training by several processes, over OpenMPI and MPICH: the same bytes whatever their number; minutes
    Mpi(mpi::Args),
    /// Check licences, sources and duplicates of all dependencies
    Deny,
    /// The C interface: its tests under sanitizers, and the example in C on emulated boards
    C(c::Args),
    /// Make the libraries and packages for C projects; writes target/package-c
    PackageC(c::package::Args),
    /// Make the C header of the sources of diffgp-c; builds cbindgen the first time
    Header,
    /// The package for Python, built, installed and tested in a virtual environment that this makes
    Python(python::Args),
    /// Build a wheel of the package for Python, and follow its tutorial in a fresh environment
    Wheel(wheel::Args),
    /// What continuous integration runs: the same as `test`
    Ci,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Setup => setup::run(setup::Need::Everything),
        Task::Test(args) => test::run(args),
        Task::Qemu(args) => qemu::run(args),
        Task::Browser(args) => browser::run(&args),
        Task::Cost => cost::run(),
        Task::Bench(what) => bench::run(what),
        Task::Reproduce(experiment) => reproduce::run(&experiment),
        Task::Fuzz(args) => fuzz::run(args),
        Task::Soak(args) => soak::run(args),
        Task::Forge(args) => forge::run(args),
        Task::Miri => miri::run(),
        Task::Mpi(args) => mpi::run(&args),
        Task::Deny => deny::run(),
        Task::C(args) => c::run(&args),
        Task::PackageC(args) => c::package::run(&args),
        Task::Header => header::run(),
        Task::Python(args) => python::run(&args, "-Dwarnings"),
        Task::Wheel(args) => wheel::run(&args),
        Task::Ci => test::run(test::Args::default()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            // 2 asks the caller for something (install, correct usage); 1 is a failed check.
            if error.is::<setup::NeedsInstall>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
