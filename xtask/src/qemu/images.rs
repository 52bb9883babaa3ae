//! What an image must not contain: an allocator, or a panic path.
//!
//! The images `minimal`, `measure`, `update`, `power_cuts` and `serial` have a panic handler that calls a function that does not exist.
//! Where the compiler cannot show that no panic is reachable, the call stays, and linking fails. The same holds for the
//! allocator: none is registered, so an image that allocates does not link. The symbols are looked at all the same,
//! so that this is not a matter of belief. In WebAssembly an undefined function may become an import instead: there,
//! the module must have none.

use super::board::{self, BOARDS, Board};
use super::elf::Elf;
use super::machine::Arithmetic;
use super::{machine, wasm};
use anyhow::{Context, Result, ensure};

/// Images without any panic path.
const PANIC_FREE: [&str; 5] = ["minimal", "measure", "update", "power_cuts", "serial"];
/// Both profiles of the firmware: for speed, and for size.
const PROFILES: [&str; 2] = ["release", "size"];
const FORBIDDEN: [&str; 4] = ["panic_fmt", "__rust_alloc", "__rg_alloc", "float_to_decimal"];

pub(crate) fn check() -> Result<()> {
    check_search()?;
    for board in &BOARDS {
        for profile in PROFILES {
            check_raw(board, profile).with_context(|| format!("raw, {profile}, board {}", board.name))?;
            for image in PANIC_FREE {
                check_image(board, image, profile)
                    .with_context(|| format!("{image}, {profile}, board {}", board.name))?;
            }
        }
    }
    PROFILES.into_iter().try_for_each(wasm::check_imports)
}

/// The search finds what it looks for: the example formats floats and may panic.
fn check_search() -> Result<()> {
    let elf = Elf::read(&machine::build(board::named("m4f")?, "example", "release")?)?;
    for present in ["panic_fmt", "float_to_decimal"] {
        ensure!(elf.symbols.iter().any(|symbol| symbol.contains(present)), "no {present} in the example");
    }
    // In f32 there are floats.
    for board in BOARDS.iter().filter(|board| board.has_soft_floats()) {
        let elf = Elf::read(&machine::build_bare(board, "minimal", "release", Arithmetic::Single)?)?;
        ensure!(check_without_floats(&elf).is_err(), "no soft floats on the board {}", board.name);
    }
    Ok(())
}

/// The image that computes with integers alone has no panic path either, and no float is linked.
fn check_raw(board: &Board, profile: &str) -> Result<()> {
    let elf = Elf::read(&machine::build_bare(board, "raw", profile, Arithmetic::Fixed)?)?;
    check_symbols(&elf)?;
    check_without_floats(&elf)
}

/// No symbol is that of arithmetic with floats in software.
pub(super) fn check_without_floats(elf: &Elf) -> Result<()> {
    ensure!(!elf.symbols.is_empty(), "no symbols: the check would prove nothing");
    let found = elf.symbols.iter().find(|symbol| is_soft_float(symbol));
    ensure!(found.is_none(), "{} is linked in", found.map_or("", String::as_str));
    Ok(())
}

/// By the names of Arm's run-time ABI, of GCC's library, and of Rust's and libm's own functions.
fn is_soft_float(symbol: &str) -> bool {
    let arm = ["f", "d", "cf", "cd", "i2f", "i2d", "ui2f", "ui2d", "l2f", "l2d", "ul2f", "ul2d"];
    let is_arm = |name: &str| arm.iter().any(|begin| name.starts_with(begin));
    let gcc = ["sf2", "sf3", "df2", "df3", "sfsi", "sfdi", "dfsi", "dfdi", "sisf", "sidf", "disf", "didf"];
    let is_gcc = |name: &str| gcc.iter().any(|end| name.ends_with(end));
    symbol.strip_prefix("__aeabi_").is_some_and(is_arm)
        || symbol.strip_prefix("__").is_some_and(is_gcc)
        || ["compiler_builtins5float", "4libm"].iter().any(|path| symbol.contains(path))
}

fn check_image(board: &Board, image: &str, profile: &str) -> Result<()> {
    check_symbols(&Elf::read(&machine::build(board, image, profile)?)?)
}

fn check_symbols(elf: &Elf) -> Result<()> {
    ensure!(!elf.symbols.is_empty(), "no symbols: the check would prove nothing");
    for symbol in &elf.symbols {
        let found = FORBIDDEN.iter().find(|forbidden| symbol.contains(*forbidden));
        ensure!(found.is_none(), "{symbol} is linked in");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_soft_float;

    #[test]
    fn floats_are_known_by_their_names_and_integers_are_left_alone() {
        let floats =
            ["__aeabi_fadd", "__aeabi_fcmplt", "__aeabi_ui2f", "__aeabi_f2iz", "__aeabi_cfcmple", "__aeabi_dmul"];
        let more = ["__addsf3", "__mulsf3", "__fixsfsi", "__floatsisf", "__ltsf2", "__extendsfdf2", "__muldf3"];
        let rust = ["_ZN17compiler_builtins5float3mul8__mulsf317h0123E", "_ZN4libm4math4expf4expf17h0123E"];
        for float in floats.iter().chain(&more).chain(&rust) {
            assert!(is_soft_float(float), "{float}");
        }
        let integers = ["__aeabi_lmul", "__aeabi_llsl", "__aeabi_uidiv", "__aeabi_memcpy4", "__clzsi2", "memcpy"];
        for integer in integers.iter().chain(&["__muldi3", "_ZN11diffgp_core5fixed6single6Single5times17h0E"]) {
            assert!(!is_soft_float(integer), "{integer}");
        }
    }
}
