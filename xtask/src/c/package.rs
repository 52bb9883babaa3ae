//! `cargo xtask package-c`: the libraries, and the folders that the tools of firmware teams take: CMake, Zephyr, Arduino,
//! PlatformIO, ESP-IDF. Their fixed files are in `diffgp-c/packages`; this puts header and libraries where each tool looks.

mod check;

use super::archive::{self, TARGETS, Target};
use crate::{command, setup};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TEMPLATES: &str = "diffgp-c/packages";

/// Where Arduino's builder looks for a precompiled library: the processor, then its floating-point unit and calls. Without a
/// folder for those it takes the processor's own.
const ARDUINO: [(&str, &str); 15] = [
    ("cortex-m0", "cortex-m0"),
    ("cortex-m0", "cortex-m0plus"),
    ("cortex-m3", "cortex-m3"),
    ("cortex-m3", "cortex-m4"),
    ("cortex-m4f-hard", "cortex-m4/fpv4-sp-d16-hard"),
    ("cortex-m4f-softfp", "cortex-m4/fpv4-sp-d16-softfp"),
    ("cortex-m3", "cortex-m7"),
    ("cortex-m4f-hard", "cortex-m7/fpv4-sp-d16-hard"),
    ("cortex-m4f-hard", "cortex-m7/fpv5-d16-hard"),
    ("cortex-m4f-softfp", "cortex-m7/fpv5-d16-softfp"),
    ("cortex-m33-hard", "cortex-m33/fpv5-sp-d16-hard"),
    ("rv32imc", "esp32c2"),
    ("rv32imc", "esp32c3"),
    ("rv32imac", "esp32c6"),
    ("rv32imac", "esp32h2"),
];

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// The project's page, for the packages whose tools ask for one
    #[arg(long, default_value = "")]
    url: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    setup::run(setup::Need::RustOnly)?;
    setup::c_compilers()?;
    setup::cmake()?;
    let out = command::root().join("target/package-c");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot clear {}", out.display()))?;
    }
    let mut libraries = Vec::new();
    for target in &TARGETS {
        libraries.push((target, stripped(target, &out.join("lib").join(target.name))?));
    }
    for package in ["cmake", "zephyr", "arduino", "platformio", "esp-idf"] {
        let folder = out.join(package);
        copy_folder(&command::root().join(TEMPLATES).join(package), &folder, &args.url)?;
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(command::root().join(licence), folder.join(licence))?;
        }
        let headers = folder.join(if package == "arduino" { "src" } else { "include" });
        fs::create_dir_all(&headers)?;
        fs::copy(archive::include().join("diffgp.h"), headers.join("diffgp.h"))?;
        for (target, library) in &libraries {
            for place in places(package, target) {
                let place = folder.join(place);
                fs::create_dir_all(&place)?;
                fs::copy(library, place.join("libdiffgp.a"))?;
            }
        }
        let packed = out.join(format!("diffgp-{package}-{}.tar.gz", env!("CARGO_PKG_VERSION")));
        // Tools name a library by its folder.
        let mut tar = Command::new("tar");
        tar.arg("czf").arg(&packed).arg("-C").arg(&out).arg(format!("--transform=s/^{package}/diffgp/"));
        command::run(tar.arg(package))?;
    }
    check::all(&out)?;
    for (target, library) in &libraries {
        println!("{:<20} {:>7} KiB", target.name, fs::metadata(library)?.len() >> 10);
    }
    println!("{}", out.display());
    Ok(())
}

/// Where a package has the library of a target; nowhere if its tool knows no such processor.
fn places(package: &str, target: &Target) -> Vec<String> {
    let lib = vec![format!("lib/{}", target.name)];
    match package {
        "arduino" => {
            let own = ARDUINO.iter().filter(|(name, _)| *name == target.name);
            own.map(|(_, folder)| format!("src/{folder}")).collect()
        }
        // The chips with RISC-V cores; those with Xtensa cores need another compiler.
        "esp-idf" if !target.name.starts_with("rv32") => Vec::new(),
        // Neither builds for the host.
        "zephyr" if target.name == "x86_64-linux" => Vec::new(),
        _ => lib,
    }
}

/// The library without what debuggers need, which is nine tenths of it.
fn stripped(target: &Target, folder: &Path) -> Result<PathBuf> {
    let library = archive::build(target, false)?;
    fs::create_dir_all(folder)?;
    let copy = folder.join("libdiffgp.a");
    let tool = target.compiler.strip_suffix("gcc").context("a compiler of another name")?;
    command::run(Command::new(format!("{tool}strip")).arg("-g").arg("-o").arg(&copy).arg(&library))?;
    let symbols = command::capture(Command::new(format!("{tool}nm")).arg("--defined-only").arg(&copy))?;
    ensure!(symbols.contains(" T diffgp_predict"), "{} has no functions", copy.display());
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path, url: &str) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let (path, name) = {
            let entry = entry?;
            (entry.path(), entry.file_name())
        };
        if path.is_dir() {
            copy_folder(&path, &to.join(name), url)?;
        } else {
            let text = fs::read_to_string(&path)?.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@URL@", url);
            fs::write(to.join(name), text)?;
        }
    }
    Ok(())
}
