//! The seven boards: which emulator, which target, which memory.

use anyhow::{Result, anyhow};

/// A board and how to emulate it. The addresses repeat `firmware-example/boards/NAME.x`; a test compares them.
#[derive(Debug, PartialEq)]
pub(crate) struct Board {
    /// Also the firmware's cargo feature.
    pub(crate) name: &'static str,
    pub(crate) core: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) target: &'static str,
    pub(crate) model_address: u32,
    pub(crate) model_space: usize,
    pub(crate) job_address: u32,
}

impl Board {
    pub(crate) fn is_riscv(&self) -> bool {
        self.target.starts_with("riscv")
    }
}

pub(crate) const BOARDS: [Board; 7] = [
    Board {
        name: "m0",
        core: "Cortex-M0",
        machine: "microbit",
        target: "thumbv6m-none-eabi",
        model_address: 0x0000_c000,
        model_space: 192 << 10,
        job_address: 0x0003_c000,
    },
    Board {
        name: "m3",
        core: "Cortex-M3",
        machine: "lm3s6965evb",
        target: "thumbv7m-none-eabi",
        model_address: 0x0000_c000,
        model_space: 192 << 10,
        job_address: 0x0003_c000,
    },
    Board {
        name: "m4f",
        core: "Cortex-M4F",
        machine: "mps2-an386",
        target: "thumbv7em-none-eabihf",
        model_address: 0x0010_0000,
        model_space: 1 << 20,
        job_address: 0x0020_0000,
    },
    Board {
        name: "m7",
        core: "Cortex-M7",
        machine: "mps2-an500",
        target: "thumbv7em-none-eabihf",
        model_address: 0x0010_0000,
        model_space: 1 << 20,
        job_address: 0x0020_0000,
    },
    Board {
        name: "m33",
        core: "Cortex-M33",
        machine: "mps2-an505",
        target: "thumbv8m.main-none-eabihf",
        model_address: 0x1010_0000,
        model_space: 1 << 20,
        job_address: 0x1020_0000,
    },
    Board {
        name: "m55",
        core: "Cortex-M55",
        machine: "mps3-an547",
        target: "thumbv8m.main-none-eabihf",
        model_address: 0x0001_0000,
        model_space: 432 << 10,
        job_address: 0x0007_c000,
    },
    Board {
        name: "rv32",
        core: "RV32IMAC",
        machine: "virt",
        target: "riscv32imac-unknown-none-elf",
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

#[cfg(test)]
mod tests {
    use super::BOARDS;
    use crate::command;
    use std::fs;

    #[test]
    fn addresses_are_those_of_the_linker_scripts() {
        for board in &BOARDS {
            let script = fs::read_to_string(command::root().join(format!("firmware-example/boards/{}.x", board.name)))
                .expect("every board has a memory map");
            let has = |line: String| assert!(script.contains(&line), "{}: no {line:?} in\n{script}", board.name);
            let space = board.model_space >> 10;
            let space = if space % 1024 == 0 { format!("{}M", space / 1024) } else { format!("{space}K") };
            has(format!("MODEL : ORIGIN = {:#010x}, LENGTH = {space}", board.model_address));
            has(format!("JOB   : ORIGIN = {:#010x}, LENGTH = 16K", board.job_address));
        }
    }
}
