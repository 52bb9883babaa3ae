//! Uses the packages as their tools would: CMake's for real, on the host and for a board; the others by what their tools do with
//! the files, as far as it can be done without them. `docs/c.md` says which is which.

use super::{ARDUINO, archive};
use crate::command;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CONSUMERS: &str = "diffgp-c/tests/packages";

pub(super) fn all(packages: &Path) -> Result<()> {
    cmake(packages)?;
    zephyr(packages)?;
    esp_idf(packages)?;
    arduino(packages)?;
    platformio(packages)
}

fn consumers() -> PathBuf {
    command::root().join(CONSUMERS)
}

/// A program that finds the package, built and run on the host, and built for a Cortex-M4F through a toolchain file.
fn cmake(packages: &Path) -> Result<()> {
    let (package, work) = (packages.join("cmake"), packages.join("check"));
    let configure = |name: &str, more: &[&str]| {
        let mut cmake = Command::new("cmake");
        cmake.arg("-S").arg(consumers().join("cmake")).arg("-B").arg(work.join(name)).arg("--log-level=WARNING");
        cmake.arg(format!("-Ddiffgp_DIR={}", package.display())).args(more);
        cmake
    };
    let build = |name: &str| command::capture(Command::new("cmake").arg("--build").arg(work.join(name)));
    command::capture(&mut configure("host", &[]))?;
    build("host")?;
    let said = command::capture(&mut Command::new(work.join("host/app")))?;
    ensure!(
        said.trim() == "these bytes are not a diffgp model: they do not begin with DGPm",
        "the program said {said:?}"
    );
    let board = ["-DCMAKE_TOOLCHAIN_FILE=cortex-m4f.cmake", "-DDIFFGP_TARGET=cortex-m4f-hard"];
    command::capture(&mut configure("board", &board))?;
    build("board")?;
    let symbols = command::capture(Command::new("arm-none-eabi-nm").arg(work.join("board/app")))?;
    ensure!(symbols.contains(" T diffgp_parse"), "the program for the board has no diffgp_parse");
    // What is not there is refused, with what there is.
    for (wrong, words) in [("-DDIFFGP_TARGET=z80", "expected one of"), ("-DDIFFGP_WANTED=9.0", "9.0")] {
        let refused = configure("wrong", &[wrong]).output()?;
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(!refused.status.success() && said.contains(words), "{wrong} was not refused: {said}");
        fs::remove_dir_all(work.join("wrong"))?;
    }
    println!("CMake: found, built and run on the host, built for a Cortex-M4F");
    Ok(())
}

/// What Zephyr's build does with the module's `CMakeLists.txt`, with its two functions replaced, for the processors it names.
fn zephyr(packages: &Path) -> Result<()> {
    let processors: [(&[&str], &str); 10] = [
        (&["CPU_CORTEX_M0"], "cortex-m0"),
        (&["CPU_CORTEX_M0PLUS"], "cortex-m0"),
        (&["CPU_CORTEX_M3"], "cortex-m3"),
        (&["CPU_CORTEX_M4"], "cortex-m3"),
        (&["CPU_CORTEX_M4", "FPU", "FP_HARDABI"], "cortex-m4f-hard"),
        (&["CPU_CORTEX_M7", "FPU", "FP_SOFTABI"], "cortex-m4f-softfp"),
        (&["CPU_CORTEX_M33", "FPU", "FP_HARDABI"], "cortex-m33-hard"),
        (&["CPU_CORTEX_M33"], "cortex-m3"),
        (&["RISCV", "RISCV_ISA_EXT_A"], "rv32imac"),
        (&["RISCV"], "rv32imc"),
    ];
    for (symbols, target) in processors {
        let symbols: Vec<String> = symbols.iter().map(|symbol| format!("-DCONFIG_{symbol}=y")).collect();
        chosen("zephyr", packages, &symbols, target)?;
    }
    // `build` in module.yml names a folder with a CMakeLists.txt, and a file.
    let module = fs::read_to_string(packages.join("zephyr/zephyr/module.yml"))?;
    let named = |key: &str| module.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim);
    let (folder, kconfig) = (named("cmake:").context("no cmake")?, named("kconfig:").context("no kconfig")?);
    let there = |path: &str| packages.join("zephyr").join(path).is_file();
    ensure!(there(&format!("{folder}/CMakeLists.txt")) && there(kconfig), "module.yml names what is not there");
    println!("Zephyr: a library for {} configurations", processors.len());
    Ok(())
}

fn esp_idf(packages: &Path) -> Result<()> {
    let chips = [("esp32c2", "rv32imc"), ("esp32c3", "rv32imc"), ("esp32c6", "rv32imac"), ("esp32h2", "rv32imac")];
    for (chip, target) in chips {
        let symbols = [format!("-DCONFIG_IDF_TARGET_{}=y", chip.to_uppercase()), format!("-DIDF_TARGET={chip}")];
        chosen("esp-idf", packages, &symbols, target)?;
    }
    let refused = chosen("esp-idf", packages, &["-DIDF_TARGET=esp32s3".to_owned()], "none");
    ensure!(refused.is_err(), "the component takes a chip with another processor");
    println!("ESP-IDF: a library for {} chips", chips.len());
    Ok(())
}

/// Runs a `CMakeLists.txt` with the functions of its tool replaced by ones that print, and compares what it chose.
fn chosen(package: &str, packages: &Path, symbols: &[String], target: &str) -> Result<()> {
    let mut cmake = Command::new("cmake");
    cmake.args(symbols).args(["-DCONFIG_DIFFGP=y", &format!("-DPACKAGE={}", packages.join(package).display())]);
    let said = command::capture(cmake.arg("-P").arg(consumers().join(format!("{package}.cmake"))))?;
    ensure!(said.lines().any(|line| line == format!("chosen {target}")), "{symbols:?}: {said:?}, expected {target}");
    Ok(())
}

/// The fields that the specification asks for, and the example compiled as C++ and linked with the library that the builder
/// would take for the processor, its floating-point unit and its calls.
fn arduino(packages: &Path) -> Result<()> {
    let package = packages.join("arduino");
    let text = fs::read_to_string(package.join("library.properties"))?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::trim);
    for name in ["name", "version", "author", "maintainer", "sentence", "paragraph", "category", "architectures"] {
        ensure!(field(name).is_some_and(|value| !value.is_empty()), "library.properties has no {name}");
    }
    ensure!(field("category") == Some("Data Processing") && field("precompiled") == Some("full"));
    if field("url").is_none_or(str::is_empty) {
        println!("Arduino: url is empty; --url sets it, and the library manager asks for it");
    }
    let (object, out) = (packages.join("check/sketch.o"), packages.join("check/sketch"));
    for (target, folder) in ARDUINO {
        let target = archive::named(target)?;
        // The C library that the compilers here have; without one for C++, the linking is C's.
        let specs = if target.compiler.starts_with("arm") { "-specs=nosys.specs" } else { "-specs=picolibc.specs" };
        let mut gxx = Command::new(target.compiler.replace("gcc", "g++"));
        gxx.args(target.options).args([specs, "-std=c++11", "-Os", "-Wall", "-Werror", "-fno-exceptions", "-fno-rtti"]);
        gxx.args(["-ffunction-sections", "-fdata-sections", "-include"]).arg(consumers().join("arduino.h"));
        gxx.arg("-I").arg(consumers()).arg("-I").arg(package.join("src"));
        gxx.args(["-x", "c++", "-c"]).arg(package.join("examples/Predict/Predict.ino")).arg("-o").arg(&object);
        command::capture(&mut gxx).with_context(|| format!("the sketch for src/{folder}"))?;
        let mut gcc = Command::new(target.compiler);
        gcc.args(target.options).args([specs, "-nostartfiles", "-Wl,-e,main", "-Wl,--gc-sections"]).arg(&object);
        gcc.arg("-L").arg(package.join("src").join(folder)).arg("-ldiffgp").arg("-o").arg(&out);
        command::capture(&mut gcc).with_context(|| format!("the sketch with src/{folder}"))?;
    }
    println!("Arduino: the example linked with the libraries of {} folders", ARDUINO.len());
    Ok(())
}

/// The script that chooses a library, with PlatformIO's objects replaced.
fn platformio(packages: &Path) -> Result<()> {
    let said = command::capture(
        Command::new("python3").arg(consumers().join("platformio.py")).arg(packages.join("platformio")),
    )?;
    print!("PlatformIO: {said}");
    Ok(())
}
