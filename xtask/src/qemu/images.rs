//! What an image must not contain: an allocator, or a panic path.
//!
//! The images `minimal`, `measure`, `update` and `serial` have a panic handler that calls a function that does not exist.
//! Where the compiler cannot show that no panic is reachable, the call stays, and linking fails. The same holds for the
//! allocator: none is registered, so an image that allocates does not link. The symbols are looked at all the same,
//! so that this is not a matter of belief. In WebAssembly an undefined function may become an import instead: there,
//! the module must have none.

use super::board::{self, BOARDS, Board};
use super::elf::Elf;
use super::{machine, wasm};
use anyhow::{Context, Result, ensure};

/// Images without any panic path.
const PANIC_FREE: [&str; 4] = ["minimal", "measure", "update", "serial"];
/// Both profiles of the firmware: for speed, and for size.
const PROFILES: [&str; 2] = ["release", "size"];
const FORBIDDEN: [&str; 4] = ["panic_fmt", "__rust_alloc", "__rg_alloc", "float_to_decimal"];

pub(crate) fn check() -> Result<()> {
    check_search()?;
    for board in &BOARDS {
        for profile in PROFILES {
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
    Ok(())
}

fn check_image(board: &Board, image: &str, profile: &str) -> Result<()> {
    let elf = Elf::read(&machine::build(board, image, profile)?)?;
    ensure!(!elf.symbols.is_empty(), "no symbols: the check would prove nothing");
    for symbol in &elf.symbols {
        let found = FORBIDDEN.iter().find(|forbidden| symbol.contains(*forbidden));
        ensure!(found.is_none(), "{symbol} is linked in");
    }
    Ok(())
}
