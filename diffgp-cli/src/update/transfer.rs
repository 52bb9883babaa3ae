//! A file in pieces, over a line that may be lost and found again.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use diffgp_link::{Fault, Info, PIECE_BYTES, Step, UpdateRefusal, UpdateRequest, checksum};
use indicatif::ProgressBar;

use crate::failure::mistake;
use crate::interrupt;
use crate::serial::{LineArgs, LineLost, Port, Questions};

/// Before a lost line is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Questions to one device.
pub(super) struct Transfer<'a> {
    line: &'a LineArgs,
    port: Port,
    questions: Questions,
    id: u32,
    /// How often the line was lost, and those of the questions before.
    retries: usize,
}

impl<'a> Transfer<'a> {
    pub(super) fn open(line: &'a LineArgs) -> anyhow::Result<Self> {
        let port = line.port()?;
        let questions = line.open(&port)?;
        Ok(Self { line, port, questions, id: 0, retries: 0 })
    }

    /// Questions that were asked again, and lines that were found again.
    pub(super) fn retries(&self) -> usize {
        self.retries + self.questions.retries()
    }

    /// What the device has after a step.
    pub(super) fn ask(&mut self, step: Step) -> anyhow::Result<Info> {
        self.id = self.id.wrapping_add(1);
        let request = UpdateRequest { id: self.id, step };
        let Some(answer) = self.questions.ask(&request)? else { bail!("interrupted; the same command goes on") };
        answer.outcome.map_err(|refusal| refused(&self.line.port, refusal))
    }

    /// Sends what the device does not have of a file yet; how much that was.
    pub(super) fn send(&mut self, file: &[u8]) -> anyhow::Result<usize> {
        let bar = ProgressBar::new(file.len() as u64);
        let mut sent = 0;
        for left in (0..=self.line.retries).rev() {
            match self.send_rest(file, &bar, &mut sent) {
                Err(error) if error.is::<LineLost>() && left > 0 => self.reopen(error)?,
                ended => {
                    bar.finish_and_clear();
                    return ended.map(|()| sent);
                }
            }
        }
        bail!("{}: the line was lost too often", self.line.port)
    }

    fn send_rest(&mut self, file: &[u8], bar: &ProgressBar, sent: &mut usize) -> anyhow::Result<()> {
        let length = u32::try_from(file.len())?;
        let mut info = self.ask(Step::Begin { length, checksum: checksum(file) })?;
        while info.received < length {
            bar.set_position(info.received.into());
            let before = info.received;
            let from = file.get(before as usize..).unwrap_or_default();
            let bytes = from.iter().copied().take(PIECE_BYTES).collect();
            info = self.ask(Step::Piece { offset: before, bytes })?;
            if info.received <= before {
                bail!("{}: the device does not take the bytes at {before}", self.line.port);
            }
            *sent += (info.received - before) as usize;
        }
        Ok(())
    }

    /// Waits until the device is there again.
    fn reopen(&mut self, lost: anyhow::Error) -> anyhow::Result<()> {
        let deadline = Instant::now() + self.line.timeout();
        loop {
            if interrupt::asked() {
                bail!("interrupted; the same command goes on");
            }
            thread::sleep(PAUSE);
            if let Ok(questions) = self.line.open(&self.port) {
                self.retries += 1 + self.questions.retries();
                self.questions = questions;
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(lost);
            }
        }
    }
}

/// A refusal in words; a mistake if another model, key or counter would be right.
fn refused(port: &str, refusal: UpdateRefusal) -> anyhow::Error {
    let fault = match refusal {
        UpdateRefusal::Model(fault) => fault,
        UpdateRefusal::TooLong { capacity } => {
            return mistake(format!("{port}: the file is longer than the {capacity} bytes that a slot holds"));
        }
        UpdateRefusal::NothingOnTrial => {
            return anyhow!(
                "{port}: no model is on trial: it was taken back when the device started again; send it once more"
            );
        }
        UpdateRefusal::NotBegun => {
            return anyhow!("{port}: the device has started again, or takes another file; run this once more");
        }
        UpdateRefusal::Incomplete { received } => {
            return anyhow!("{port}: the device has only {received} bytes; run this once more");
        }
        UpdateRefusal::Flash => {
            return anyhow!("{port}: the flash of the device failed; the old model is in use");
        }
        UpdateRefusal::Unknown => {
            return anyhow!(
                "{port}: the flash of the device failed in the last step; restart the device and run this once more: it \
                 says which model is there"
            );
        }
        _ => return anyhow!("{port}: the device refuses ({refusal:?})"),
    };
    mistake(match fault {
        Fault::NotAModel => format!("{port}: the firmware cannot read this model; expected one of its version"),
        Fault::Unsigned => format!("{port}: the device takes signed models only; `diffgp sign` signs this one"),
        Fault::OtherKey => {
            format!("{port}: the firmware does not know the key of this signature; expected one of its own keys")
        }
        Fault::Forged => format!("{port}: the signature is not that of this model; `diffgp sign` makes it anew"),
        Fault::Older { counter, least } => format!(
            "{port}: the model has the counter {counter}, and the device takes {least} or more; sign a newer one with that"
        ),
        Fault::Workspace { needed: [d, m, o] } => {
            format!("{port}: the firmware has no room for a Workspace::<{d}, {m}, {o}>, which the model needs")
        }
        Fault::Work { operations, most } => {
            format!("{port}: the model takes {operations} operations per path, the firmware allows {most}")
        }
        _ => format!("{port}: the firmware does not want this model"),
    })
}
