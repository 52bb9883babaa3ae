//! `cargo xtask mpi`: training by several processes, over OpenMPI and over MPICH. Whatever their number, and whatever
//! happened to them on the way, a model has the bytes that one process gives.

mod cases;
mod ends;
mod measure;

use crate::{command, setup};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure instead: messages, and two ranks of one thread against one rank of two; wants an idle machine
    #[arg(long)]
    measure: bool,
    /// Check one of them alone: openmpi or mpich
    #[arg(long)]
    only: Option<String>,
}

/// The numbers of ranks.
const RANKS: [usize; 5] = [1, 2, 3, 4, 7];
/// Of one run: ranks that share cores with others are slow.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// An MPI: its name, which ends its commands too, and what `mpirun` needs to start more ranks than cores, as root too.
const MPIS: [(&str, &[&str]); 2] = [("openmpi", &["--allow-run-as-root", "--oversubscribe"]), ("mpich", &[])];

/// What was built with one of them.
struct Mpi {
    name: &'static str,
    options: &'static [&'static str],
    folder: PathBuf,
}

impl Mpi {
    /// Builds the command and the example with this MPI's compiler.
    fn build(name: &'static str, options: &'static [&'static str]) -> Result<Self> {
        let folder = directory().join(name);
        fs::create_dir_all(&folder)?;
        let compiler = format!("mpicc.{name}");
        let mut example = command::cargo("diffgp-mpi", ["build", "--locked", "--example", "exchange"]);
        command::run(example.env("MPICC", &compiler).env("CARGO_TARGET_DIR", directory().join("build")))?;
        fs::copy(directory().join("build/debug/examples/exchange"), folder.join("exchange"))?;
        // What the tests of the workspace have built is used again.
        let build = ["build", "--locked", "--package", "diffgp-cli", "--features", "mpi", "--bin", "diffgp"];
        command::run(command::cargo(".", build).env("MPICC", &compiler))?;
        fs::copy(command::root().join("target/debug/diffgp"), folder.join("diffgp"))?;
        Ok(Self { name, options, folder })
    }

    /// `mpirun` with so many ranks of a program that was built.
    fn launch(&self, ranks: usize, program: &str) -> Command {
        let mut command = Command::new(format!("mpirun.{}", self.name));
        command.args(self.options).args(["-n", &ranks.to_string()]).arg(self.folder.join(program));
        command
    }

    /// The program without `mpirun`.
    fn alone(&self, program: &str) -> Command {
        Command::new(self.folder.join(program))
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    setup::mpi()?;
    if !args.measure {
        lint()?;
    }
    let wanted = |(name, _): &&(&str, _)| args.only.as_deref().is_none_or(|only| only == *name);
    let mpis: Vec<Mpi> =
        MPIS.iter().filter(wanted).map(|&(name, options)| Mpi::build(name, options)).collect::<Result<_>>()?;
    ensure!(!mpis.is_empty(), "--only is an MPI that is not known; expected openmpi or mpich");
    if args.measure {
        return mpis.iter().try_for_each(measure::run);
    }
    for mpi in &mpis {
        eprintln!("\n=== {}", mpi.name);
        for ranks in RANKS {
            let finished = command::run_limited(&mut mpi.launch(ranks, "exchange"), TIME_LIMIT)?;
            ensure!(finished.status.success(), "{} ranks of exchange: {}", ranks, finished.stderr);
        }
        eprintln!("every exchange: {RANKS:?} ranks");
        cases::run(mpi)?;
        ends::run(mpi)?;
    }
    eprintln!("\nAll checks of training by several processes passed.");
    Ok(())
}

/// What the workspace's lints do not see.
fn lint() -> Result<()> {
    command::run(&mut command::cargo("diffgp-mpi", ["fmt", "--check"]))?;
    let lint = ["clippy", "--locked", "--all-targets", "--quiet", "--", "-Dwarnings"];
    command::run(
        command::cargo("diffgp-mpi", lint)
            .env("MPICC", "mpicc.openmpi")
            .env("CARGO_TARGET_DIR", directory().join("build")),
    )?;
    let lint = ["clippy", "--locked", "--quiet", "--package", "diffgp-cli", "--features", "mpi", "--", "-Dwarnings"];
    command::run(command::cargo(".", lint).env("MPICC", "mpicc.openmpi"))
}

/// Where everything of it is put.
fn directory() -> PathBuf {
    command::root().join("target/mpi")
}

/// An empty folder with this name.
fn fresh(name: &str) -> Result<PathBuf> {
    let folder = directory().join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The bytes of a file.
fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    fs::read(&path).with_context(|| path.display().to_string())
}

/// Runs a command of `diffgp` to its end in a folder, and fails with what it said.
fn succeed(mut command: Command, folder: &Path, arguments: &str) -> Result<command::Finished> {
    command.current_dir(folder).args(arguments.split_whitespace());
    let finished = command::run_limited(&mut command, TIME_LIMIT)?;
    ensure!(finished.status.success(), "diffgp {arguments}: {}\n{}", finished.status, finished.stderr);
    Ok(finished)
}
