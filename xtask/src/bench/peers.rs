//! `cargo xtask bench peers`: what CMSIS-DSP, which a C team would use instead, takes on the emulated Cortex-M4F for the
//! arithmetic of a prediction, beside ours.
//!
//! Its sources come with the Python package `cmsisdsp`, which pip unpacks; nothing of it is kept in the repository.

use crate::command;
use crate::qemu;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "1.10.3";
const SOURCES: [&str; 3] = [
    "SVMFunctions/arm_svm_rbf_init_f32.c",
    "SVMFunctions/arm_svm_rbf_predict_f32.c",
    "MatrixFunctions/arm_mat_vec_mult_f32.c",
];

/// Ways to compile it: as its users do, and with its own switch for speed.
const WAYS: [(&str, &[&str]); 3] =
    [("-O2", &["-O2"]), ("-O3", &["-O3"]), ("-O3, loops unrolled", &["-O3", "-DARM_MATH_LOOPUNROLL"])];

pub(super) fn run() -> Result<()> {
    let library = library()?;
    let board = qemu::board("m4f").map_err(anyhow::Error::msg)?;
    let (rbf, mac) = qemu::recorded_arithmetic("m4f")?;
    println!(
        "| Cortex-M4F, instructions | 100 RBF kernels of 8 inputs | matrix 100 × 100, per multiply-add |\n|---|---|---|"
    );
    for (name, flags) in WAYS {
        let image = compile(&library, flags)?;
        let finished = qemu::run_image(board, &image, &[])?;
        ensure!(finished.status.success(), "CMSIS-DSP computes something else: {}", finished.stdout);
        let ticks = |name| -> Result<f64> {
            Ok(f64::from(*qemu::numbers(&finished.stdout, name)?.first().context("no number")?))
        };
        // 1000 instructions that do nothing: how long one is, and the two that read the counter.
        let instruction = ticks("ticks-nops")? / 1000.0;
        let (kernels, matrix) = (ticks("ticks-rbf")? / instruction, ticks("ticks-matrix")? / instruction);
        println!("| CMSIS-DSP {VERSION}, {name} | {kernels:.0} | {:.2} |", matrix / 10_000.0);
    }
    println!("| diffgp | {rbf} | {mac:.2} |");
    Ok(())
}

/// The folder of the library's sources.
fn library() -> Result<PathBuf> {
    let folder = command::root().join("target/peers");
    fs::create_dir_all(&folder)?;
    if let Some(found) = find(&folder, SOURCES[0])? {
        return Ok(found);
    }
    // Preparing the package for Python fails without its build requirements: its sources are unpacked by then.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-clean", "--no-build-isolation"]);
    pip.args(["--no-binary", ":all:", &format!("cmsisdsp=={VERSION}")]);
    let said = pip.env("TMPDIR", &folder).current_dir(&folder).output().context("python3 is not there")?;
    match find(&folder, SOURCES[0])? {
        Some(found) => Ok(found),
        None => bail!("pip does not bring the sources of CMSIS-DSP: {}", String::from_utf8_lossy(&said.stderr)),
    }
}

/// The folder above `Source/` with this file.
fn find(folder: &Path, file: &str) -> Result<Option<PathBuf>> {
    if folder.join("Source").join(file).is_file() {
        return Ok(Some(folder.to_owned()));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Two folders of pip's and the package.
        if entry.file_type()?.is_dir()
            && entry.file_name() != "Source"
            && let Some(found) = find(&entry.path(), file)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn compile(library: &Path, flags: &[&str]) -> Result<PathBuf> {
    let image = command::root().join("target/peers/image");
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(command::root().join("firmware-example/c"));
    gcc.args(["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-specs=nano.specs"]);
    gcc.args(["-nostartfiles", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]);
    // Without the headers of CMSIS-Core, of which these functions need nothing.
    gcc.arg("-D__GNUC_PYTHON__").args(flags);
    for include in ["Include", "PrivateInclude"] {
        gcc.arg("-I").arg(library.join(include));
    }
    gcc.args(["peers.c", "board.c", "startup_cortex_m.c"]).args(SOURCES.map(|file| library.join("Source").join(file)));
    gcc.args(["-T../boards/m4f.x", "-Tsections.ld", "-lm", "-o"]).arg(&image);
    command::run(&mut gcc)?;
    Ok(image)
}
