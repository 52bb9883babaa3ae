//! Tests the measuring tools before their figures are believed: a loop of known length must count as such, also
//! across the wraps of the timer, and an array of known size must show up as stack.

use super::board::Board;
use super::machine::{self, numbers};
use anyhow::{Context, Result, ensure};

/// Bits of the f32 sum of `expf(-0.01 i)`, i < 1000, with libm on the host.
const EXPF_SUM: u32 = 0x42c8_fe18;

/// `firmware-example/src/counter.rs` has the same number.
pub(crate) const CALIBRATION_INSTRUCTIONS: f64 = 2_000_000.0;

pub(crate) fn run(board: &Board) -> Result<()> {
    let elf = machine::build(board, "selftest", "release")?;
    let finished = machine::run(board, &elf, &[])?;
    ensure!(finished.status.success(), "selftest ended with {}: {}", finished.status, finished.stderr);
    let number = |name| numbers(&finished.stdout, name)?.first().copied().with_context(|| format!("{name}: no number"));

    let ratio = f64::from(number("ten-calibrations")?) / f64::from(number("calibration")?);
    ensure!((ratio - 10.0).abs() < 1e-3, "ten loops take {ratio} times as long as one");
    let (nothing, thousand) = (number("stack-of-nothing")?, number("stack-of-1000-bytes")?);
    ensure!(nothing <= 64, "an empty call uses {nothing} bytes of stack");
    ensure!((1000..1000 + 128).contains(&thousand), "an array of 1000 bytes uses {thousand} bytes of stack");
    ensure!(number("expf-sum")? == EXPF_SUM, "the sum of exponentials has other bits");
    Ok(())
}
