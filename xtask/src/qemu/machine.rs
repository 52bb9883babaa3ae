//! Builds an image for a board and runs it in the emulator.

use super::board::Board;
use crate::command::{self, Finished};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Wide enough for the slowest run on a busy machine; a hanging image is stopped all the same.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Builds one image of the firmware crate and returns its ELF file.
pub(crate) fn build(board: &Board, image: &str, profile: &str) -> Result<PathBuf> {
    build_as(board, image, profile, None, None)
}

/// The same with a model inside.
pub(crate) fn build_with_model(board: &Board, image: &str, profile: &str, model: &Path) -> Result<PathBuf> {
    build_as(board, image, profile, Some(model), None)
}

/// The same for real targets in one arithmetic alone, without the code for classes and compressed tensors.
pub(crate) fn build_bare(board: &Board, image: &str, profile: &str, arithmetic: Arithmetic) -> Result<PathBuf> {
    build_as(board, image, profile, None, Some(arithmetic))
}

/// What a small image computes in.
#[derive(Clone, Copy)]
pub(crate) enum Arithmetic {
    Single,
    Fixed,
}

impl Arithmetic {
    /// The firmware's cargo feature.
    fn feature(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Fixed => "fixed",
        }
    }
}

/// Two boards share a target: nobody may build between the build and the copy of an image.
static BUILDING: Mutex<()> = Mutex::new(());

fn build_as(
    board: &Board,
    image: &str,
    profile: &str,
    model: Option<&Path>,
    bare: Option<Arithmetic>,
) -> Result<PathBuf> {
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = command::root().join("firmware-example/target");
    let mut cargo = command::cargo("firmware-example", ["build", "--locked", "--quiet", "--bin", image]);
    cargo.args(["--profile", profile, "--target", board.target, "--features", board.feature]);
    if let Some(arithmetic) = bare {
        cargo.args(["--no-default-features", "--features", arithmetic.feature()]);
    }
    if let Some(model) = model {
        cargo.args(["--features", "compiled-in-model"]).env("DIFFGP_MODEL", model);
    }
    command::run(cargo.arg("--target-dir").arg(&directory))?;
    // Two boards share a target and would overwrite each other's image: every board gets a copy of its own.
    let images = directory.join("images");
    fs::create_dir_all(&images)?;
    let inside = if model.is_some() { "-with-model" } else { "" };
    let bare = bare.map_or(String::new(), |arithmetic| format!("-{}", arithmetic.feature()));
    let copy = images.join(format!("{image}-{}-{profile}{inside}{bare}", board.name));
    fs::copy(directory.join(board.target).join(profile).join(image), &copy)?;
    Ok(copy)
}

/// A file that the emulator puts into memory before the image starts.
pub(crate) struct Loaded<'a> {
    pub(crate) file: &'a Path,
    pub(crate) address: u32,
}

/// Runs an image to its end and returns its words line by line.
pub(crate) fn run(board: &Board, elf: &Path, loaded: &[Loaded<'_>]) -> Result<Finished> {
    let mut qemu = emulator(board, elf, loaded);
    command::run_limited(qemu.args(["-serial", "none"]), TIME_LIMIT)
}

/// Where the serial port of an emulated board leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Serial {
    /// To this TCP port of ours.
    TcpClient(u16),
    /// To the first who connects to a free TCP port, which the emulator names on standard error.
    TcpServer,
    /// To a pseudo-terminal, which the emulator names on standard output.
    Terminal,
}

/// Starts an image with a serial port and more arguments of the emulator. The caller ends it.
pub(crate) fn start_with_serial(
    board: &Board,
    elf: &Path,
    loaded: &[Loaded<'_>],
    serial: Serial,
    more: &[String],
) -> Result<Child> {
    let mut qemu = emulator(board, elf, loaded);
    qemu.args(more);
    qemu.arg("-serial").arg(match serial {
        Serial::TcpClient(port) => format!("tcp:127.0.0.1:{port}"),
        Serial::TcpServer => "tcp:127.0.0.1:0,server=on".to_owned(),
        Serial::Terminal => "pty".to_owned(),
    });
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    qemu.spawn().context("cannot start the emulator")
}

/// The emulator with semihosting on standard output and time that counts instructions.
fn emulator(board: &Board, elf: &Path, loaded: &[Loaded<'_>]) -> Command {
    let mut qemu = Command::new(if board.is_riscv() { "qemu-system-riscv32" } else { "qemu-system-arm" });
    qemu.args(["-M", board.machine, "-display", "none", "-monitor", "none"]);
    if let Some(processor) = board.processor {
        qemu.args(["-cpu", processor]);
    }
    qemu.args(["-chardev", "stdio,id=out", "-semihosting-config", "enable=on,target=native,chardev=out"]);
    if board.is_riscv() {
        qemu.args(["-bios", "none", "-icount", "shift=0"]);
    } else {
        // 128 ns per instruction is longer than a SysTick period on every board: no two instructions share a tick.
        qemu.args(["-icount", "shift=7"]);
    }
    load(&mut qemu, elf, loaded);
    qemu
}

/// The image and the files beside it.
pub(crate) fn load(qemu: &mut Command, elf: &Path, loaded: &[Loaded<'_>]) {
    for Loaded { file, address } in loaded {
        qemu.arg("-device").arg(format!("loader,file={},addr={address:#x},force-raw=on", file.display()));
    }
    qemu.arg("-kernel").arg(elf);
}

/// The first line of the emulator's `--version`, which goes into the checked-in figures.
pub(crate) fn version() -> Result<String> {
    let said = command::capture(Command::new("qemu-system-arm").arg("--version"))?;
    said.lines().next().map(str::to_owned).context("qemu-system-arm --version says nothing")
}

/// The numbers behind the first line that starts with `name`.
pub(crate) fn numbers(output: &str, name: &str) -> Result<Vec<u32>> {
    let line = output
        .lines()
        .find(|line| line.split(' ').next() == Some(name))
        .with_context(|| format!("the image did not print {name:?} but {output:?}"))?;
    parse_numbers(line)
}

/// The hexadecimal words of a line after its name.
pub(crate) fn parse_numbers(line: &str) -> Result<Vec<u32>> {
    line.split_ascii_whitespace()
        .skip(1)
        .map(|word| u32::from_str_radix(word, 16).with_context(|| format!("not a hexadecimal number in {line:?}")))
        .collect()
}
