//! The runtime as WebAssembly under Node: the same cases, the same bits.

use super::cases::Case;
use super::measure::compare;
use crate::command;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const DIRECTORY: &str = "firmware-example/wasm";
const TARGET: &str = "wasm32-unknown-unknown";
/// Numbers of the binary format.
const SECTION_IMPORTS: u8 = 2;
const SECTION_CODE: u8 = 10;
const TIME_LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(cases: &[Case]) -> Result<()> {
    eprintln!("WebAssembly");
    // Instantiated without imports: had the module asked for an allocator or anything else, Node would refuse it.
    let module = build("release")?;
    for case in cases {
        let mut node = Command::new("node");
        node.arg(command::root().join(DIRECTORY).join("run.mjs")).arg(&module).arg(&case.model).arg(&case.job);
        let finished = command::run_limited(&mut node, TIME_LIMIT)?;
        ensure!(finished.status.success(), "case {}: {}", case.name, finished.stderr);
        compare(&case.expected, &finished.stdout).with_context(|| format!("wasm32, case {}", case.name))?;
    }
    Ok(())
}

/// Builds the module in this profile; where it lies.
fn build(profile: &str) -> Result<PathBuf> {
    let arguments = ["build", "--locked", "--quiet", "--target", TARGET, "--profile", profile];
    command::run(&mut command::cargo(DIRECTORY, arguments))?;
    Ok(command::root().join(DIRECTORY).join(format!("target/{TARGET}/{profile}/diffgp_wasm.wasm")))
}

/// The module of this profile imports nothing: no panic handler, no allocator.
pub(crate) fn check_imports(profile: &str) -> Result<()> {
    let module = fs::read(build(profile)?)?;
    let sections = sections(&module).context("not a WebAssembly module")?;
    ensure!(sections.contains(&SECTION_CODE), "no code: the check would prove nothing");
    ensure!(!sections.contains(&SECTION_IMPORTS), "the WebAssembly module ({profile}) imports something");
    Ok(())
}

/// The numbers of a module's sections in order; `None` if it is cut off or no module.
fn sections(module: &[u8]) -> Option<Vec<u8>> {
    let mut rest = module.strip_prefix(b"\0asm\x01\0\0\0")?;
    let mut numbers = Vec::new();
    while let Some((&number, mut behind)) = rest.split_first() {
        // The length: seven bits a byte, the lowest first.
        let (mut length, mut shift) = (0, 0);
        loop {
            let (&byte, tail) = behind.split_first()?;
            behind = tail;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 || shift > 28 {
                break;
            }
        }
        numbers.push(number);
        rest = behind.get(length..)?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_seen() {
        // (module (import "env" "f" (func))) in the binary format, section by section.
        let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x09\x01\x03env\x01f\0\0";
        assert_eq!(sections(module), Some(vec![1, SECTION_IMPORTS]));
        assert_eq!(sections(&module[..module.len() - 1]), None);
        assert_eq!(sections(b"\x7fELF"), None);
    }
}
