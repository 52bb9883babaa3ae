//! All bars of a board in one image, the smallest one: it measures nothing itself. The emulator writes down the
//! instructions of every block of code and a line whenever it executes one, and saves the memory below the top of the
//! stack, which was painted before the start.
//!
//! The image predicts in turn along the drift and on one sampled path, in two functions with known names. From the entry
//! of one to the entry of the other is a prediction, with the few instructions of the loop around it.

use super::board::Board;
use super::machine::{self, Loaded};
use crate::command;
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PAINTED: u32 = 8 << 10;
const PAINT: u8 = 0xa5;
/// More than twice the instructions of the longest case.
const MOST_INSTRUCTIONS: u64 = 30_000_000;
/// For saving the memory, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the emulator saw.
pub(crate) struct Traced {
    /// Instructions of a prediction along the drift.
    pub(crate) drift: f64,
    /// Instructions of a sampled path.
    pub(crate) sampled: f64,
    /// The whole stack, with the workspace on it.
    pub(crate) stack: u32,
}

/// Runs an image with a model until both predictions are done.
pub(crate) fn run(board: &Board, image: &Path, model: &Path) -> Result<Traced> {
    let directory = command::root().join("target");
    let [paint, saved] = ["paint", "stack"].map(|name| directory.join(format!("traced-{name}-{}", board.name)));
    fs::write(&paint, [PAINT; PAINTED as usize])?;
    let bottom = board.stack_top()? - PAINTED;
    let loaded = [Loaded { file: model, address: board.model_address }, Loaded { file: &paint, address: bottom }];
    let mut emulator = start(board, image, &loaded)?;
    let mut trace = BufReader::new(emulator.stderr.take().context("the emulator has no log")?);
    let counted = count(&mut trace);
    // The emulator must not block on a full pipe while it is being talked to.
    let rest = thread::spawn(move || io::copy(&mut trace, &mut io::sink()));
    let ended = save(&mut emulator, bottom, &saved);
    let _ = rest.join();
    let ([drift, sampled], ()) = (counted?, ended?);
    let stack = fs::read(&saved)?;
    let untouched = stack.iter().take_while(|&&byte| byte == PAINT).count() as u32;
    ensure!((1..PAINTED).contains(&untouched), "the stack is empty, or deeper than {PAINTED} bytes");
    Ok(Traced { drift: drift as f64, sampled: sampled as f64, stack: PAINTED - untouched })
}

/// The log on standard error: blocks when they are translated, and one line for each that is executed.
fn start(board: &Board, image: &Path, loaded: &[Loaded<'_>]) -> Result<Child> {
    let mut qemu = Command::new("qemu-system-arm");
    qemu.args(["-M", board.machine, "-display", "none", "-serial", "none", "-monitor", "stdio"]);
    qemu.args(["-d", "in_asm,exec,nochain"]);
    machine::load(&mut qemu, image, loaded);
    qemu.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    qemu.spawn().context("cannot start the emulator")
}

/// Instructions from the first entry of `along_the_drift` to the first of `sampled`, and from there to the next of the
/// former.
fn count(log: impl BufRead) -> Result<[u64; 2]> {
    let mut log = Log { lines: log, blocks: HashMap::new(), translated: None, executed: 0 };
    let (drift, start) = log.run_to("along_the_drift", None)?;
    let (_, middle) = log.run_to("sampled", None)?;
    let (_, end) = log.run_to("along_the_drift", Some(drift))?;
    Ok([middle - start, end - middle])
}

/// The emulator's log:
///
/// ```text
/// IN: along_the_drift
/// 0x00000270:  b5f0       push     {r4, r5, r6, r7, lr}
/// 0x00000272:  …
/// Trace 0: 0x7f9a0406d940 [00800400/00000270/00000010/ff000201] along_the_drift
/// ```
struct Log<L> {
    lines: L,
    /// Instructions of the block at an address.
    blocks: HashMap<u32, u64>,
    /// The block that is being written down.
    translated: Option<u32>,
    /// Instructions so far.
    executed: u64,
}

impl<L: BufRead> Log<L> {
    /// Reads on until a block of this function begins: the first one, or the one at this address. Returns its address
    /// and the instructions executed before it.
    fn run_to(&mut self, function: &str, address: Option<u32>) -> Result<(u32, u64)> {
        let mut line = String::new();
        while self.executed < MOST_INSTRUCTIONS {
            line.clear();
            ensure!(self.lines.read_line(&mut line)? > 0, "the emulator ended before {function}");
            if line.starts_with("IN:") {
                self.translated = None;
            } else if let Some(instruction) = line.strip_prefix("0x") {
                let at = number(instruction.split(':').next())?;
                let block = *self.translated.get_or_insert(at);
                // A block that is translated again begins anew.
                *self.blocks.entry(block).and_modify(|size| *size *= u64::from(at != block)).or_default() += 1;
            } else if line.starts_with("Trace") {
                let at = number(line.split('/').nth(1))?;
                let before = self.executed;
                self.executed += self.blocks.get(&at).context("a block that was not translated")?;
                let named = line.split_whitespace().last() == Some(function);
                if named && address.is_none_or(|address| address == at) {
                    return Ok((at, before));
                }
            }
        }
        bail!("{function} was not reached within {MOST_INSTRUCTIONS} instructions")
    }
}

fn number(hexadecimal: Option<&str>) -> Result<u32> {
    u32::from_str_radix(hexadecimal.unwrap_or_default(), 16).context("a line of the log without an address")
}

/// Has the emulator write the memory below the top of the stack, as the processor sees it, to a file, and ends it.
fn save(emulator: &mut Child, bottom: u32, file: &Path) -> Result<()> {
    let mut monitor = emulator.stdin.take().context("the emulator has no monitor")?;
    let told = writeln!(monitor, "stop\nmemsave {bottom:#x} {PAINTED} \"{}\"\nquit", file.display());
    let deadline = Instant::now() + PATIENCE;
    while told.is_ok() && Instant::now() < deadline {
        if emulator.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    emulator.kill()?;
    emulator.wait()?;
    bail!("the emulator did not save its memory")
}

#[cfg(test)]
mod tests {
    use super::count;

    const LOG: &str = "\
----------------
IN: main
0x00000002:  b580       push     {r7, lr}
0x00000004:  f000 fa89  bl       #0x10

Trace 0: 0x7f [00800408/00000002/00000110/ff000200] main
IN: along_the_drift
0x00000010:  b580       push     {r7, lr}
0x00000012:  466f       mov      r7, sp
0x00000014:  bd80       pop      {r7, pc}

Trace 0: 0x7f [00800408/00000010/00000110/ff000200] along_the_drift
Trace 0: 0x7f [00800408/00000002/00000110/ff000200] main
IN: sampled
0x00000020:  4770       bx       lr

Trace 0: 0x7f [00800408/00000020/00000110/ff000200] sampled
IN: along_the_drift
0x00000012:  466f       mov      r7, sp

Trace 0: 0x7f [00800408/00000012/00000110/ff000200] along_the_drift
IN: main
0x00000002:  b580       push     {r7, lr}

Trace 0: 0x7f [00800408/00000002/00000110/ff000200] main
Trace 0: 0x7f [00800408/00000010/00000110/ff000200] along_the_drift
";

    #[test]
    fn instructions_between_entries_are_counted() {
        assert_eq!(count(LOG.as_bytes()).unwrap(), [3 + 2, 1 + 1 + 1]);
        let cut = LOG.rfind("Trace").unwrap();
        assert!(count(&LOG.as_bytes()[..cut]).is_err());
    }
}
