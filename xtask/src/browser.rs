//! `cargo xtask browser`: the page of `diffgp explore` in headless Chromium.
//!
//! Small models of all kinds are trained on the spot, or taken from the repository; for each, `browser/check.mjs` opens
//! its page and compares what it says with `diffgp predict`, bit for bit.

mod cases;
mod module;

use crate::{command, setup};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const TIME_LIMIT: Duration = Duration::from_secs(600);

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Accept the module of the page as the new checked-in one
    #[arg(long)]
    overwrite: bool,
    /// Leave pictures of the pages at several widths, light and dark, in target/browser/cases
    #[arg(long)]
    screenshots: bool,
    /// Only the case of this name
    #[arg(long)]
    case: Option<String>,
}

/// Whether there was a browser to look with.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Checked,
    Skipped,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    check(args).map(drop)
}

/// An error if the page is not as it should be.
pub(crate) fn check(args: &Args) -> Result<Outcome> {
    module::check(args.overwrite)?;
    if let Err(error) = tools() {
        eprintln!("\n*** SKIPPED: the page in a browser ({error:#}). What it shows is NOT checked. ***");
        return Ok(Outcome::Skipped);
    }
    let start = Instant::now();
    // With the features of `cargo test --workspace`: after the tests nothing is left to build.
    command::run(&mut command::cargo(".", ["build", "--locked", "--quiet", "--workspace", "--bin", "diffgp"]))?;
    lint()?;
    let folder = directory().join("cases");
    cases::make(&folder, args.case.as_deref())?;
    eprintln!("models, pages and predictions took {:.0} s", start.elapsed().as_secs_f64());
    let mut check = Command::new("node");
    check.current_dir(directory()).arg("check.mjs").arg(chromium()?).arg(&folder);
    if args.screenshots {
        check.arg("--screenshots");
    }
    let finished = command::run_limited(&mut check, TIME_LIMIT)?;
    eprint!("{}{}", finished.stdout, finished.stderr);
    ensure!(finished.status.success(), "the page is not as it should be");
    eprintln!("the pages took {:.0} s", start.elapsed().as_secs_f64());
    Ok(Outcome::Checked)
}

/// Where the browser is: Playwright wants its path.
fn chromium() -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join("chromium")).find(|path| path.is_file());
    found.context("there is no chromium in the PATH")
}

/// Installs Chromium, Node and what `package.json` names, beside the build, and copies the checks there.
fn tools() -> Result<()> {
    setup::browser()?;
    let directory = directory();
    fs::create_dir_all(&directory)?;
    let sources = command::root().join("xtask/browser");
    let before = fs::read(directory.join("package.json")).ok();
    for name in ["package.json", "check.mjs", "eslint.config.mjs"] {
        fs::copy(sources.join(name), directory.join(name)).with_context(|| format!("copying {name}"))?;
    }
    let wanted = fs::read(directory.join("package.json"))?;
    if before.as_ref() == Some(&wanted) && installed(&directory) {
        return Ok(());
    }
    eprintln!("setup: installing playwright-core and eslint with npm into {}", directory.display());
    let arguments = ["install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"];
    let outcome = command::run(Command::new("npm").current_dir(&directory).args(arguments));
    if outcome.is_err() {
        // Half of it would be taken for all of it the next time.
        let _ = fs::remove_file(directory.join("package.json"));
    }
    outcome.context("npm could not install playwright-core and eslint")
}

fn installed(directory: &Path) -> bool {
    ["playwright-core", "eslint"].iter().all(|name| directory.join("node_modules").join(name).exists())
}

/// The modules of the page, copied to where the linter is installed.
fn lint() -> Result<()> {
    let copies = directory().join("page");
    if copies.exists() {
        fs::remove_dir_all(&copies)?;
    }
    fs::create_dir_all(&copies)?;
    for entry in fs::read_dir(command::root().join("diffgp-cli/page"))? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|extension| extension == "js")) {
            fs::copy(&path, copies.join(name))?;
        }
    }
    let eslint = directory().join("node_modules/eslint/bin/eslint.js");
    command::run(Command::new("node").current_dir(directory()).arg(eslint).args(["--max-warnings", "0", "page"]))
}

fn directory() -> PathBuf {
    command::root().join("target/browser")
}
