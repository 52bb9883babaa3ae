//! One request, one answer: asked again when an answer is lost or damaged.

use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;

use super::Question;
use super::line::{Heard, Line};
use crate::interrupt;

/// Asks a device, one question after the other.
pub(crate) struct Questions {
    line: Line,
    timeout: Duration,
    allowed: u32,
    retries: usize,
    /// Added to every id: answers to questions of an earlier run must not be taken for ours.
    first_id: u32,
}

enum Waited<M> {
    Answer(Box<M>),
    Vain,
    Interrupted,
}

impl Questions {
    /// Waits so long for an answer, and asks again at most so often.
    pub(super) fn new(line: Line, timeout: Duration, allowed: u32) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { line, timeout, allowed, retries: 0, first_id: since.as_micros() as u32 }
    }

    /// How often it asked again, over all questions.
    pub(crate) fn retries(&self) -> usize {
        self.retries
    }

    /// The answer; `None` after Ctrl-C.
    pub(crate) fn ask<Q: Question>(&mut self, question: &Q) -> anyhow::Result<Option<Q::Answer>> {
        let mut question = question.clone();
        let id = self.first_id.wrapping_add(*question.id());
        *question.id() = id;
        for left in (0..=self.allowed).rev() {
            self.line.send(&question)?;
            match self.wait::<Q>(id, left > 0)? {
                Waited::Answer(answer) => return Ok(Some(*answer)),
                Waited::Interrupted => return Ok(None),
                Waited::Vain => self.retries += usize::from(left > 0),
            }
        }
        let hint = match self.line.damaged() {
            0 => "does firmware that answers run there? --timeout gives it longer".to_owned(),
            damaged => format!("{damaged} frames came in damaged: is the speed (--baud) the device's?"),
        };
        bail!(
            "{}: no answer to {} within {} s, asked {} times; {hint}",
            self.line.name(),
            question.name(),
            self.timeout.as_secs_f64(),
            u64::from(self.allowed) + 1
        )
    }

    /// A damaged frame may have been the answer: whoever may ask again does so at once instead of waiting to the end.
    fn wait<Q: Question>(&mut self, id: u32, may_ask_again: bool) -> anyhow::Result<Waited<Q::Answer>> {
        let deadline = Instant::now() + self.timeout;
        while Instant::now() < deadline {
            if interrupt::asked() {
                return Ok(Waited::Interrupted);
            }
            match self.line.listen::<Q::Answer>()? {
                Heard::Message(answer) if Q::answered(&answer) == id => return Ok(Waited::Answer(answer)),
                Heard::Damaged if may_ask_again => return Ok(Waited::Vain),
                // An answer that was asked for twice comes twice.
                Heard::Message(_) | Heard::Damaged | Heard::Nothing => {}
            }
        }
        Ok(Waited::Vain)
    }
}
