//! Runs other programs: says what it runs, stops at the first failure, and never waits longer than it was told.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsStr;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The root of the repository, wherever the command was started.
pub(crate) fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or(xtask.clone(), PathBuf::from)
}

/// `cargo` in `directory` (relative to the root), with the toolchain that runs xtask.
pub(crate) fn cargo<S: AsRef<OsStr>>(directory: &str, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root().join(directory)).args(arguments);
    command
}

/// Runs to the end with output shown; a failure is an error that repeats the command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    ensure!(status.success(), "`{}` failed ({status})", shown(command));
    Ok(())
}

/// Runs quietly and returns standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    ensure!(
        output.status.success(),
        "`{}` failed ({}): {}",
        shown(command),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a program with a time limit did.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs with captured output and kills the program when `limit` is over: an image that hangs must not hang the tests.
pub(crate) fn run_limited(command: &mut Command, limit: Duration) -> Result<Finished> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    // Both pipes are drained while the program runs, so that it never blocks on a full one.
    let stdout = child.stdout.take().map(|pipe| thread::spawn(move || drain(pipe)));
    let stderr = child.stderr.take().map(|pipe| thread::spawn(move || drain(pipe)));
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            let said = stdout.map(join).unwrap_or_default();
            bail!(
                "`{}` did not finish within {} s; its last words: {:?}",
                shown(command),
                limit.as_secs(),
                said.lines().last().unwrap_or("")
            );
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ok(Finished { status, stdout: stdout.map(join).unwrap_or_default(), stderr: stderr.map(join).unwrap_or_default() })
}

fn drain(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // A pipe that breaks half-way leaves what was read; the exit status tells the rest.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn join(reader: thread::JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}

/// The command line as one would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![
        PathBuf::from(command.get_program())
            .file_name()
            .unwrap_or(command.get_program())
            .to_string_lossy()
            .into_owned(),
    ];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
