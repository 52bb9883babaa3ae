//! The memory of a board while it runs, from the emulator's monitor: how deep its stack has been.

use super::board::Board;
use super::machine::Loaded;
use crate::command;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// Painted below the top of the stack: nearly all that the Cortex-M0 has beside its slots.
const PAINTED: u32 = (12 << 10) - 64;
const PAINT: u8 = 0xa5;

/// A board's stack before it starts, and where the emulator calls us.
pub(super) struct Monitor {
    listener: TcpListener,
    bottom: u32,
    paint: PathBuf,
}

impl Monitor {
    pub(super) fn new(board: &Board) -> Result<Self> {
        let paint = command::root().join("target/stack-paint");
        fs::write(&paint, [PAINT; PAINTED as usize])?;
        Ok(Self { listener: TcpListener::bind("127.0.0.1:0")?, bottom: board.stack_top()? - PAINTED, paint })
    }

    /// What the image is started with.
    pub(super) fn paint(&self) -> Loaded<'_> {
        Loaded { file: &self.paint, address: self.bottom }
    }

    /// The emulator's arguments.
    pub(super) fn arguments(&self) -> Result<[String; 2]> {
        Ok(["-qmp".to_owned(), format!("tcp:{}", self.listener.local_addr()?)])
    }

    /// Bytes of stack that were used until now.
    pub(super) fn stack(&self, board: &Board) -> Result<u32> {
        let (stream, _) = self.listener.accept()?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let file = command::root().join(format!("target/stack-{}", board.name));
        tell(&stream, &mut lines, r#"{"execute": "qmp_capabilities"}"#)?;
        // As the processor sees it: on the Cortex-M0 it has an address space of its own.
        let (bottom, name) = (self.bottom, file.display());
        let save = format!(
            r#"{{"execute": "memsave", "arguments": {{"val": {bottom}, "size": {PAINTED}, "filename": "{name}"}}}}"#
        );
        tell(&stream, &mut lines, &save)?;
        let untouched = fs::read(&file)?.iter().take_while(|&&byte| byte == PAINT).count() as u32;
        ensure!((1..PAINTED).contains(&untouched), "the stack is empty, or deeper than {PAINTED} bytes");
        Ok(PAINTED - untouched)
    }
}

/// A command, and the answer behind greetings and events.
fn tell(
    mut stream: &TcpStream,
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    command: &str,
) -> Result<()> {
    writeln!(stream, "{command}")?;
    let answered = lines.find_map(|line| line.map(|line| line.contains("\"return\"").then_some(line)).transpose());
    answered.context("the emulator hung up")?.context("the emulator does not answer")?;
    Ok(())
}
