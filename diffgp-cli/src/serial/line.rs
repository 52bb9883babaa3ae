//! Frames over a line that may be slow, silent or noisy.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::time::Duration;

use anyhow::{Context, bail};
use diffgp_link::{Message, PROTOCOL, Receiver, encode};

/// How long a read waits: after that, whoever waits looks at the clock and at Ctrl-C.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// What bytes come from and go to.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// Nobody is at the other end any more: it may come back.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct LineLost(String);

/// An open port.
pub(crate) struct Line {
    name: String,
    reader: BufReader<Box<dyn Stream>>,
    receiver: Receiver,
}

/// What a byte, or the lack of one, amounts to.
pub(super) enum Heard<M> {
    /// Nothing yet.
    Nothing,
    /// A frame that was not what is expected.
    Damaged,
    Message(Box<M>),
}

impl Line {
    pub(super) fn new(name: String, stream: impl Read + Write + 'static) -> Self {
        Self { name, reader: BufReader::new(Box::new(stream)), receiver: Receiver::new() }
    }

    /// As the user calls it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Frames so far that were not what was expected.
    pub(super) fn damaged(&self) -> u32 {
        self.receiver.dropped()
    }

    pub(super) fn send(&mut self, message: &impl Message) -> anyhow::Result<()> {
        let frame = encode(message).context("a request fits into a frame")?;
        let stream = self.reader.get_mut();
        let sent = stream.write_all(&frame).and_then(|()| stream.flush());
        // Not as its cause: a broken pipe would be taken for that of standard output.
        sent.map_err(|error| LineLost(format!("{}: the device takes no bytes: {error}", self.name)).into())
    }

    /// Takes one byte, or returns after [`QUIET`] without one.
    pub(super) fn listen<M: Message>(&mut self) -> anyhow::Result<Heard<M>> {
        let mut byte = [0];
        match self.reader.read(&mut byte) {
            Ok(0) => return Err(LineLost(format!("{}: the device hung up", self.name)).into()),
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted => return Ok(Heard::Nothing),
                _ => return Err(LineLost(format!("{}: the device cannot be read: {error}", self.name)).into()),
            },
        }
        let before = self.receiver.dropped();
        let Some(whole) = self.receiver.take(byte[0]) else {
            return Ok(if self.receiver.dropped() > before { Heard::Damaged } else { Heard::Nothing });
        };
        if let Some(version) = whole.other_version() {
            bail!(
                "{}: the device speaks version {version} of the protocol, this program {PROTOCOL}; use the program that \
                 the firmware came with",
                self.name
            );
        }
        if let Some(message) = whole.read() {
            return Ok(Heard::Message(Box::new(message)));
        }
        self.receiver.drop_frame();
        Ok(Heard::Damaged)
    }
}
