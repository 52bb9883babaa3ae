//! Frames over a line that may be slow, silent or noisy.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::time::Duration;

use anyhow::{Context, bail};
use diffgp_link::{Receiver, Request, Response, encode};

/// How long a read waits: after that, whoever waits looks at the clock and at Ctrl-C.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// What bytes come from and go to.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// An open port.
pub(super) struct Line {
    name: String,
    reader: BufReader<Box<dyn Stream>>,
    receiver: Receiver,
}

/// What a byte, or the lack of one, amounts to.
pub(super) enum Heard {
    /// Nothing yet.
    Nothing,
    /// A frame that was no response.
    Damaged,
    Response(Box<Response>),
}

impl Line {
    pub(super) fn new(name: String, stream: impl Read + Write + 'static) -> Self {
        Self { name, reader: BufReader::new(Box::new(stream)), receiver: Receiver::new() }
    }

    /// As the user calls it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Frames so far that were no responses.
    pub(super) fn damaged(&self) -> u32 {
        self.receiver.dropped()
    }

    pub(super) fn send(&mut self, request: &Request) -> anyhow::Result<()> {
        let frame = encode(request).context("a request fits into a frame")?;
        let stream = self.reader.get_mut();
        let sent = stream.write_all(&frame).and_then(|()| stream.flush());
        // Not as its cause: a broken pipe would be taken for that of standard output.
        sent.map_err(|error| anyhow::anyhow!("{}: the device takes no bytes: {error}", self.name))
    }

    /// Takes one byte, or returns after [`QUIET`] without one.
    pub(super) fn listen(&mut self) -> anyhow::Result<Heard> {
        let mut byte = [0];
        match self.reader.read(&mut byte) {
            Ok(0) => bail!("{}: the device hung up", self.name),
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted => return Ok(Heard::Nothing),
                _ => bail!("{}: the device cannot be read: {error}", self.name),
            },
        }
        let before = self.receiver.dropped();
        let response = self.receiver.push(byte[0]);
        Ok(match response {
            Some(response) => Heard::Response(Box::new(response)),
            None if self.receiver.dropped() > before => Heard::Damaged,
            None => Heard::Nothing,
        })
    }
}
