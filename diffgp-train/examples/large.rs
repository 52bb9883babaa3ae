//! A synthetic data set as large as HIGGS, a few iterations, and what they cost in rows per second and in memory.
//!
//!     cargo run --release --example large -- [ROWS] [INPUTS] [ITERATIONS]

use std::time::Instant;

use diffgp_train::data::Dataset;
use diffgp_train::philox::{Purpose, key, philox, tag};
use diffgp_train::train::{Config, Observer, Progress, StageName, Task, train};

type Failure = Box<dyn std::error::Error>;

/// Remembers when each stage began and how far it got.
#[derive(Default)]
struct Clock {
    begun: Vec<(StageName, Instant)>,
    last: Option<(Instant, u64)>,
}

impl Observer for Clock {
    fn iteration(&mut self, progress: &Progress) {
        if self.begun.last().is_none_or(|(stage, _)| *stage != progress.stage.name) {
            self.begun.push((progress.stage.name, Instant::now()));
        }
        self.last = Some((Instant::now(), progress.iteration));
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let argument = |index: usize, default| arguments.get(index).copied().unwrap_or(default);
    let (rows, inputs, iterations) = (argument(0, 11_000_000), argument(1, 28), argument(2, 20));

    let start = Instant::now();
    let data = synthetic(rows, inputs)?;
    let copy = (rows * (inputs + 1) * size_of::<f32>()) as f64 / 1e6;
    println!("{rows} rows of {inputs} inputs: {copy:.0} MB as f32, made in {:.1} s", start.elapsed().as_secs_f64());
    println!("peak memory with the data alone: {:.0} MB", peak_memory()?);

    let mut config = Config::for_rows(rows, Task::Classification);
    // What one iteration costs is to be measured, not which kernel is better.
    config.candidate_kernels.clear();
    config.flow.optional = false;
    (config.warm_start.iterations, config.with_flow.iterations) = (iterations as u64, iterations as u64);
    let start = Instant::now();
    let mut clock = Clock::default();
    train(&data, &config, &mut clock)?;
    println!("trained {iterations} + {iterations} iterations in {:.1} s", start.elapsed().as_secs_f64());
    if let (Some(&(_, begun)), Some((end, last))) = (clock.begun.last(), clock.last) {
        let rate = (last as usize * config.batch) as f64 / (end - begun).as_secs_f64();
        println!(
            "whole model: {rate:.0} rows per second (T = {}, K = {})",
            config.flow.time,
            config.flow.training_steps()
        );
    }
    println!("peak memory: {:.0} MB, {:.0} MB beside the data", peak_memory()?, peak_memory()? - copy);
    Ok(())
}

/// Uniform inputs; the class is a noisy function of the first two.
fn synthetic(rows: usize, inputs: usize) -> Result<Dataset, Failure> {
    let mut x = Vec::with_capacity(rows * inputs);
    let mut y = Vec::with_capacity(rows);
    for row in 0..rows {
        for block in 0..inputs.div_ceil(4) {
            let words = philox([row as u32, 0, 0, tag(Purpose::Split, block as u32)], key(1));
            let uniform = words.map(|word| (word >> 8) as f32 / (1 << 24) as f32 - 0.5);
            x.extend_from_slice(&uniform[..(inputs - 4 * block).min(4)]);
        }
        let first = &x[row * inputs..];
        let noisy = first[0] * first[inputs.min(2) - 1] * 8.0 + 0.3 * first[inputs - 1];
        y.push(f32::from(noisy > 0.0));
    }
    Ok(Dataset::new(x, y, inputs)?)
}

/// The high-water mark of resident memory in MB, as Linux counts it.
fn peak_memory() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc/self/status")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024.0 / 1e6)
}
