//! What the boards are asked to compute: models, inputs and the bits that the host computes for them, made afresh in
//! every run by an example of the test package.

use super::board::Board;
use super::host;
use super::measure::IN_BOTH;
use crate::command;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;

/// A model in a file, inputs in a file, and the lines a device must print.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) model: PathBuf,
    pub(crate) job: PathBuf,
    pub(crate) expected: String,
    model_bytes: usize,
}

impl Case {
    /// Whether the board is asked for it. On another's twin, large models in f32 are left to that one.
    pub(crate) fn runs_on(&self, board: &Board) -> bool {
        let is_large = self.name.starts_with("v2-") && !self.name.ends_with("-integers");
        let counted = IN_BOTH.contains(&self.name.as_str());
        self.fits(board) && (!board.is_twin() || !is_large || counted)
    }

    /// Whether the model fits into the board's flash beside the code.
    pub(crate) fn fits(&self, board: &Board) -> bool {
        self.model_bytes <= board.model_space
    }

    /// Paths of a sampled prediction.
    pub(crate) fn paths(&self) -> Result<u32> {
        self.word(2)
    }

    /// Seed of the noise.
    pub(crate) fn seed(&self) -> Result<u64> {
        Ok(u64::from(self.word(3)?) | u64::from(self.word(4)?) << 32)
    }

    /// One row of inputs.
    pub(crate) fn row(&self, row: usize) -> Result<Vec<f32>> {
        let inputs = self.word(0)? as usize;
        (0..inputs).map(|i| Ok(f32::from_bits(self.word(5 + row * inputs + i)?))).collect()
    }

    /// A word of the job file: see `firmware-example/src/job.rs`.
    fn word(&self, index: usize) -> Result<u32> {
        let job = fs::read(&self.job)?;
        let (words, _) = job.as_chunks::<4>();
        words.get(index).map(|word| u32::from_le_bytes(*word)).with_context(|| format!("{} is short", self.name))
    }
}

/// Makes all cases, in the order of their names.
pub(crate) fn make() -> Result<Vec<Case>> {
    let directory = command::root().join("target/device-cases");
    if directory.exists() {
        fs::remove_dir_all(&directory).with_context(|| format!("cannot clear {}", directory.display()))?;
    }
    command::run(host::device_cases().arg(&directory))?;
    let mut cases = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let model = entry?.path();
        if model.extension().is_some_and(|extension| extension == "dgp") {
            let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let expected = fs::read_to_string(model.with_extension("expected"))?;
            let model_bytes = usize::try_from(fs::metadata(&model)?.len())?;
            cases.push(Case { name, job: model.with_extension("job"), model, expected, model_bytes });
        }
    }
    ensure!(!cases.is_empty(), "no cases in {}", directory.display());
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}
