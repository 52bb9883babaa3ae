//! `cargo xtask qemu`: runs the firmware on emulated boards, compares its bits with the host's and measures it.

mod bars;
mod board;
mod cases;
mod device;
mod elf;
mod example;
mod figures;
mod host;
mod images;
mod machine;
mod measure;
mod monitor;
mod new_firmware;
mod selftest;
mod serial;
mod table;
mod traced;
mod update;
mod wasm;

pub(crate) use self::table::grouped;
use crate::{command, setup};
use anyhow::{Context, Result, anyhow};
use board::BOARDS;
pub(crate) use board::Board;
use figures::{Figures, Record};
use machine::Arithmetic;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only this board: m0, m3, m4f, m7, m33, m55, rv32 or rv32imc
    #[arg(long, value_parser = board::named)]
    board: Option<&'static Board>,
    /// Only updates of a model: the line cut at every byte, power in every step; m0, m4f and rv32
    #[arg(long)]
    updates: bool,
    /// Only the projects of `diffgp new-firmware`: built, run, and compared with `diffgp predict`
    #[arg(long)]
    projects: bool,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
    /// Accept the figures as the new checked-in ones
    #[arg(long)]
    overwrite: bool,
}

pub(crate) fn run(args: Args) -> Result<()> {
    setup::run(setup::Need::Everything)?;
    if args.updates {
        return updates(args.board);
    }
    host::build()?;
    if args.projects {
        return BOARDS
            .iter()
            .filter(|board| args.board.is_none_or(|only| only.name == board.name))
            .try_for_each(new_firmware::run);
    }
    let cases = cases::make()?;
    if args.board.is_none() {
        wasm::run(&cases)?;
    }
    let boards: Vec<&Board> = args.board.map_or(BOARDS.iter().collect(), |board| vec![board]);
    let figures = on_boards(&boards, &cases)?;
    let record = Record::new(figures.clone())?;
    if args.json {
        println!("{}", record.to_json()?);
    } else {
        print!("{}", table::tables(&figures)?);
    }
    if args.overwrite {
        record.overwrite()?;
    }
    // A missed bar matters more than a difference, and accepting a difference does not lower a bar.
    bars::check(&figures)?;
    if args.overwrite { Ok(()) } else { record.compare() }
}

/// Two boards at a time: an emulator keeps one core busy. The first error counts, and no board is begun after it.
fn on_boards(boards: &[&Board], cases: &[cases::Case]) -> Result<Vec<Figures>> {
    // From the end: the RISC-V boards take the longest.
    let next = Mutex::new(boards.iter().rev());
    let failed = AtomicBool::new(false);
    let work = || {
        let mut figures = Vec::new();
        loop {
            let board = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(board) = board.filter(|_| !failed.load(Ordering::Relaxed)) else { return Ok(figures) };
            eprintln!("{}", board.core);
            let measured = on_board(board, cases).with_context(|| format!("board {}", board.name));
            failed.fetch_or(measured.is_err(), Ordering::Relaxed);
            figures.push(measured?);
        }
    };
    let mut figures = thread::scope(|scope| {
        let other = scope.spawn(work);
        let (mine, others): (Result<Vec<_>>, _) = (work(), other.join());
        let others: Result<Vec<_>> = others.unwrap_or_else(|_| Err(anyhow!("a board's checks panicked")));
        Ok::<_, anyhow::Error>([mine?, others?].concat())
    })?;
    figures.sort_by_key(|figures| board::position(&figures.board));
    Ok(figures)
}

/// Boards of three architectures that models are replaced on.
const UPDATED: [&str; 3] = ["m0", "m4f", "rv32"];

fn updates(only: Option<&Board>) -> Result<()> {
    let boards =
        BOARDS.iter().filter(|board| only.map_or(UPDATED.contains(&board.name), |only| only.name == board.name));
    boards.into_iter().try_for_each(|board| update::run(board).with_context(|| format!("board {}", board.name)))
}

fn on_board(board: &Board, cases: &[cases::Case]) -> Result<Figures> {
    selftest::run(board)?;
    if board.is_twin() {
        return measure::run(board, cases);
    }
    example::run(board, cases).context("example")?;
    new_firmware::run(board)?;
    serial::run(board, cases).context("serial port")?;
    device::run(board, cases).context("diffgp device")?;
    if UPDATED.contains(&board.name) {
        update::run(board)?;
    }
    measure::run(board, cases)
}

/// Lint-free firmware: one board per architecture is enough, the code is the same. `warnings` is a flag of the compiler.
pub(crate) fn lint_firmware(warnings: &str) -> Result<()> {
    for board in BOARDS.iter().filter(|board| ["m0", "m4f", "rv32"].contains(&board.name)) {
        let mut clippy = command::cargo("firmware-example", ["clippy", "--locked", "--target", board.target]);
        command::run(clippy.args(["--features", board.feature, "--", warnings]))?;
    }
    let wasm = ["clippy", "--locked", "--target", "wasm32-unknown-unknown", "--", warnings];
    command::run(&mut command::cargo("firmware-example/wasm", wasm))
}

/// The image of this name in the profile of the figures.
pub(crate) fn image(board: &Board, name: &str) -> Result<PathBuf> {
    machine::build(board, name, "release")
}

/// The same in another profile.
pub(crate) fn image_in(board: &Board, name: &str, profile: &str) -> Result<PathBuf> {
    machine::build(board, name, profile)
}

/// The same for real targets in f32 alone.
pub(crate) fn bare_image(board: &Board, name: &str) -> Result<PathBuf> {
    machine::build_bare(board, name, "release", Arithmetic::Single)
}

/// What the boards are asked to compute, made afresh.
pub(crate) fn cases() -> Result<Vec<Case>> {
    host::build()?;
    cases::make()
}

pub(crate) use board::named as board;
pub(crate) use cases::Case;
pub(crate) use elf::Elf;
pub(crate) use figures::{recorded_arithmetic, recorded_rustc, recorded_stack, rustc};
pub(crate) use host::diffgp;
pub(crate) use images::check as check_images;
pub(crate) use machine::{Loaded, numbers, run as run_image, version};
pub(crate) use measure::{compare, counted};
pub(crate) use selftest::CALIBRATION_INSTRUCTIONS;
