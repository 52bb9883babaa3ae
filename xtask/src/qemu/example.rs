//! The example as a user would run it: the model flashed beside the image, compiled into it, missing, damaged, cut off.

use super::board::Board;
use super::cases::Case;
use super::machine::{self, Loaded};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// A regression trained on the power data.
const MODEL: &str = "v2-power";

pub(crate) fn run(board: &Board, cases: &[Case]) -> Result<()> {
    let case = cases.iter().find(|case| case.name == MODEL).context("no case for the example")?;
    let image = machine::build(board, "example", "release")?;
    let blob = fs::read(&case.model)?;
    let scratch = case.model.with_extension(format!("damaged-{}", board.name));

    let beside = predictions(board, &image, Some(&case.model), case)?;
    let compiled_in = machine::build_with_model(board, "example", "release", &case.model)?;
    ensure!(
        predictions(board, &compiled_in, None, case)? == beside,
        "a compiled-in model predicts other than the same model beside the image"
    );

    refused(board, &image, None, case, "not a diffgp model")?;
    let mut damaged = blob.clone();
    damaged[blob.len() / 2] ^= 0x10;
    fs::write(&scratch, &damaged)?;
    refused(board, &image, Some(&scratch), case, "checksum")?;
    fs::write(&scratch, &blob[..blob.len() / 2])?;
    refused(board, &image, Some(&scratch), case, "checksum")
}

/// The lines that the example prints with a good model.
fn predictions(board: &Board, image: &Path, model: Option<&Path>, case: &Case) -> Result<Vec<String>> {
    let finished = machine::run(board, image, &loaded(board, model, case))?;
    ensure!(finished.status.success(), "example ended with {}: {:?}", finished.status, finished.stdout);
    let lines: Vec<_> = finished.stdout.lines().map(str::to_owned).collect();
    let rows = case.expected.lines().filter(|line| line.starts_with("drift ")).count();
    ensure!(lines.len() == rows, "{} lines for {rows} rows", lines.len());
    ensure!(lines.iter().all(|line| ["on ", "off ", "safe "].iter().any(|word| line.starts_with(word))), "{lines:?}");
    Ok(lines)
}

/// Without a good model the example must say why and end, not crash.
fn refused(board: &Board, image: &Path, model: Option<&Path>, case: &Case, reason: &str) -> Result<()> {
    let finished = machine::run(board, image, &loaded(board, model, case))?;
    let said = &finished.stdout;
    ensure!(
        finished.status.code() == Some(1) && said.contains("no usable model") && said.contains(reason),
        "expected exit code 1 and {reason:?}, but it ended with {} and {said:?}",
        finished.status
    );
    Ok(())
}

fn loaded<'a>(board: &Board, model: Option<&'a Path>, case: &'a Case) -> Vec<Loaded<'a>> {
    let model = model.map(|file| Loaded { file, address: board.model_address });
    model.into_iter().chain([Loaded { file: &case.job, address: board.job_address }]).collect()
}
