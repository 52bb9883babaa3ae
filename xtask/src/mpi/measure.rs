//! What messages cost, and two ranks of one thread beside one rank of two.

use super::{Mpi, fresh, succeed};
use crate::command;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Iterations of a flow on batches of 1000 rows; the second of two runs has so many more.
const ITERATIONS: [u64; 2] = [20, 120];
/// Enough rows that batches are drawn.
const ROWS: usize = 4000;
const INPUTS: usize = 8;
/// Pairs of runs; the median counts.
const RUNS: usize = 3;

pub(super) fn run(mpi: &Mpi) -> Result<()> {
    eprintln!("\n=== {}", mpi.name);
    for ranks in [1, 2] {
        let finished = command::run_limited(mpi.launch(ranks, "exchange").arg("200"), super::TIME_LIMIT)?;
        ensure!(finished.status.success(), "{}", finished.stderr);
        println!("{}", finished.stdout.trim());
    }
    let folder = fresh(&format!("{}-measure", mpi.name))?;
    write_data(&folder)?;
    for (name, shared) in [("one kernel per dimension", ""), ("one kernel", "--shared-kernel")] {
        for (ranks, threads) in [(0, 1), (0, 2), (1, 2), (2, 1)] {
            let mut times =
                (0..RUNS).map(|_| per_iteration(mpi, &folder, ranks, threads, shared)).collect::<Result<Vec<f64>>>()?;
            times.sort_by(f64::total_cmp);
            let who = if ranks == 0 { "without mpirun".to_owned() } else { format!("{ranks} ranks") };
            println!("{name}, {who}, {threads} threads each: {:.1} ms per iteration ({times:.1?})", times[RUNS / 2]);
        }
    }
    Ok(())
}

/// Milliseconds of an iteration: of what one run has more than another.
fn per_iteration(mpi: &Mpi, folder: &Path, ranks: usize, threads: usize, shared: &str) -> Result<f64> {
    let mut seconds = [0.0; 2];
    for (seconds, iterations) in seconds.iter_mut().zip(ITERATIONS) {
        let command = if ranks == 0 { mpi.alone("diffgp") } else { mpi.launch(ranks, "diffgp") };
        let start = Instant::now();
        let text = succeed(
            command,
            folder,
            &format!(
                "train data.csv --target y --flow-time 5 --kernel rbf --inducing 100 --flow-inducing 100 --steps 5 \
                 --training-steps 5 --warm-iterations 1 --iterations {iterations} --calibration none --threads {threads} \
                 --json --out measured.dgp {shared}"
            ),
        )?
        .stdout;
        let printed: Value = serde_json::from_str(&text)?;
        *seconds =
            printed["seconds"].as_f64().context("train --json has no seconds")?.min(start.elapsed().as_secs_f64());
    }
    Ok(1000.0 * (seconds[1] - seconds[0]) / (ITERATIONS[1] - ITERATIONS[0]) as f64)
}

fn write_data(folder: &Path) -> Result<()> {
    let mut text = String::new();
    for row in 0..ROWS {
        let scattered = |k: usize| ((row * 7919 + k * 104_729) % 10_007) as f64 / 10_007.0;
        let x: Vec<f64> = (0..INPUTS).map(|k| 4.0 * scattered(k) - 2.0).collect();
        x.iter().try_for_each(|x| write!(text, "{x},"))?;
        writeln!(text, "{}", (2.0 * x[0]).sin() + x[1] * x[2] + 0.1 * scattered(INPUTS))?;
    }
    let names = (0..INPUTS).map(|k| format!("x{k},")).collect::<String>();
    fs::write(folder.join("data.csv"), format!("{names}y\n{text}")).context("data.csv")
}
