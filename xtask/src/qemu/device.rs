//! `diffgp device` as a user runs it, against a board whose serial port is a TCP port or a pseudo-terminal.

use super::board::Board;
use super::cases::Case;
use super::host;
use super::machine::{self, Loaded, Serial};
use crate::command::{self, Finished};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// A regression trained on the power data.
const MODEL: &str = "v2-power";
/// Another one.
const OTHER_MODEL: &str = "small";
/// For one run of the command, on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(600);
const ROWS: usize = 5;

pub(crate) fn run(board: &Board, cases: &[Case]) -> Result<()> {
    let named = |name| cases.iter().find(|case| case.name == name).with_context(|| format!("no case {name}"));
    let (case, other) = (named(MODEL)?, named(OTHER_MODEL)?);
    let table = write_table(board, case)?;

    compare(board, case, &table, Serial::TcpServer, &[])?;
    compare(board, case, &table, Serial::TcpServer, &["--paths", "2", "--seed", "3"])?;
    // One board is enough for the way through a terminal: behind it everything is the same.
    if board.name == "m4f" {
        compare(board, case, &table, Serial::Terminal, &["--baud", "57600"])?;
    }

    let emulated = Emulated::start(board, case, Serial::TcpServer)?;
    let refused = emulated.device(&other.model, &table, &[])?;
    ensure!(
        refused.status.code() == Some(2) && refused.stderr.contains("another model"),
        "another model than the device's: {} {}",
        refused.status,
        refused.stderr
    );
    Ok(())
}

fn compare(board: &Board, case: &Case, table: &Path, serial: Serial, flags: &[&str]) -> Result<()> {
    let emulated = Emulated::start(board, case, serial)?;
    let finished = emulated.device(&case.model, table, flags)?;
    let context = || format!("diffgp device {flags:?} over {serial:?}: {}", finished.stderr);
    ensure!(finished.status.success(), context());
    let report: serde_json::Value = serde_json::from_str(&finished.stdout).with_context(context)?;
    ensure!(report["n"] == ROWS && report["equal"] == ROWS && report["different"] == 0, "{}: {report}", context());
    ensure!(report["ticks_min"].as_u64() > Some(0), "predictions without cost: {report}");
    Ok(())
}

/// The rows of the job as a CSV file without a header.
fn write_table(board: &Board, case: &Case) -> Result<PathBuf> {
    let mut table = String::new();
    for row in 0..ROWS {
        let cells: Vec<String> = case.row(row)?.iter().map(|x| format!("{x:?}")).collect();
        table += &(cells.join(",") + "\n");
    }
    let path = case.model.with_extension(format!("{}.csv", board.name));
    fs::write(&path, table)?;
    Ok(path)
}

/// A board that waits for a connection to its serial port. It runs until this is dropped.
struct Emulated {
    emulator: Child,
    port: String,
}

impl Emulated {
    fn start(board: &Board, case: &Case, serial: Serial) -> Result<Self> {
        let image = machine::build(board, "serial", "release")?;
        let model = Loaded { file: &case.model, address: board.model_address };
        let mut emulator = machine::start_with_serial(board, &image, &[model], serial, &[])?;
        // It tells where its port is: on standard error for TCP, on standard output for a terminal.
        let said: Box<dyn Read> = match (serial, emulator.stdout.take(), emulator.stderr.take()) {
            (Serial::Terminal, Some(stdout), _) => Box::new(stdout),
            (_, _, Some(stderr)) => Box::new(stderr),
            _ => bail!("the emulator has no output"),
        };
        let mut emulated = Self { emulator, port: String::new() };
        let mut lines = BufReader::new(said).lines();
        emulated.port = lines.find_map(|line| port(&line.ok()?)).context("the emulator does not name its port")?;
        Ok(emulated)
    }

    /// Runs the command.
    fn device(&self, model: &Path, table: &Path, flags: &[&str]) -> Result<Finished> {
        let mut diffgp = host::diffgp();
        diffgp.arg("device").arg(model).arg(table);
        diffgp.args(["--json", "--timeout", "30", "--retries", "9", "--port", &self.port]).args(flags);
        command::run_limited(&mut diffgp, TIME_LIMIT)
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // It is on its own way out if this fails.
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
    }
}

/// What to say to `--port`, from a line like `… disconnected:tcp:127.0.0.1:43367,server=on` or
/// `char device redirected to /dev/pts/0 (label serial0)`.
fn port(line: &str) -> Option<String> {
    let words = line.split_whitespace();
    let mut ports = words.filter_map(|word| match word.strip_prefix("disconnected:") {
        Some(address) => address.split(',').next(),
        None => word.starts_with("/dev/").then_some(word),
    });
    ports.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::port;

    #[test]
    fn the_port_is_found_in_what_the_emulator_says() {
        let tcp = "qemu: info: QEMU waiting for connection on: disconnected:tcp:127.0.0.1:43367,server=on";
        assert_eq!(port(tcp).as_deref(), Some("tcp:127.0.0.1:43367"));
        assert_eq!(port("char device redirected to /dev/pts/0 (label serial0)").as_deref(), Some("/dev/pts/0"));
        assert_eq!(port("warning: nothing"), None);
    }
}
