//! The eight boards: which emulator, which target, which memory.

use crate::command;
use anyhow::{Context, Result, anyhow};
use std::fs;

/// A board and how to emulate it. The addresses repeat `firmware-example/boards/FEATURE.x`; a test compares them.
#[derive(Debug, PartialEq)]
pub(crate) struct Board {
    pub(crate) name: &'static str,
    /// The firmware's cargo feature, which chooses a memory map.
    pub(crate) feature: &'static str,
    pub(crate) core: &'static str,
    pub(crate) machine: &'static str,
    /// The emulator's `-cpu`, where it is another than the machine's own.
    pub(crate) processor: Option<&'static str>,
    pub(crate) target: &'static str,
    pub(crate) model_address: u32,
    pub(crate) model_space: usize,
    pub(crate) job_address: u32,
}

impl Board {
    pub(crate) fn is_riscv(&self) -> bool {
        self.target.starts_with("riscv")
    }

    /// Another's twin with fewer instructions: the same memory, serial port and start, which are tested there.
    pub(crate) fn is_twin(&self) -> bool {
        self.feature != self.name
    }

    /// Floats are computed by a library.
    pub(crate) fn has_soft_floats(&self) -> bool {
        self.is_riscv() || ["m0", "m3"].contains(&self.name)
    }

    /// The end of RAM, where the stack begins.
    pub(crate) fn stack_top(&self) -> Result<u32> {
        end_of_ram(&self.script()?)
    }

    /// The memory map.
    fn script(&self) -> Result<String> {
        let path = command::root().join(format!("firmware-example/boards/{}.x", self.feature));
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

pub(crate) const BOARDS: [Board; 8] = [
    Board {
        name: "m0",
        feature: "m0",
        core: "Cortex-M0",
        machine: "microbit",
        processor: None,
        target: "thumbv6m-none-eabi",
        model_address: 0x0001_0000,
        model_space: 176 << 10,
        job_address: 0x0003_c000,
    },
    Board {
        name: "m3",
        feature: "m3",
        core: "Cortex-M3",
        machine: "lm3s6965evb",
        processor: None,
        target: "thumbv7m-none-eabi",
        model_address: 0x0001_0000,
        model_space: 176 << 10,
        job_address: 0x0003_c000,
    },
    Board {
        name: "m4f",
        feature: "m4f",
        core: "Cortex-M4F",
        machine: "mps2-an386",
        processor: None,
        target: "thumbv7em-none-eabihf",
        model_address: 0x0010_0000,
        model_space: 1 << 20,
        job_address: 0x0020_0000,
    },
    Board {
        name: "m7",
        feature: "m7",
        core: "Cortex-M7",
        machine: "mps2-an500",
        processor: None,
        target: "thumbv7em-none-eabihf",
        model_address: 0x0010_0000,
        model_space: 1 << 20,
        job_address: 0x0020_0000,
    },
    Board {
        name: "m33",
        feature: "m33",
        core: "Cortex-M33",
        machine: "mps2-an505",
        processor: None,
        target: "thumbv8m.main-none-eabihf",
        model_address: 0x1010_0000,
        model_space: 1 << 20,
        job_address: 0x1020_0000,
    },
    Board {
        name: "m55",
        feature: "m55",
        core: "Cortex-M55",
        machine: "mps3-an547",
        processor: None,
        target: "thumbv8m.main-none-eabihf",
        model_address: 0x0001_0000,
        model_space: 432 << 10,
        job_address: 0x0007_c000,
    },
    Board {
        name: "rv32",
        feature: "rv32",
        core: "RV32IMAC",
        machine: "virt",
        processor: None,
        target: "riscv32imac-unknown-none-elf",
        model_address: 0x8010_0000,
        model_space: 1 << 20,
        job_address: 0x8020_0000,
    },
    // As the core of an ESP32-C3: an atomic instruction or one with a float ends the program.
    Board {
        name: "rv32imc",
        feature: "rv32",
        core: "RV32IMC",
        machine: "virt",
        processor: Some("rv32,a=false,f=false,d=false"),
        target: "riscv32imc-unknown-none-elf",
        model_address: 0x8010_0000,
        model_space: 1 << 20,
        job_address: 0x8020_0000,
    },
];

/// Where a board stands in the table, for sorting.
pub(crate) fn position(name: &str) -> Option<usize> {
    BOARDS.iter().position(|board| board.name == name)
}

/// The board of that name, for the command line.
pub(crate) fn named(name: &str) -> Result<&'static Board> {
    BOARDS.iter().find(|board| board.name == name).ok_or_else(|| {
        let names: Vec<_> = BOARDS.iter().map(|board| board.name).collect();
        anyhow!("no board {name:?}; there are {}", names.join(", "))
    })
}

/// Of the memory named RAM.
fn end_of_ram(script: &str) -> Result<u32> {
    let line = script.lines().find(|line| line.trim_start().starts_with("RAM ")).context("no RAM")?;
    let of = |name: &str| line.split_once(name).map(|(_, rest)| rest.split(',').next().unwrap_or_default().trim());
    let (origin, length) = of("ORIGIN =").zip(of("LENGTH =")).context("no origin or length")?;
    let origin = u32::from_str_radix(origin.trim_start_matches("0x"), 16)?;
    let (digits, unit) = length.split_at(length.len() - 1);
    let length = digits.parse::<u32>()? << if unit == "M" { 20 } else { 10 };
    Ok(origin + length)
}

#[cfg(test)]
mod tests {
    use super::{BOARDS, end_of_ram};

    #[test]
    fn the_stack_begins_where_memory_ends() {
        let script = "MEMORY\n{\n  RAM   : ORIGIN = 0x20000000, LENGTH = 16K\n}\n";
        assert_eq!(end_of_ram(script).unwrap(), 0x2000_4000);
        assert!(end_of_ram("MEMORY { }").is_err());
    }

    #[test]
    fn addresses_are_those_of_the_linker_scripts() {
        for board in &BOARDS {
            let script = board.script().expect("every board has a memory map");
            let has = |line: String| assert!(script.contains(&line), "{}: no {line:?} in\n{script}", board.name);
            let space = board.model_space >> 10;
            let space = if space % 1024 == 0 { format!("{}M", space / 1024) } else { format!("{space}K") };
            has(format!("MODEL : ORIGIN = {:#010x}, LENGTH = {space}", board.model_address));
            has(format!("JOB   : ORIGIN = {:#010x}, LENGTH = 16K", board.job_address));
        }
    }
}
