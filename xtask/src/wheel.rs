//! `cargo xtask wheel`: the package for Python as a wheel that other machines install, tried in a fresh environment.

use crate::{command, python};
use anyhow::Result;
use std::ffi::OsStr;
use std::fs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Oldest glibc that the wheel runs with, as in manylinux_2_34 or manylinux2014; older ones than this machine's need
    /// Zig, which is installed with pip
    #[arg(long)]
    compatibility: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let environment = python::environment()?;
    let mut options = vec!["--release"];
    if let Some(compatibility) = &args.compatibility {
        environment.install(&[OsStr::new("ziglang")])?;
        options.extend(["--zig", "--compatibility", compatibility]);
    }
    let wheel = python::build(&environment, &options, &python::directory().join("release"))?;
    // Whoever follows the tutorial has nothing else.
    let fresh = python::Environment::create(python::directory().join("fresh"))?;
    fresh.install(&[wheel.as_os_str(), OsStr::new("pandas")])?;
    let place = python::directory().join("tutorial");
    fs::create_dir_all(&place)?;
    let mut tutorial = fresh.python();
    tutorial.current_dir(&place).args(["-W", "ignore", "-m", "doctest"]);
    command::run(tutorial.arg(command::root().join("docs/python.md")))?;
    println!("{} ({} KiB)", wheel.display(), fs::metadata(&wheel)?.len() / 1024);
    Ok(())
}
