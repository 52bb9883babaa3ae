//! A model update over the serial port of a board: the line is cut at every byte of it, and power in every step.

use super::board::Board;
use super::elf::Elf;
use super::machine::{self, Loaded, numbers};
use super::monitor::Monitor;
use super::serial::Line;
use crate::command;
use anyhow::{Context, Result, bail, ensure};
use diffgp_link::{
    Info, Message, PIECE_BYTES, Receiver, Step, UpdateRefusal, UpdateRequest, UpdateResponse, checksum, encode,
    model_checksum,
};
use std::fs;

/// A model that fits into the slots of every board.
const MODEL: &str = "diffgp-slots/models/steps.dgp";

pub(crate) fn run(board: &Board) -> Result<()> {
    let [old, new] = models()?;
    // The second one is the first over asynchronous flash.
    for image in ["update", "executor"] {
        over_the_line(board, image, &old, &new).with_context(|| format!("updates over the line, image {image}"))?;
    }
    power_cuts(board, &old, &new).context("power cuts")
}

/// The small model, and the same with another number in it.
fn models() -> Result<[Vec<u8>; 2]> {
    let old = fs::read(command::root().join(MODEL))?;
    let mut new = old[..old.len() - 4].to_vec();
    let number = new.chunks_exact(4).rposition(|word| word != [0; 4]).context("a model of zeros")?;
    new[4 * number] ^= 1;
    new.extend(checksum(&new).to_le_bytes());
    Ok([old, new])
}

/// Every frame of an update is cut at every byte of it; after each cut the old model is in use, and the update goes on.
fn over_the_line(board: &Board, name: &str, old: &[u8], new: &[u8]) -> Result<()> {
    let image = machine::build(board, name, "release")?;
    let monitor = Monitor::new(board)?;
    let line = Line::open(board, &image, &[monitor.paint()], &monitor.arguments()?)?;
    let mut asker = Asker { line, receiver: Receiver::new(), id: 0, cuts: 0 };
    let nothing = asker.ask(Step::Info)?;
    ensure!(nothing.model.is_none() && nothing.received == 0, "a new device has {nothing:?}");
    asker.send(old, None)?;
    let first = asker.ask(Step::Confirm)?;
    ensure!(first.model == model_checksum(old) && first.confirmed, "after a first update: {first:?}");

    asker.send(new, Some(old))?;
    let trial = asker.ask(Step::Info)?;
    ensure!(trial.model == model_checksum(new) && trial.on_trial && !trial.confirmed, "after an update: {trial:?}");
    let back = asker.ask(Step::TakeBack)?;
    ensure!(back.model == model_checksum(old) && back.confirmed && !back.on_trial, "taken back: {back:?}");
    let refused = asker.outcome(Step::Confirm)?;
    ensure!(refused == Err(UpdateRefusal::NothingOnTrial), "a confirmation of nothing: {refused:?}");

    // Damaged on the way to the line, where no checksum sees it.
    let mut damaged = new.to_vec();
    damaged[new.len() / 2] ^= 1;
    asker.pieces(&damaged, None)?;
    ensure!(asker.outcome(Step::Commit)?.is_err(), "a damaged model was taken");
    let after = asker.ask(Step::Info)?;
    ensure!(after.model == model_checksum(old) && after.confirmed, "after a damaged model: {after:?}");
    let (elf, stack) = (Elf::read(&image)?, monitor.stack(board)?);
    let (flash, slots) = (elf.flash_bytes(), elf.static_ram_bytes());
    eprintln!("{}: image {name}, {} cuts of the line, models lost: 0", board.core, asker.cuts);
    eprintln!(
        "{}: image {name}, {flash} bytes of flash, {stack} of stack, {slots} of static RAM with the slots",
        board.core
    );
    Ok(())
}

/// Asks a device on a line that is cut.
struct Asker {
    line: Line,
    receiver: Receiver,
    id: u32,
    cuts: usize,
}

impl Asker {
    fn ask(&mut self, step: Step) -> Result<Info> {
        let shown = format!("{step:?}");
        self.outcome(step)?.map_err(|refusal| anyhow::anyhow!("{shown}: {refusal:?}"))
    }

    fn outcome(&mut self, step: Step) -> Result<Result<Info, UpdateRefusal>> {
        self.id += 1;
        self.line.send(&frame(&UpdateRequest { id: self.id, step })?)?;
        loop {
            let byte = self.line.byte()?;
            let Some(response) = self.receiver.push::<UpdateResponse>(byte) else { continue };
            if response.id == self.id {
                return Ok(response.outcome);
            }
        }
    }

    /// A whole update. With an old model, every frame is first sent in part, up to every byte, as by a line that is lost.
    fn send(&mut self, file: &[u8], old: Option<&[u8]>) -> Result<Info> {
        self.pieces(file, old)?;
        self.cut(&Step::Commit, old)?;
        self.ask(Step::Commit)
    }

    fn pieces(&mut self, file: &[u8], old: Option<&[u8]>) -> Result<()> {
        let begin = Step::Begin { length: file.len() as u32, checksum: checksum(file) };
        self.cut(&begin, old)?;
        let mut received = self.ask(begin.clone())?.received as usize;
        while received < file.len() {
            let bytes = file[received..].iter().copied().take(PIECE_BYTES).collect();
            let piece = Step::Piece { offset: received as u32, bytes };
            self.cut(&piece, old)?;
            // What was received before the cuts is there.
            ensure!(self.ask(begin.clone())?.received as usize == received, "bytes were lost with the line");
            let next = self.ask(piece)?.received as usize;
            if next <= received {
                bail!("the device does not take the bytes at {received}");
            }
            received = next;
        }
        Ok(())
    }

    fn cut(&mut self, step: &Step, old: Option<&[u8]>) -> Result<()> {
        let Some(old) = old else { return Ok(()) };
        let frame = frame(&UpdateRequest { id: 0, step: step.clone() })?;
        // Without its last zero a frame does not count; the next one begins with one.
        for length in 1..frame.len() - 1 {
            self.line.send(&frame[..length])?;
            let info = self.ask(Step::Info)?;
            ensure!(info.model == model_checksum(old) && info.confirmed, "cut at byte {length} of {step:?}: {info:?}");
            self.cuts += 1;
        }
        Ok(())
    }
}

fn frame(message: &impl Message) -> Result<Vec<u8>> {
    Ok(encode(message).context("a request fits into a frame")?.to_vec())
}

/// The image cuts power itself, in every word written and every erase, and counts what it finds after the reset.
fn power_cuts(board: &Board, old: &[u8], new: &[u8]) -> Result<()> {
    let image = machine::build(board, "power_cuts", "release")?;
    let file = command::root().join(format!("target/two-models-{}.bin", board.name));
    fs::write(&file, [old, new].concat())?;
    let finished = machine::run(board, &image, &[Loaded { file: &file, address: board.model_address }])?;
    ensure!(finished.status.success(), "the image ended with {}: {}", finished.status, finished.stdout);
    let words = numbers(&finished.stdout, "cuts")?;
    let [cuts, renewed, lost] = words[..] else { bail!("three numbers expected: {words:?}") };
    ensure!(
        lost == 0 && renewed > 0 && cuts > 5 * (new.len() as u32 / 4),
        "{cuts} cuts, {renewed} renewed, {lost} lost"
    );
    ensure!(numbers(&finished.stdout, "taken-back")? == [1], "a model that nobody confirmed was not taken back");
    eprintln!("{}: {cuts} power cuts, models lost: {lost}; not confirmed, taken back at the next boot", board.core);
    Ok(())
}

#[cfg(test)]
mod tests {
    /// As part of `cargo xtask qemu` it runs on every board.
    #[test]
    #[ignore = "needs QEMU and the firmware"]
    fn updates_on_a_board() {
        let board = std::env::var("BOARD").unwrap_or("m4f".to_owned());
        super::run(super::super::board::named(&board).unwrap()).unwrap();
    }

    #[test]
    fn the_two_models_are_two() {
        let [old, new] = super::models().unwrap();
        assert_eq!((old.len(), old == new), (new.len(), false));
    }
}
