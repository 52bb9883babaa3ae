//! `cargo xtask python`: the package for Python, built, installed and tested in a virtual environment of its own.
//!
//! What is tested is a wheel, so that all that belongs to it is in it. It is built as the tests of the workspace are, with
//! every check on and most of it built already.

use crate::{command, setup};
use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the tests need beside the package.
const TOOLS: [&str; 7] = ["maturin>=1.16,<2", "numpy", "scikit-learn>=1.6", "pandas", "joblib", "pytest", "mypy"];
const PACKAGE: &str = "diffgp-python";
const TIME_LIMIT: Duration = Duration::from_secs(900);

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only tests whose names hold this
    #[arg(long)]
    filter: Option<String>,
}

pub(crate) fn run(args: &Args, warnings: &str) -> Result<()> {
    let environment = environment()?;
    command::run(&mut command::cargo(PACKAGE, ["fmt", "--check"]))?;
    let mut lint = command::cargo(PACKAGE, ["clippy", "--locked", "--quiet", "--", warnings]);
    command::run(lint.env("CARGO_TARGET_DIR", command::root().join("target")))?;
    // With the features of `cargo test --workspace`: after the tests nothing is left to build.
    command::run(&mut command::cargo(".", ["build", "--locked", "--quiet", "--workspace", "--bin", "diffgp"]))?;
    let wheel = build(&environment, &["--profile", "dev"], &directory().join("wheels"))?;
    environment.install(&[OsStr::new("--no-deps"), OsStr::new("--force-reinstall"), wheel.as_os_str()])?;
    let mut tests = environment.python();
    // Where the sources are not: what is imported is what was installed.
    tests.current_dir(command::root().join(PACKAGE).join("tests")).args(["-m", "pytest", "--quiet", "--durations=5"]);
    tests.args(["-p", "no:cacheprovider", "-s", "."]).env("PYTHONDONTWRITEBYTECODE", "1");
    tests.env("DIFFGP_COMMAND", command::root().join("target/debug/diffgp"));
    if let Some(filter) = &args.filter {
        tests.args(["-k", filter]);
    }
    let finished = command::run_limited(&mut tests, TIME_LIMIT)?;
    eprint!("{}{}", finished.stdout, finished.stderr);
    ensure!(finished.status.success(), "the package for Python is not as it should be");
    Ok(())
}

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Makes it anew.
    pub(crate) fn create(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        command::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let environment = Self { folder };
        environment.install(&["--upgrade", "pip"].map(OsStr::new))?;
        Ok(environment)
    }

    pub(crate) fn python(&self) -> Command {
        Command::new(self.folder.join("bin/python"))
    }

    pub(crate) fn install(&self, what: &[&OsStr]) -> Result<()> {
        let mut install = self.python();
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(what);
        command::run(&mut install)
    }
}

/// The environment of the tests, made the first time and when its tools change.
pub(crate) fn environment() -> Result<Environment> {
    setup::python()?;
    let folder = directory().join("environment");
    let (marker, wanted) = (folder.join("tools.txt"), TOOLS.join("\n"));
    if fs::read_to_string(&marker).is_ok_and(|known| known == wanted) {
        return Ok(Environment { folder });
    }
    eprintln!("setup: making a virtual environment of Python in {}", folder.display());
    let environment = Environment::create(folder)?;
    environment.install(&TOOLS.map(OsStr::new))?;
    fs::write(marker, wanted)?;
    Ok(environment)
}

/// Builds a wheel into an empty folder.
pub(crate) fn build(environment: &Environment, options: &[&str], folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut maturin = environment.python();
    maturin.current_dir(command::root().join(PACKAGE)).args(["-m", "maturin", "build", "--locked", "--quiet"]);
    maturin.args(options).arg("--out").arg(folder).env("CARGO_TARGET_DIR", command::root().join("target"));
    command::run(&mut maturin)?;
    let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|path| path.extension().is_some_and(|extension| extension == "whl")).context("maturin made no wheel")
}

/// Where everything of Python is put.
pub(crate) fn directory() -> PathBuf {
    command::root().join("target/python")
}
