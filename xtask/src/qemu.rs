//! `cargo xtask qemu`: runs the firmware on emulated boards.

mod board;
mod elf;
mod images;
mod machine;
mod selftest;

use crate::{command, setup};
use anyhow::{Context, Result};
use board::{BOARDS, Board};

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only this board: m0, m3, m4f, m7, m33, m55 or rv32
    #[arg(long, value_parser = board::named)]
    board: Option<&'static Board>,
}

/// Formatted and lint-free firmware: one board per architecture is enough, the code is the same.
pub(crate) fn lint_firmware() -> Result<()> {
    for board in BOARDS.iter().filter(|board| ["m0", "m4f", "rv32"].contains(&board.name)) {
        let mut clippy = command::cargo("firmware-example", ["clippy", "--locked", "--target", board.target]);
        command::run(clippy.args(["--features", board.name, "--", "-D", "warnings"]))?;
    }
    Ok(())
}

pub(crate) use images::check as check_images;

pub(crate) fn run(args: Args) -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let boards: Vec<&Board> = args.board.map_or(BOARDS.iter().collect(), |board| vec![board]);
    eprintln!("{}", machine::version()?);
    for board in boards {
        selftest::run(board).with_context(|| format!("board {}", board.name))?;
    }
    Ok(())
}
