//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/` for a while, each in one process.
//!
//! Without a sanitizer: our crates have no unsafe code, Miri looks at what their dependencies do with memory, and
//! executions are several times as many. Debug assertions and overflow checks are on. What a run discovers stays in
//! `fuzz/target/corpus`, where the next run starts from; the checked-in corpus does not change by itself.

use crate::c::host;
use crate::{command, nightly, setup};
use anyhow::{Context, Result, bail};
use std::fs;
use std::time::Duration;

const TARGETS: [&str; 4] = ["blob", "repaired", "frames", "csv"];
/// The interface for C has a driver in C, under sanitizers: `diffgp-c/tests/c/fuzz.c`.
const C: &str = "c";
/// Time for starting and for reading the corpus, beyond the seconds asked for.
const START: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this target
    #[arg(long, value_parser = ["blob", "repaired", "frames", "csv", C])]
    target: Option<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

pub(crate) fn run(args: Args) -> Result<()> {
    if args.target.as_deref().is_none_or(|target| target == C) {
        setup::c_compilers()?;
        println!("{C}: {}", host::fuzz(args.seconds)?);
    }
    if args.target.as_deref() == Some(C) {
        return Ok(());
    }
    nightly::toolchain(&[])?;
    nightly::subcommand("fuzz")?;
    command::run(&mut nightly::cargo("fuzz", ["fuzz", "build", "--sanitizer", "none"]))?;
    for target in TARGETS.into_iter().filter(|name| args.target.as_ref().is_none_or(|wanted| wanted == name)) {
        println!("{target}: {}", fuzz(target, args.seconds)?);
    }
    Ok(())
}

/// Runs one target; a line of figures, or an error that tells where the finding lies.
fn fuzz(target: &str, seconds: u64) -> Result<String> {
    let (found, seeds) = (format!("target/corpus/{target}"), format!("corpus/{target}"));
    fs::create_dir_all(command::root().join("fuzz").join(&found)).context("the corpus needs a directory")?;
    let mut command = nightly::cargo("fuzz", ["fuzz", "run", "--sanitizer", "none", target, &found, &seeds, "--"]);
    command.args(["-max_len=1024", "-timeout=10", "-print_final_stats=1", &format!("-max_total_time={seconds}")]);
    let finished = command::run_limited(&mut command, Duration::from_secs(seconds) + START)?;
    if !finished.status.success() {
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let last = lines[lines.len().saturating_sub(40)..].join("\n");
        bail!(
            "{target} found something:\n{last}\n\nThe input is in fuzz/artifacts/{target}. Once the bug is mended, put it \
             into fuzz/corpus/{target}, where the tests replay it (or, for frames, into a test of diffgp-link)."
        );
    }
    let after = |mark: &str| finished.stderr.lines().rev().find_map(|line| line.strip_prefix(mark)).map(str::trim);
    let executions = after("stat::number_of_executed_units:").context("libFuzzer printed no statistics")?;
    let rate = after("stat::average_exec_per_sec:").unwrap_or("?");
    let tally = after("tally:").map_or(String::new(), |tally| format!("; of the first {tally}"));
    Ok(format!("{executions} executions, {rate} per second, no finding{tally}"))
}
