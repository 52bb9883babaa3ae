//! The boards that a project can be made for: target, memory, and how a program gets there.

/// A board, or an emulator of one.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) name: &'static str,
    /// In words.
    pub(super) what: &'static str,
    pub(super) target: &'static str,
    pub(super) start: Start,
    /// `memory.x`; none where a crate brings it.
    pub(super) memory: Option<&'static str>,
    /// Bytes of flash for code and model together.
    pub(super) flash: usize,
    /// What `cargo run` starts with the program.
    pub(super) runner: &'static [&'static str],
    pub(super) has_fpu: bool,
}

/// Whose start-up code it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    CortexM,
    RiscV,
    /// Cortex-M behind a second boot stage.
    Rp2040,
    Esp32c3,
}

impl Board {
    /// Of that name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        BOARDS.iter().find(|board| board.name == name)
    }
}

/// A board as QEMU emulates it, with semihosting on standard output.
macro_rules! qemu {
    ($program:literal, $($argument:literal),+) => {
        &[
            $program, $($argument,)+ "-display", "none", "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=out",
            "-semihosting-config", "enable=on,target=native,chardev=out", "-kernel",
        ]
    };
}

/// A region of memory of a chip that is not emulated here may be larger: the data sheet counts.
pub(super) const BOARDS: [Board; 6] = [
    Board {
        name: "m4f",
        what: "Cortex-M4F (QEMU's mps2-an386)",
        target: "thumbv7em-none-eabihf",
        start: Start::CortexM,
        memory: Some(
            "MEMORY\n{\n  FLASH : ORIGIN = 0x00000000, LENGTH = 4M\n  RAM   : ORIGIN = 0x20000000, LENGTH = 4M\n}\n",
        ),
        flash: 4 << 20,
        runner: qemu!("qemu-system-arm", "-M", "mps2-an386"),
        has_fpu: true,
    },
    Board {
        name: "m0",
        what: "Cortex-M0 (QEMU's microbit)",
        target: "thumbv6m-none-eabi",
        start: Start::CortexM,
        memory: Some(
            "MEMORY\n{\n  FLASH : ORIGIN = 0x00000000, LENGTH = 256K\n  RAM   : ORIGIN = 0x20000000, LENGTH = 16K\n}\n",
        ),
        flash: 256 << 10,
        runner: qemu!("qemu-system-arm", "-M", "microbit"),
        has_fpu: false,
    },
    Board {
        name: "m3",
        what: "Cortex-M3 (QEMU's lm3s6965evb)",
        target: "thumbv7m-none-eabi",
        start: Start::CortexM,
        memory: Some(
            "MEMORY\n{\n  FLASH : ORIGIN = 0x00000000, LENGTH = 256K\n  RAM   : ORIGIN = 0x20000000, LENGTH = 64K\n}\n",
        ),
        flash: 256 << 10,
        runner: qemu!("qemu-system-arm", "-M", "lm3s6965evb"),
        has_fpu: false,
    },
    Board {
        name: "rv32",
        what: "RV32IMAC (QEMU's virt machine)",
        target: "riscv32imac-unknown-none-elf",
        start: Start::RiscV,
        // RAM only: its first megabytes play the flash.
        memory: Some(
            "MEMORY\n{\n  FLASH : ORIGIN = 0x80000000, LENGTH = 3M\n  RAM   : ORIGIN = 0x80300000, LENGTH = 4M\n}\n\n\
             REGION_ALIAS(\"REGION_TEXT\", FLASH);\nREGION_ALIAS(\"REGION_RODATA\", FLASH);\n\
             REGION_ALIAS(\"REGION_DATA\", RAM);\nREGION_ALIAS(\"REGION_BSS\", RAM);\n\
             REGION_ALIAS(\"REGION_HEAP\", RAM);\nREGION_ALIAS(\"REGION_STACK\", RAM);\n",
        ),
        flash: 3 << 20,
        runner: qemu!("qemu-system-riscv32", "-M", "virt", "-bios", "none"),
        has_fpu: false,
    },
    Board {
        name: "rp2040",
        what: "RP2040 (Raspberry Pi Pico)",
        target: "thumbv6m-none-eabi",
        start: Start::Rp2040,
        // The first 256 bytes set up the external flash that everything else is read from.
        memory: Some(
            "MEMORY\n{\n  BOOT2 : ORIGIN = 0x10000000, LENGTH = 0x100\n  \
             FLASH : ORIGIN = 0x10000100, LENGTH = 2048K - 0x100\n  \
             RAM   : ORIGIN = 0x20000000, LENGTH = 256K\n}\n\n\
             SECTIONS\n{\n  .boot2 ORIGIN(BOOT2) : { KEEP(*(.boot2)); } > BOOT2\n} INSERT BEFORE .text;\n",
        ),
        flash: 2 << 20,
        runner: &["probe-rs", "run", "--chip", "RP2040"],
        has_fpu: false,
    },
    Board {
        name: "esp32c3",
        what: "ESP32-C3",
        target: "riscv32imc-unknown-none-elf",
        start: Start::Esp32c3,
        memory: None,
        flash: 4 << 20,
        runner: &["espflash", "flash", "--monitor"],
        has_fpu: false,
    },
];
