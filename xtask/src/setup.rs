//! Installs what the checks need and a fresh machine lacks: Rust targets and components through rustup, QEMU, Node and the
//! compilers of C through apt, for the page Chromium and npm, and for training by several processes OpenMPI and MPICH.
//!
//! Without root it tries `sudo -n`; where that fails it prints the command to run and the process exits with 2.

use crate::command;
use anyhow::{Context, Result};
use std::fmt;
use std::process::{Command, Stdio};

/// Every target the runtime is built for.
pub(crate) const TARGETS: [&str; 7] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imac-unknown-none-elf",
    "riscv32imc-unknown-none-elf",
    "wasm32-unknown-unknown",
];

/// What only a library for C is built for: Cortex-M4F with softfp calls.
const C_TARGETS: [&str; 1] = ["thumbv7em-none-eabi"];
/// A compiler, the flag that asks for its library, and the packages of both.
const C_COMPILERS: [(&str, &str, &str); 3] = [
    ("gcc", "-std=c99", "gcc libc6-dev"),
    ("arm-none-eabi-gcc", "-specs=nano.specs", "gcc-arm-none-eabi libnewlib-arm-none-eabi"),
    ("riscv64-unknown-elf-gcc", "-specs=picolibc.specs", "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"),
];

const COMPONENTS: [&str; 2] = ["rustfmt", "clippy"];
/// Programs that run what we build for other machines, and the packages that bring them.
const EMULATORS: [(&str, &str); 3] =
    [("qemu-system-arm", "qemu-system-arm"), ("qemu-system-riscv32", "qemu-system-misc"), ("node", "nodejs")];

/// What a package for C is used with.
const CMAKE: [(&str, &str); 2] = [("cmake", "cmake"), ("make", "make")];

/// What opens the page of `diffgp explore`, likewise.
const BROWSER: [(&str, &str); 3] = [("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")];

/// Training by several processes: two of each.
const MPI: [(&str, &str); 4] = [
    ("mpicc.openmpi", "libopenmpi-dev"),
    ("mpirun.openmpi", "openmpi-bin"),
    ("mpicc.mpich", "libmpich-dev"),
    ("mpirun.mpich", "mpich"),
];

/// How much of it is needed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Need {
    RustOnly,
    Everything,
}

/// Something has to be installed by hand. `main` turns it into exit code 2.
#[derive(Debug)]
pub(crate) struct NeedsInstall {
    pub(crate) what: String,
    pub(crate) by_hand: String,
}

impl fmt::Display for NeedsInstall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing and could not be installed from here. Please run:\n    {}", self.what, self.by_hand)
    }
}

impl std::error::Error for NeedsInstall {}

/// Installs what is missing and says so; does nothing on a machine that has it all.
pub(crate) fn run(need: Need) -> Result<()> {
    rust_targets()?;
    if need == Need::Everything {
        packages(&EMULATORS)?;
    }
    Ok(())
}

/// Installs Python where it, or its virtual environments, are missing.
pub(crate) fn python() -> Result<()> {
    let works = starts("python3", &["-c", "import venv, ensurepip"]);
    if works { Ok(()) } else { from_apt(&["python3 with venv"], &["python3", "python3-venv"]) }
}

/// Installs a browser and npm where they are missing.
pub(crate) fn browser() -> Result<()> {
    packages(&BROWSER)
}

/// Installs CMake where it is missing.
pub(crate) fn cmake() -> Result<()> {
    packages(&CMAKE)
}

/// Installs OpenMPI and MPICH where they are missing.
pub(crate) fn mpi() -> Result<()> {
    packages(&MPI)
}

fn rust_targets() -> Result<()> {
    rust_targets_of(&TARGETS)?;
    rust_components()
}

fn rust_targets_of(targets: &[&str]) -> Result<()> {
    let installed = command::capture(Command::new("rustup").args(["target", "list", "--installed"]))
        .context("the checks need rustup to know which targets are installed")?;
    let missing: Vec<_> = targets.iter().copied().filter(|target| !has_line(&installed, target)).collect();
    if !missing.is_empty() {
        eprintln!("setup: installing Rust targets {}", missing.join(", "));
        let by_hand = format!("rustup target add {}", missing.join(" "));
        command::run(Command::new("rustup").args(["target", "add"]).args(&missing))
            .map_err(|_| NeedsInstall { what: missing.join(", "), by_hand })?;
    }
    Ok(())
}

fn rust_components() -> Result<()> {
    let installed = command::capture(Command::new("rustup").args(["component", "list", "--installed"]))?;
    // Components are listed with the host's name behind them.
    let missing: Vec<_> =
        COMPONENTS.into_iter().filter(|name| !installed.lines().any(|line| line.starts_with(name))).collect();
    if !missing.is_empty() {
        eprintln!("setup: installing Rust components {}", missing.join(", "));
        let by_hand = format!("rustup component add {}", missing.join(" "));
        command::run(Command::new("rustup").args(["component", "add"]).args(&missing))
            .map_err(|_| NeedsInstall { what: missing.join(", "), by_hand })?;
    }
    Ok(())
}

/// Installs the packages of the programs that do not start.
fn packages(programs: &[(&str, &str)]) -> Result<()> {
    let absent = programs.iter().copied().filter(|(program, _)| !starts(program, &["--version"]));
    let (missing, packages): (Vec<_>, Vec<_>) = absent.unzip();
    from_apt(&missing, &packages)
}

/// Compilers of C for the boards with their libraries, and Rust's targets for the libraries that only C programs link.
pub(crate) fn c_compilers() -> Result<()> {
    rust_targets_of(&C_TARGETS)?;
    // A specs file comes with the library, not with the compiler.
    let works = |(program, library, _): &(&str, &str, &str)| starts(program, &[library, "-E", "-x", "c", "/dev/null"]);
    let absent: Vec<_> = C_COMPILERS.into_iter().filter(|compiler| !works(compiler)).collect();
    let (missing, packages): (Vec<_>, Vec<_>) =
        absent.iter().map(|(program, _, packages)| (*program, *packages)).unzip();
    from_apt(&missing, &packages)
}

/// Installs packages of the distribution.
fn from_apt(missing: &[&str], packages: &[&str]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get update && apt-get install -y --no-install-recommends {}", packages.join(" "));
    let needs_hand = || NeedsInstall { what: missing.join(", "), by_hand: format!("sudo sh -c '{install}'") };
    let mut installer = if command::capture(Command::new("id").arg("-u"))?.trim() == "0" {
        Command::new("sh")
    } else if starts("sudo", &["-n", "true"]) {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "sh"]);
        sudo
    } else {
        return Err(needs_hand().into());
    };
    eprintln!("setup: installing {} ({} not found)", packages.join(", "), missing.join(", "));
    command::run(installer.arg("-c").arg(&install).stdout(Stdio::null())).map_err(|_| needs_hand())?;
    Ok(())
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|candidate| candidate.trim() == line)
}

/// Whether `program` exists and succeeds with these arguments.
fn starts(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
