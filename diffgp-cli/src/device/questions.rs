//! One request, one answer: asked again when an answer is lost or damaged.

use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;
use diffgp_link::{Request, Response};

use super::line::{Heard, Line};
use crate::interrupt;

/// Asks a device, one row after the other.
pub(super) struct Questions {
    line: Line,
    timeout: Duration,
    allowed: u32,
    retries: usize,
    /// Added to every id: answers to questions of an earlier run must not be taken for ours.
    first_id: u32,
}

enum Waited {
    Answer(Box<Response>),
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
    pub(super) fn retries(&self) -> usize {
        self.retries
    }

    /// The answer; `None` after Ctrl-C.
    pub(super) fn ask(&mut self, request: &Request) -> anyhow::Result<Option<Response>> {
        let request = Request { id: self.first_id.wrapping_add(request.id), ..request.clone() };
        for left in (0..=self.allowed).rev() {
            self.line.send(&request)?;
            match self.wait(request.id, left > 0)? {
                Waited::Answer(response) => return Ok(Some(*response)),
                Waited::Interrupted => return Ok(None),
                Waited::Vain => self.retries += usize::from(left > 0),
            }
        }
        let hint = match self.line.damaged() {
            0 => "does the serial firmware run there? --timeout gives it longer".to_owned(),
            damaged => format!("{damaged} frames came in damaged: is the speed (--baud) the device's?"),
        };
        bail!(
            "{}: no answer to row {} within {} s, asked {} times; {hint}",
            self.line.name(),
            request.row + 1,
            self.timeout.as_secs_f64(),
            u64::from(self.allowed) + 1
        )
    }

    /// A damaged frame may have been the answer: whoever may ask again does so at once instead of waiting to the end.
    fn wait(&mut self, id: u32, may_ask_again: bool) -> anyhow::Result<Waited> {
        let deadline = Instant::now() + self.timeout;
        while Instant::now() < deadline {
            if interrupt::asked() {
                return Ok(Waited::Interrupted);
            }
            match self.line.listen()? {
                Heard::Response(response) if response.id == id => return Ok(Waited::Answer(response)),
                Heard::Damaged if may_ask_again => return Ok(Waited::Vain),
                // An answer that was asked for twice comes twice.
                Heard::Response(_) | Heard::Damaged | Heard::Nothing => {}
            }
        }
        Ok(Waited::Vain)
    }
}
