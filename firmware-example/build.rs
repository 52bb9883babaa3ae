//! Chooses the memory map of the board and tells the linker about it.
//!
//! The linker arguments live here and not in `.cargo/config.toml`, where a RUSTFLAGS variable would replace them.

use std::path::PathBuf;
use std::{env, fs};

const BOARDS: [&str; 7] = ["m0", "m3", "m4f", "m7", "m33", "m55", "rv32"];

fn main() {
    let chosen: Vec<_> = BOARDS
        .into_iter()
        .filter(|board| env::var_os(format!("CARGO_FEATURE_{}", board.to_uppercase())).is_some())
        .collect();
    let [board] = chosen[..] else {
        panic!("choose exactly one board with --features, of {BOARDS:?}; chosen: {chosen:?}");
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let memory = format!("boards/{board}.x");
    fs::copy(&memory, out.join("memory.x")).unwrap_or_else(|error| panic!("cannot copy {memory}: {error}"));
    // cortex-m-rt asks for the names of the device's interrupts: we use none.
    fs::write(out.join("device.x"), "").expect("device.x can be written");
    fs::copy("boards/regions.x", out.join("regions.x")).expect("boards/regions.x can be copied");

    println!("cargo::rerun-if-env-changed=DIFFGP_MODEL");
    println!("cargo::rerun-if-changed=boards");
    println!("cargo::rustc-link-search={}", out.display());
    if board == "rv32" {
        println!("cargo::rustc-link-arg-bins=-Tmemory.x");
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tregions.x");
}
