//! Installs what the checks need and a fresh machine lacks: Rust targets and components through rustup, QEMU
//! and Node through apt.
//!
//! Without root it tries `sudo -n`; where that fails it prints the command to run and the process exits with 2.

use crate::command;
use anyhow::{Context, Result};
use std::fmt;
use std::process::{Command, Stdio};

/// Every target the runtime is built for.
pub(crate) const TARGETS: [&str; 6] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imac-unknown-none-elf",
    "wasm32-unknown-unknown",
];

const COMPONENTS: [&str; 2] = ["rustfmt", "clippy"];
/// Programs that run what we build for other machines, and the packages that bring them.
const EMULATORS: [(&str, &str); 3] =
    [("qemu-system-arm", "qemu-system-arm"), ("qemu-system-riscv32", "qemu-system-misc"), ("node", "nodejs")];

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
        emulators()?;
    }
    Ok(())
}

fn rust_targets() -> Result<()> {
    let installed = command::capture(Command::new("rustup").args(["target", "list", "--installed"]))
        .context("the checks need rustup to know which targets are installed")?;
    let missing: Vec<_> = TARGETS.into_iter().filter(|target| !has_line(&installed, target)).collect();
    if !missing.is_empty() {
        eprintln!("setup: installing Rust targets {}", missing.join(", "));
        let by_hand = format!("rustup target add {}", missing.join(" "));
        command::run(Command::new("rustup").args(["target", "add"]).args(&missing))
            .map_err(|_| NeedsInstall { what: missing.join(", "), by_hand })?;
    }
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

fn emulators() -> Result<()> {
    let absent = EMULATORS.into_iter().filter(|(program, _)| !starts(program, &["--version"]));
    let (missing, packages): (Vec<_>, Vec<_>) = absent.unzip();
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
