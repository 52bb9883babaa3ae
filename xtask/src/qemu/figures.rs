//! The figures of the boards as a checked-in file, so that growth shows up as a difference in review.
//!
//! Counts depend on the compiler and the emulator. The file records both: with the same versions the figures must be
//! equal, with others the difference is printed and only the bars hold.

use super::{machine, table};
use crate::command;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What was measured on one board. "Small" is D = 4, M = 50, K = 20; everything else is D = 8, M = 100, K = 20; one
/// kernel per dimension in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) board: String,
    /// Every prediction had the host's bits.
    pub(crate) bit_exact: bool,
    /// How many models that was shown for.
    pub(crate) cases: usize,
    pub(crate) instructions_rbf_sum: u64,
    pub(crate) instructions_per_mac: f64,
    /// One step along the drift.
    pub(crate) instructions_per_step: u64,
    /// One prediction along the drift, with variance.
    pub(crate) instructions_per_prediction: u64,
    /// One path; absent where the model does not fit into flash.
    pub(crate) instructions_per_sampled_path: Option<u64>,
    pub(crate) instructions_small_parse: u64,
    pub(crate) instructions_small_prediction: u64,
    pub(crate) instructions_small_sampled_path: u64,
    /// The same with Matérn 3/2 kernels.
    pub(crate) instructions_small_matern32_prediction: u64,
    pub(crate) instructions_small_matern32_sampled_path: u64,
    /// Of the compressed model in `tests/blobs/v2-kin8nm-32k.dgp`: D = 8, M = 100, K = 20 in 8- and 16-bit integers.
    pub(crate) instructions_compressed_prediction: u64,
    pub(crate) instructions_compressed_sampled_path: u64,
    /// D = 4, M = 20, K = 20 and six classes; D = 4, M = 30, K = 20 and two targets with a kernel each.
    pub(crate) instructions_six_classes_prediction: u64,
    pub(crate) instructions_two_targets_prediction: u64,
    /// The whole minimal image: vectors, start-up, parse, flow, predictions along the drift and sampled, of real targets in
    /// f32. No model.
    pub(crate) flash_bytes: u32,
    /// The same for every model there is.
    pub(crate) flash_bytes_with_classes_and_integers: u32,
    /// Static memory of that image and the workspace.
    pub(crate) ram_bytes: u32,
    pub(crate) workspace_bytes: u32,
    /// Deepest stack of parse and sampled prediction in one call.
    pub(crate) stack_bytes: u32,
    /// Models in f32 and made for integers of them.
    #[serde(default)]
    pub(crate) integers: Vec<InIntegers>,
    /// On the board with bars: what the minimal image itself does, seen from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minimal: Option<Minimal>,
    /// On the smallest board: the same of the image that computes with integers alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<Raw>,
}

/// Instructions of a model and of the same in integers, along the drift and of a sampled path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InIntegers {
    pub(crate) model: String,
    pub(crate) single: [u64; 2],
    pub(crate) fixed: [u64; 2],
}

impl InIntegers {
    /// How many times fewer there are in integers.
    pub(crate) fn gains(&self) -> [f64; 2] {
        [0, 1].map(|i| self.single[i] as f64 / self.fixed[i] as f64)
    }
}

/// The image `raw`: sensor counts in, fixed-point numbers out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raw {
    pub(crate) flash_bytes: u32,
    /// The whole stack of the program, without the workspace that lies on it.
    pub(crate) stack_bytes: u32,
    /// Of `v2-kin8nm-32k-integers`.
    pub(crate) instructions_prediction: u64,
    pub(crate) instructions_sampled_path: u64,
}

/// The bars in the very image whose flash is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Minimal {
    pub(crate) instructions_rbf_sum: u64,
    pub(crate) instructions_per_mac: f64,
    /// The whole stack of the program, without the workspace that lies on it.
    pub(crate) stack_bytes: u32,
}

/// The checked-in file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    rustc: String,
    qemu: String,
    boards: Vec<Figures>,
}

impl Record {
    /// These figures, with the versions of the tools that made them.
    pub(crate) fn new(boards: Vec<Figures>) -> Result<Self> {
        Ok(Self { rustc: rustc()?, qemu: machine::version()?, boards })
    }

    /// One JSON object for standard output.
    pub(crate) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Replaces the checked-in figures of these boards.
    pub(crate) fn overwrite(&self) -> Result<()> {
        let mut record = self.clone();
        if let Ok(old) = read() {
            let missing = |board: &&Figures| record.boards.iter().all(|new| new.board != board.board);
            let kept: Vec<_> = old.boards.iter().filter(missing).cloned().collect();
            if !kept.is_empty() && (old.rustc != record.rustc || old.qemu != record.qemu) {
                bail!("the file was made with other versions: overwrite all boards at once, without --board");
            }
            record.boards.extend(kept);
        }
        record.boards.sort_by_key(|figures| super::board::position(&figures.board));
        fs::write(path(), record.to_json()? + "\n").context("cannot write the figures")?;
        table::write(&record.boards)
    }

    /// Compares with the checked-in figures; a difference under the same versions is an error.
    pub(crate) fn compare(&self) -> Result<()> {
        let old = read()?;
        let mut differences = Vec::new();
        for new in &self.boards {
            match old.boards.iter().find(|old| old.board == new.board) {
                Some(old) => differences.extend(differences_of(old, new)?),
                None => differences.push(format!("{}: not in the file", new.board)),
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        let list = differences.join("\n  ");
        if old.rustc == self.rustc && old.qemu == self.qemu {
            bail!("figures changed (`cargo xtask qemu --overwrite` accepts them):\n  {list}");
        }
        eprintln!(
            "figures differ from {}, which was made with {} and {}; here are {} and {}, so only the bars count:\n  {list}",
            path().display(),
            old.rustc,
            old.qemu,
            self.rustc,
            self.qemu
        );
        Ok(())
    }
}

/// Field by field, so that a difference names what changed.
fn differences_of(old: &Figures, new: &Figures) -> Result<Vec<String>> {
    let (old_fields, new_fields) = (serde_json::to_value(old)?, serde_json::to_value(new)?);
    let fields = new_fields.as_object().context("figures are an object")?;
    let removed = old_fields.as_object().into_iter().flatten().filter(|(name, _)| !fields.contains_key(*name));
    let removed = removed.map(|(name, value)| format!("{} {name}: {value} -> nothing", new.board));
    let changed = fields
        .iter()
        .filter(|(name, value)| old_fields.get(name) != Some(value))
        .map(|(name, value)| format!("{} {name}: {} -> {value}", new.board, old_fields[name]));
    Ok(changed.chain(removed).collect())
}

/// The compiler that the figures in the file were made with.
pub(crate) fn recorded_rustc() -> Result<String> {
    Ok(read()?.rustc)
}

/// The stack of a board's image as it is in the file.
pub(crate) fn recorded_stack(board: &str) -> Result<u32> {
    Ok(recorded(board)?.stack_bytes)
}

/// Instructions of a sum of 100 RBF kernels of 8 inputs, and of a multiply-add, as they are in the file.
pub(crate) fn recorded_arithmetic(board: &str) -> Result<(u64, f64)> {
    let figures = recorded(board)?;
    Ok((figures.instructions_rbf_sum, figures.instructions_per_mac))
}

fn recorded(board: &str) -> Result<Figures> {
    let figures = read()?.boards.into_iter().find(|figures| figures.board == board);
    figures.with_context(|| format!("no figures of {board}"))
}

/// The compiler in use, as it names itself.
pub(crate) fn rustc() -> Result<String> {
    Ok(command::capture(Command::new("rustc").arg("--version"))?.trim().to_owned())
}

/// The figures in the file.
#[cfg(test)]
pub(crate) fn checked_in() -> Result<Vec<Figures>> {
    Ok(read()?.boards)
}

fn path() -> PathBuf {
    command::root().join("firmware-example/figures.json")
}

fn read() -> Result<Record> {
    let text = fs::read_to_string(path()).with_context(|| format!("cannot read {}", path().display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record of figures", path().display()))
}
