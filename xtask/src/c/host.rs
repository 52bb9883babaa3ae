//! The C interface on the host: as C99 and C++11 without a warning, its tests under sanitizers, a fuzz driver.

use super::archive;
use crate::command;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SOURCES: &str = "diffgp-c/tests/c";
/// Trained models of every kind.
const MODELS: [&str; 2] = ["diffgp-infer/models", "tests/blobs"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
/// A model for which there is a signature, counter 7, by the secret key 000102…1f (`diffgp sign`), and another one.
const UPDATES: [&str; 2] = ["diffgp-slots/models/steps.dgp", "diffgp-infer/models/v2-ring.dgp"];
/// Seconds of fuzzing among the tests; `cargo xtask fuzz --target c` goes on as long as one likes.
const SECONDS: u64 = 5;

pub(crate) fn test() -> Result<()> {
    let models = models()?;
    let library = archive::build(archive::named("x86_64-linux")?, false)?;
    let header = archive::include().join("diffgp.h");
    for (language, standard) in [("c", "-std=c99"), ("c++", "-std=c++11")] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", standard, "-x", language]);
        command::run(gcc.arg(&header))?;
    }
    let api = compile("api", &library)?;
    let finished = command::run_limited(Command::new(&api).args(&models), Duration::from_secs(300))?;
    ensure!(finished.status.success(), "{}", finished.stderr);
    println!("C interface under sanitizers: {}", finished.stdout.trim());
    println!("updates of models under sanitizers: {}", updates(&library)?);
    println!("C fuzz driver: {}", fuzz(SECONDS)?);
    Ok(())
}

/// Updates over a flash in memory: two models, and the first with its signature behind it.
fn updates(library: &Path) -> Result<String> {
    let root = command::root();
    let [old, new] = UPDATES.map(|model| root.join(model));
    let signed = root.join("target/c/signed.bin");
    let signature = fs::read(root.join(SOURCES).join("steps.dgp.sig"))?;
    fs::write(&signed, [fs::read(&old)?, signature].concat())?;
    let test = compile("slots", library)?;
    let finished = command::run_limited(Command::new(&test).args([old, new, signed]), Duration::from_secs(300))?;
    ensure!(finished.status.success(), "{}", finished.stderr);
    Ok(finished.stdout.trim().to_owned())
}

/// Runs the fuzz driver; what it did.
pub(crate) fn fuzz(seconds: u64) -> Result<String> {
    let library = archive::build(archive::named("x86_64-linux")?, false)?;
    let driver = compile("fuzz", &library)?;
    let mut driver = Command::new(driver);
    driver.args([&seconds.to_string(), "1"]).args(models()?);
    let finished = command::run_limited(&mut driver, Duration::from_secs(seconds + 300))?;
    ensure!(finished.status.success(), "{}\n{}", finished.status, finished.stderr);
    Ok(finished.stdout.trim().to_owned())
}

fn compile(program: &str, library: &Path) -> Result<PathBuf> {
    let folder = command::root().join("target/c");
    fs::create_dir_all(&folder)?;
    let out = folder.join(program);
    let mut gcc = Command::new("gcc");
    gcc.current_dir(command::root().join(SOURCES)).args(SANITIZERS);
    gcc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", &format!("{program}.c"), "-I"]);
    command::run(gcc.arg(archive::include()).arg(library).args(["-lm", "-o"]).arg(&out))?;
    Ok(out)
}

fn models() -> Result<Vec<PathBuf>> {
    let mut models = Vec::new();
    for folder in MODELS {
        let entries = fs::read_dir(command::root().join(folder))?;
        models.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    models.retain(|path| path.extension().is_some_and(|extension| extension == "dgp"));
    models.sort();
    Ok(models)
}
