//! What ends a run before its time, and that it goes on with another number of ranks to the same bytes.

use super::{Mpi, TIME_LIMIT, cases, fresh, read, succeed};
use crate::command;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const TRAIN: &str = "train small.csv --target y --flow-time 5 --inducing 8 --warm-iterations 20 --iterations 30 \
                     --steps 3 --training-steps 3 --kernel rbf";
/// Long after the others have been told.
const GONE: Duration = Duration::from_secs(60);

/// Who is ended, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The first rank, which writes, as by a machine that loses its power.
    First,
    /// Another.
    Other,
    /// All of them, by Ctrl-C.
    Interrupt,
}

/// The end, the ranks of the run, and of those that go on; 0 is the command without `mpirun`.
const ENDS: [(End, usize, usize); 4] =
    [(End::First, 3, 2), (End::Other, 2, 4), (End::Interrupt, 4, 3), (End::Interrupt, 2, 0)];

pub(super) fn run(mpi: &Mpi) -> Result<()> {
    let folder = fresh(&format!("{}-ends", mpi.name))?;
    cases::write_data(&folder)?;
    succeed(mpi.alone("diffgp"), &folder, &format!("{TRAIN} --out whole.dgp"))?;
    for (index, (end, ranks, then)) in ENDS.into_iter().enumerate() {
        // What Ctrl-C leaves is no checkpoint that was due anyway.
        let every = if end == End::Interrupt { 1_000_000 } else { 1 };
        let train = format!("{TRAIN} --checkpoint-every {every} --out run-{index}.dgp");
        let said = ended(mpi, &folder, &format!("run-{index}"), end, ranks, &train)
            .with_context(|| format!("{end:?} of {ranks} ranks over {}", mpi.name))?;
        // OpenMPI's launcher shows nothing any more after Ctrl-C.
        let killed = ["signal 9", "KILLED BY SIGNAL: 9", "Killed"].iter().any(|words| said.contains(words));
        ensure!(killed || end == End::Interrupt, "{said}");
        ensure!(folder.join(format!("run-{index}.run/checkpoint")).exists(), "no checkpoint is left: {said}");
        let again = if then == 0 { mpi.alone("diffgp") } else { mpi.launch(then, "diffgp") };
        let finished = succeed(again, &folder, &format!("{train} --resume"))?;
        ensure!(!finished.stderr.contains("starting from the beginning"), "{}", finished.stderr);
        for file in ["dgp", "run/metrics.jsonl"] {
            let same = read(&folder, &format!("whole.{file}"))? == read(&folder, &format!("run-{index}.{file}"))?;
            ensure!(same, "{end:?} of {ranks} ranks, then {then}, over {}: other bytes in .{file}", mpi.name);
        }
        let then = if then == 0 { "one process".to_owned() } else { format!("{then} ranks") };
        eprintln!("{end:?} of {ranks} ranks: {then} go on to the same bytes");
    }
    refusals(mpi, &folder)
}

/// Starts a run and ends it once it has a checkpoint; what it said.
fn ended(mpi: &Mpi, folder: &Path, run: &str, end: End, ranks: usize, train: &str) -> Result<String> {
    let log = folder.join(format!("{run}.log"));
    let mut command = mpi.launch(ranks, "diffgp");
    command.current_dir(folder).args(train.split_whitespace()).stdin(Stdio::null());
    let mut child = command.stdout(File::create(&log)?).stderr(File::options().append(true).open(&log)?).spawn()?;
    let directory = folder.join(format!("{run}.run"));
    wait_until(&mut child, "an iteration", || match end {
        End::Interrupt => fs::read_to_string(&log).is_ok_and(|said| said.contains("warm start ")),
        _ => directory.join("checkpoint").exists(),
    })?;
    let first: u32 = String::from_utf8(read(&directory, "lock")?)?.trim().parse()?;
    match end {
        End::First => kill("-KILL", first)?,
        End::Other => {
            let others: Vec<u32> = processes(&mpi.folder.join("diffgp"), folder).filter(|&id| id != first).collect();
            ensure!(others.len() == ranks - 1, "{others:?} are running beside {first}");
            kill("-KILL", others[0])?;
        }
        End::Interrupt => kill("-INT", child.id())?,
    }
    let status = wait(&mut child, GONE)?;
    let said = fs::read_to_string(&log)?;
    ensure!(!status.success(), "it ended as if nothing had happened: {said}");
    // The launcher may be gone before those that it launched.
    let start = Instant::now();
    while processes(&mpi.folder.join("diffgp"), folder).next().is_some() {
        ensure!(start.elapsed() < GONE, "ranks are left: {said}");
        thread::sleep(Duration::from_millis(20));
    }
    ensure!(!folder.join(format!("{run}.dgp")).exists(), "there is a model");
    Ok(said)
}

/// Mistakes are said once, with exit code 2, and ranks that would train other models are not waited for.
fn refusals(mpi: &Mpi, folder: &Path) -> Result<()> {
    for (arguments, said) in [
        ("train small.csv --target z", "error: "),
        ("train small.csv --target y --flow-tim 5", "error: "),
        ("train small.csv --target y --inducing 0", "error: --inducing is 0"),
    ] {
        let mut command = mpi.launch(3, "diffgp");
        command.current_dir(folder).args(arguments.split_whitespace());
        let finished = command::run_limited(&mut command, TIME_LIMIT)?;
        let count = finished.stderr.matches(said).count();
        let code = finished.status.code();
        ensure!(code == Some(2) && count == 1, "{arguments}: exit code {code:?}, {count} times:\n{}", finished.stderr);
    }
    // Two programs in one launch: the second rank has another file.
    let mut command = mpi.launch(1, "diffgp");
    command.current_dir(folder).args(TRAIN.split_whitespace()).args([":", "-n", "1"]).arg(mpi.folder.join("diffgp"));
    command.args(TRAIN.replace("small.csv", "large.csv").split_whitespace());
    let finished = command::run_limited(&mut command, TIME_LIMIT)?;
    let expected = "rank 1 would not train the model of rank 0: training data";
    ensure!(!finished.status.success() && finished.stderr.contains(expected), "{}", finished.stderr);
    eprintln!("mistakes are said once; ranks with other rows are refused");
    Ok(())
}

/// The processes of a program that work in a folder.
fn processes(program: &Path, folder: &Path) -> impl Iterator<Item = u32> {
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_one = move |process: &PathBuf| {
        let is = |link: &str, place: &Path| fs::read_link(process.join(link)).is_ok_and(|at| at == place);
        is("exe", &program) && is("cwd", &folder)
    };
    let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    entries.map(|entry| entry.path()).filter(is_one).filter_map(number)
}

fn kill(signal: &str, process: u32) -> Result<()> {
    let status = Command::new("kill").args([signal, &process.to_string()]).status()?;
    ensure!(status.success(), "kill {signal} {process}: {status}");
    Ok(())
}

fn wait_until(child: &mut Child, what: &str, holds: impl Fn() -> bool) -> Result<()> {
    let start = Instant::now();
    while !holds() {
        if let Some(status) = child.try_wait()? {
            bail!("it ended before {what} was there ({status})");
        }
        if start.elapsed() > TIME_LIMIT {
            let _ = child.kill();
            bail!("{what} did not come");
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            bail!("it did not end within {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(10));
    }
}
