//! Times one training step (the bound and its gradient, float32) against a plain matrix product of size 1000.
//!
//! Run through `cargo xtask bench step`. Rates count 2·B·S·K·M²·(2D + 3P) operations per step, the products that the
//! gradient needs when no structure is used; triangular and symmetric structure saves some of them, so the rate may
//! exceed what the processor could do. Best of several runs: other work on the machine only ever adds time.

use std::time::Instant;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::elbo::{Batch, value_and_gradient};
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process};
use diffgp_train::threads::Threads;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// The plain product's size.
const GEMM: usize = 1000;

struct Settings {
    dim: usize,
    inducing: usize,
    batch: usize,
    paths: usize,
    steps: usize,
    threads: usize,
    runs: usize,
    per_dimension: bool,
    json: bool,
    markdown: bool,
}

fn main() {
    let settings = match parse(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(message) => {
            eprintln!("bench_step: {message}");
            std::process::exit(2);
        }
    };
    let threads = Threads::new(settings.threads).expect("worker threads");
    let params = model(&settings);
    let (b, d) = (settings.batch, settings.dim);
    let x = numbers(b * d, 1);
    let y = numbers(b, 2);
    let noise = numbers(settings.paths * settings.steps * b * d, 3);
    let batch = Batch { x: &x, y: &y, total_rows: 10 * b };

    let step = || {
        let start = Instant::now();
        let result = value_and_gradient(&params, &batch, settings.paths, Some(&noise), &threads).expect("a bound");
        assert!(result.elbo.is_finite());
        start.elapsed().as_secs_f64()
    };
    if settings.markdown {
        let seconds = (0..settings.runs).map(|_| step()).fold(f64::INFINITY, f64::min);
        print_row(&settings, seconds);
        return;
    }

    // The two are measured in turns, so that a busy machine slows both.
    let (mut step_seconds, mut gemm_seconds) = (f64::INFINITY, f64::INFINITY);
    let (left, right, mut out) = (numbers(GEMM * GEMM, 4), numbers(GEMM * GEMM, 5), vec![1.0; GEMM * GEMM]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.count()).build().expect("worker threads");
    for _ in 0..settings.runs {
        step_seconds = step_seconds.min(step());
        // As many products as fit into the time of a step, so that interruptions hit both alike.
        let repeats = (step_seconds / gemm_seconds).clamp(1.0, 50.0) as usize;
        let start = Instant::now();
        (0..repeats).for_each(|_| gemm(&left, &right, &mut out, &pool));
        gemm_seconds = gemm_seconds.min(start.elapsed().as_secs_f64() / repeats as f64);
    }

    let kernels = if settings.per_dimension { d } else { 1 };
    let products = (2 * d + 3 * kernels) as f64;
    let rows = (b * settings.paths * settings.steps) as f64;
    let gflops = 2e-9 * rows * (settings.inducing as f64).powi(2) * products / step_seconds;
    let gemm_gflops = 2e-9 * (GEMM as f64).powi(3) / gemm_seconds;
    let ms = 1e3 * step_seconds;
    if settings.json {
        println!(r#"{{"ms_per_step":{ms:.3},"gflops":{gflops:.2},"gemm_gflops":{gemm_gflops:.2}}}"#);
    } else {
        println!("{ms:.1} ms per step, {gflops:.0} GFLOP/s; plain product {gemm_gflops:.0} GFLOP/s");
    }
}

/// One row of the table in `docs/cost.md`: sizes, milliseconds, and the peak of the process' memory where Linux tells.
fn print_row(settings: &Settings, seconds: f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    let peak = peak.map_or("?".to_owned(), |kib: f64| format!("{:.0}", kib / 1024.0));
    let Settings { dim, inducing, batch, paths, steps, .. } = settings;
    let kernels = if settings.per_dimension { *dim } else { 1 };
    println!("| {dim} | {kernels} | {inducing} | {batch} | {paths} | {steps} | {:.1} | {peak} |", 1e3 * seconds);
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
    let mut settings = Settings {
        dim: 8,
        inducing: 100,
        batch: 1000,
        paths: 1,
        steps: 20,
        threads: 2,
        runs: 15,
        per_dimension: false,
        json: false,
        markdown: false,
    };
    let mut arguments = arguments;
    while let Some(flag) = arguments.next() {
        let mut count = || {
            let value = arguments.next().ok_or(format!("{flag} needs a number"))?;
            value.parse::<usize>().ok().filter(|&n| n > 0).ok_or(format!("{flag} {value}: not a positive number"))
        };
        match flag.as_str() {
            "--dim" => settings.dim = count()?,
            "--inducing" => settings.inducing = count()?,
            "--batch" => settings.batch = count()?,
            "--paths" => settings.paths = count()?,
            "--steps" => settings.steps = count()?,
            "--threads" => settings.threads = count()?,
            "--runs" => settings.runs = count()?,
            "--per-dimension" => settings.per_dimension = true,
            "--json" => settings.json = true,
            "--markdown" => settings.markdown = true,
            other => return Err(format!("unknown flag {other}")),
        }
    }
    Ok(settings)
}

/// A model with the sizes asked for, and parameters as they are early in training.
fn model(settings: &Settings) -> Params {
    let (d, m) = (settings.dim, settings.inducing);
    let points = |seed| DMatrix::from_row_iterator(m, d, numbers(m * d, seed).into_iter().map(f64::from));
    let posterior = |seed| Posterior {
        mean: DVector::from_iterator(m, numbers(m, seed).into_iter().map(f64::from)),
        factor: DMatrix::from_fn(m, m, |i, j| if i == j { 0.3 } else { f64::from(i > j) * 0.01 }),
    };
    let kernel = |variance| Kernel { kind: KernelKind::Rbf, variance, length_scales: vec![2.0; d] };
    let kernels = if settings.per_dimension { d } else { 1 };
    Params {
        flow: Some(Flow {
            time: 5.0,
            steps: settings.steps,
            scheme: Scheme::EulerMaruyama,
            temporal: None,
            field: Process {
                inducing: points(10),
                kernels: vec![kernel(0.01); kernels],
                posteriors: (0..d).map(|i| posterior(20 + i as u64)).collect(),
            },
        }),
        predictor: Process { inducing: points(11), kernels: vec![kernel(1.0)], posteriors: vec![posterior(12)] },
        likelihood: Likelihood::Gaussian { noise: vec![0.1] },
        jitter: 1e-5,
        variance_floor: 1e-10,
    }
}

/// Roughly normal numbers (sums of twelve uniform ones) from a linear congruential generator.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u32 << 24) as f32
    };
    (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f32>() - 6.0).collect()
}

/// The library's plain product, its columns shared out to the threads.
fn gemm(left: &[f32], right: &[f32], out: &mut [f32], threads: &rayon::ThreadPool) {
    let width = GEMM.div_ceil(threads.current_num_threads());
    threads.install(|| {
        out.par_chunks_mut(width * GEMM).zip(right.par_chunks(width * GEMM)).for_each(|(out, right)| {
            let columns = right.len() / GEMM;
            matmul(
                MatMut::from_column_major_slice_mut(out, GEMM, columns),
                Accum::Replace,
                MatRef::from_column_major_slice(left, GEMM, GEMM),
                MatRef::from_column_major_slice(right, GEMM, columns),
                1.0,
                Par::Seq,
            );
        });
    });
}
