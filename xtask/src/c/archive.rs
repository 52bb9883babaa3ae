//! Libraries for C, one for every target: the crate `diffgp-c/archive`, compiled.

use crate::command;
use anyhow::{Result, anyhow};
use std::path::PathBuf;

const DIRECTORY: &str = "diffgp-c/archive";

/// What a library is compiled for.
#[derive(Debug, PartialEq)]
pub(crate) struct Target {
    /// The folder of its package.
    pub(crate) name: &'static str,
    pub(crate) triple: &'static str,
    /// Flags of the Rust compiler beyond the target's.
    flags: &'static str,
    /// The compiler of C programs for it, and its flags.
    pub(crate) compiler: &'static str,
    pub(crate) options: &'static [&'static str],
}

const ARM: &str = "arm-none-eabi-gcc";
const RISCV: &str = "riscv64-unknown-elf-gcc";

/// With `softfp`, numbers are passed in integer registers and computed by the FPU. Rust has no target for that: the one
/// without an FPU, told that there is one, makes the same.
const SOFTFP: &str = "-Ctarget-feature=+vfp4d16sp";

pub(crate) const TARGETS: [Target; 8] = [
    Target {
        name: "cortex-m0",
        triple: "thumbv6m-none-eabi",
        flags: "",
        compiler: ARM,
        options: &["-mthumb", "-mcpu=cortex-m0"],
    },
    Target {
        name: "cortex-m3",
        triple: "thumbv7m-none-eabi",
        flags: "",
        compiler: ARM,
        options: &["-mthumb", "-mcpu=cortex-m3"],
    },
    Target {
        name: "cortex-m4f-hard",
        triple: "thumbv7em-none-eabihf",
        flags: "",
        compiler: ARM,
        options: &["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
    },
    Target {
        name: "cortex-m4f-softfp",
        triple: "thumbv7em-none-eabi",
        flags: SOFTFP,
        compiler: ARM,
        options: &["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=softfp"],
    },
    Target {
        name: "cortex-m33-hard",
        triple: "thumbv8m.main-none-eabihf",
        flags: "",
        compiler: ARM,
        options: &["-mthumb", "-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"],
    },
    Target {
        name: "rv32imc",
        triple: "riscv32imc-unknown-none-elf",
        flags: "",
        compiler: RISCV,
        options: &["-march=rv32imc", "-mabi=ilp32"],
    },
    Target {
        name: "rv32imac",
        triple: "riscv32imac-unknown-none-elf",
        flags: "",
        compiler: RISCV,
        options: &["-march=rv32imac", "-mabi=ilp32"],
    },
    Target { name: "x86_64-linux", triple: "x86_64-unknown-linux-gnu", flags: "", compiler: "gcc", options: &[] },
];

/// The target of that name.
pub(crate) fn named(name: &str) -> Result<&'static Target> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| anyhow!("no library for {name:?}"))
}

/// Builds `libdiffgp.a`: for every model there is, or (`bare`) for real targets in f32 alone.
pub(crate) fn build(target: &Target, bare: bool) -> Result<PathBuf> {
    // A folder of its own for what is not the default: the files have the same names.
    let folder = if bare { "target/bare" } else { "target" };
    let mut cargo = command::cargo(DIRECTORY, ["build", "--locked", "--quiet", "--release", "--target", target.triple]);
    cargo.args(["--target-dir", folder]).env("RUSTFLAGS", target.flags);
    if bare {
        cargo.args(["--no-default-features", "--features", "single"]);
    }
    command::run(&mut cargo)?;
    Ok(command::root().join(DIRECTORY).join(folder).join(target.triple).join("release/libdiffgp.a"))
}

/// Where `diffgp.h` is.
pub(crate) fn include() -> PathBuf {
    command::root().join("diffgp-c/include")
}
