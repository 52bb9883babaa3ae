//! Runs every case on a board, compares the bits, and derives the figures from differences between runs.
//!
//! Everything is counted inside `predict` on a parsed blob. With D = 8, M = 100, K = 20 and one kernel per dimension:
//!
//! ```text
//! step        = (drift(K = 20) − drift(K = 10)) / 10
//! RBF sum     = step / D                     so everything else that a step does counts against the sum
//! multiply-add = (sampled(rank r) − sampled(rank 0)) / (K D r M)      padding to blocks of eight counts against it
//! ```

use super::board::Board;
use super::cases::Case;
use super::elf::Elf;
use super::figures::{Figures, InIntegers, Minimal, Raw};
use super::images;
use super::machine::{self, Arithmetic, Loaded, numbers};
use super::selftest::CALIBRATION_INSTRUCTIONS;
use super::traced;
use crate::command;
use anyhow::{Context, Result, ensure};
use diffgp_infer::Workspace;
use std::collections::BTreeMap;
use std::path::Path;

const INPUTS: f64 = 8.0;
const INDUCING: f64 = 100.0;
const STEPS: f64 = 20.0;

/// Models that are counted in both arithmetics: one of the default steps, a trained one, and a trained one in 32 KB.
pub(crate) const IN_BOTH: [&str; 3] = ["small-midpoint", "v2-power", "v2-kin8nm-32k"];

/// What one run of the measuring image says of one case.
struct Measured {
    parse: f64,
    drift: f64,
    sampled: f64,
    stack: u32,
    workspace: u32,
}

pub(crate) fn run(board: &Board, cases: &[Case]) -> Result<Figures> {
    let image = machine::build(board, "measure", "release")?;
    let mut measured = BTreeMap::new();
    for case in cases.iter().filter(|case| case.runs_on(board)) {
        let figures = run_case(board, &image, case).with_context(|| format!("case {}", case.name))?;
        measured.insert(case.name.as_str(), figures);
    }
    let of = |name: &str| measured.get(name).with_context(|| format!("no case {name:?}"));

    let (none, half) = (of("rank-0")?, of("rank-0-half-the-steps")?);
    let step = step(none.drift, half.drift);
    let (directions, rank) = measured.get("bars").map_or((of("rank-16")?, 16.0), |bars| (bars, INDUCING));
    let mac = multiply_add(directions.sampled, none.sampled, rank);
    let (small, rough, compressed) = (of("small")?, of("small-matern32")?, of("v2-kin8nm-32k")?);
    let (classes, targets) = (of("small-six-classes")?, of("small-two-targets")?);
    let minimal_image = machine::build_bare(board, "minimal", "release", Arithmetic::Single)?;
    let minimal = Elf::read(&minimal_image)?;
    let whole = Elf::read(&machine::build(board, "minimal", "release")?)?;
    Ok(Figures {
        board: board.name.to_owned(),
        // A difference would have been an error before this.
        bit_exact: true,
        cases: measured.len(),
        instructions_rbf_sum: rounded(step / INPUTS),
        instructions_per_mac: mac,
        instructions_per_step: rounded(step),
        instructions_per_prediction: rounded(none.drift),
        instructions_per_sampled_path: measured.get("bars").map(|bars| rounded(bars.sampled)),
        instructions_small_parse: rounded(small.parse),
        instructions_small_prediction: rounded(small.drift),
        instructions_small_sampled_path: rounded(small.sampled),
        instructions_small_matern32_prediction: rounded(rough.drift),
        instructions_small_matern32_sampled_path: rounded(rough.sampled),
        instructions_compressed_prediction: rounded(compressed.drift),
        instructions_compressed_sampled_path: rounded(compressed.sampled),
        instructions_six_classes_prediction: rounded(classes.drift),
        instructions_two_targets_prediction: rounded(targets.drift),
        flash_bytes: minimal.flash_bytes(),
        flash_bytes_with_classes_and_integers: whole.flash_bytes(),
        ram_bytes: minimal.static_ram_bytes() + none.workspace,
        workspace_bytes: none.workspace,
        stack_bytes: measured.values().map(|case| case.stack).max().unwrap_or(0),
        integers: IN_BOTH.iter().map(|name| in_both(name, &measured)).collect::<Result<_>>()?,
        raw: (board.name == "m0").then(|| in_raw(board).context("the image of integers")).transpose()?,
        minimal: (board.name == "m4f")
            .then(|| in_minimal(board, &minimal_image, cases, none.workspace).context("the minimal image"))
            .transpose()?,
    })
}

/// The bars in the minimal image, counted in another way than the rest.
fn in_minimal(board: &Board, image: &Path, cases: &[Case], workspace: u32) -> Result<Minimal> {
    let traced = |name: &str| {
        let case = cases.iter().find(|case| case.name == name).with_context(|| format!("no case {name:?}"))?;
        traced::run(board, image, &case.model).with_context(|| format!("case {name}"))
    };
    let (none, half, full) = (traced("rank-0")?, traced("rank-0-half-the-steps")?, traced("bars")?);
    let stack = [&none, &half, &full].map(|case| case.stack).into_iter().max().unwrap_or(0);
    Ok(Minimal {
        instructions_rbf_sum: rounded(step(none.drift, half.drift) / INPUTS),
        instructions_per_mac: multiply_add(full.sampled, none.sampled, INDUCING),
        stack_bytes: stack - workspace,
    })
}

fn in_both(name: &str, measured: &BTreeMap<&str, Measured>) -> Result<InIntegers> {
    let counts = |name: &str| {
        let case = measured.get(name).with_context(|| format!("no case {name:?}"))?;
        Ok::<_, anyhow::Error>([rounded(case.drift), rounded(case.sampled)])
    };
    let fixed = counts(&in_integers(name))?;
    Ok(InIntegers { model: name.to_owned(), single: counts(name)?, fixed })
}

/// The name of the same model in integers.
fn in_integers(name: &str) -> String {
    format!("{name}-integers")
}

/// The smallest image of all, which has eight inputs.
fn in_raw(board: &Board) -> Result<Raw> {
    let image = machine::build_bare(board, "raw", "release", Arithmetic::Fixed)?;
    let elf = Elf::read(&image)?;
    images::check_without_floats(&elf)?;
    let model = command::root().join("tests/blobs/v2-kin8nm-32k-integers.dgp");
    let traced = traced::run(board, &image, &model)?;
    Ok(Raw {
        flash_bytes: elf.flash_bytes(),
        stack_bytes: traced.stack - Workspace::<8, 100>::BYTES as u32,
        instructions_prediction: rounded(traced.drift),
        instructions_sampled_path: rounded(traced.sampled),
    })
}

fn step(drift: f64, drift_of_half_the_steps: f64) -> f64 {
    (drift - drift_of_half_the_steps) / (STEPS / 2.0)
}

/// To three decimals.
fn multiply_add(sampled: f64, sampled_without_directions: f64, rank: f64) -> f64 {
    let mac = (sampled - sampled_without_directions) / (STEPS * INPUTS * rank * INDUCING);
    (mac * 1000.0).round() / 1000.0
}

fn rounded(number: f64) -> u64 {
    number.round() as u64
}

fn run_case(board: &Board, image: &Path, case: &Case) -> Result<Measured> {
    let loaded = [
        Loaded { file: &case.model, address: board.model_address },
        Loaded { file: &case.job, address: board.job_address },
    ];
    let finished = machine::run(board, image, &loaded)?;
    ensure!(finished.status.success(), "the image ended with {}: {}", finished.status, finished.stderr);
    compare(&case.expected, &finished.stdout)?;

    let first = |name| numbers(&finished.stdout, name)?.first().copied().with_context(|| format!("{name}: no number"));
    let ticks_per_instruction = f64::from(first("calibration")?) / CALIBRATION_INSTRUCTIONS;
    let instructions = |name| Ok::<_, anyhow::Error>(f64::from(first(name)?) / ticks_per_instruction);
    Ok(Measured {
        parse: instructions("ticks-parse")?,
        drift: instructions("ticks-drift")?,
        sampled: instructions("ticks-sampled")?,
        stack: first("stack-together")?,
        workspace: first("workspace-bytes")?,
    })
}

/// Instructions of a prediction along the drift and over a sampled path, as an image that measures prints them.
pub(crate) fn counted(board: &Board, image: &Path, loaded: &[Loaded<'_>]) -> Result<[f64; 2]> {
    let finished = machine::run(board, image, loaded)?;
    ensure!(finished.status.success(), "the image ended with {}: {}", finished.status, finished.stderr);
    // Words, the lowest first.
    let number = |name| -> Result<f64> {
        let words = numbers(&finished.stdout, name)?;
        Ok(words.iter().rev().fold(0.0, |number, &word| number * 4_294_967_296.0 + f64::from(word)))
    };
    let ticks_per_instruction = number("calibration")? / CALIBRATION_INSTRUCTIONS;
    Ok([number("ticks-drift")? / ticks_per_instruction, number("ticks-sampled")? / ticks_per_instruction])
}

/// Every prediction the device printed against the host's, bit for bit.
pub(crate) fn compare(expected: &str, printed: &str) -> Result<()> {
    let predictions = ["drift ", "sampled ", "resumed "];
    let mut device = printed.lines().filter(|line| predictions.iter().any(|name| line.starts_with(name)));
    for host in expected.lines() {
        let device = device.next().context("the device printed fewer predictions than the host")?;
        ensure!(host == device, "other bits than on the host:\n  host   {host}\n  device {device}");
    }
    ensure!(device.next().is_none(), "the device printed more predictions than the host");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{bars, board};
    use super::{compare, in_raw};

    /// As part of `cargo xtask qemu` it is measured on the Cortex-M0.
    #[test]
    #[ignore = "needs QEMU and the firmware"]
    fn the_image_of_integers_keeps_its_bars() {
        let raw = in_raw(board::named("m0").unwrap()).unwrap();
        println!("{raw:?}");
        assert!(bars::missed_by_raw(Some(&raw)).is_empty());
        assert_eq!(bars::missed_by_raw(None).len(), 2);
    }

    #[test]
    fn a_flipped_bit_a_missing_and_a_surplus_line_are_noticed() {
        let host = "drift 00000000 3f800000\nsampled 00000000 3f800001\n";
        assert!(compare(host, &format!("calibration 1\n{host}")).is_ok());
        assert!(compare(host, &host.replace("3f800001", "3f800000")).is_err());
        assert!(compare(host, "drift 00000000 3f800000\n").is_err());
        assert!(compare(host, &format!("{host}drift 00000001 0\n")).is_err());
    }
}
