//! Estimated work of a prediction: what [`Model::work`] counts, times the instructions that each takes on a core.
//!
//! The instructions were fitted to counts on emulated boards over random models of all shapes that the format takes
//! (`cargo xtask cost`; `firmware-example/cost.json` has every count, `docs/cost.md` how close the estimates are): with
//! floating-point hardware within 5 %, without it within 10 %, since the cost of arithmetic in software depends on the
//! numbers.

mod figures;

use diffgp_infer::Model;
use serde::Serialize;

/// A family of cores whose instructions were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Cortex-M4F, M7: with floating-point hardware.
    M4f,
    /// Cortex-M33, M55: with floating-point hardware, and shorter square roots.
    M33,
    /// Cortex-M3.
    M3,
    /// Cortex-M0.
    M0,
    /// RISC-V RV32IMAC.
    Rv32,
}

/// What one family of cores will do.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    /// Which family.
    pub core: &'static str,
    /// Along the drift.
    pub instructions_per_prediction: u64,
    /// For every sampled path.
    pub instructions_per_sampled_path: u64,
}

impl Core {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::M4f, Self::M33, Self::M3, Self::M0, Self::Rv32];

    /// As it is typed.
    pub fn id(self) -> &'static str {
        match self {
            Self::M4f => "m4f",
            Self::M33 => "m33",
            Self::M3 => "m3",
            Self::M0 => "m0",
            Self::Rv32 => "rv32",
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::M4f => "Cortex-M4F, M7",
            Self::M33 => "Cortex-M33, M55",
            Self::M3 => "Cortex-M3",
            Self::M0 => "Cortex-M0",
            Self::Rv32 => "RISC-V RV32IMAC",
        }
    }

    /// The work of a prediction with this model.
    pub fn work(self, model: &Model<'_>) -> Work {
        Work {
            core: self.name(),
            instructions_per_prediction: self.instructions(model.work()),
            instructions_per_sampled_path: self.instructions(model.work_per_path()),
        }
    }

    /// What these counts take.
    fn instructions(self, work: diffgp_infer::Work) -> u64 {
        let each = self.figures().iter().map(|(_, instructions)| instructions);
        work.counts().zip(each).map(|(count, each)| count as f64 * each).sum::<f64>().round() as u64
    }

    /// Instructions of every count, by its name and in the order of [`diffgp_infer::Work::NAMES`].
    pub fn figures(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::M4f => &figures::M4F,
            Self::M33 => &figures::M33,
            Self::M3 => &figures::M3,
            Self::M0 => &figures::M0,
            Self::Rv32 => &figures::RV32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Core;

    #[test]
    fn every_count_has_a_figure() {
        for core in Core::ALL {
            let names: Vec<&str> = core.figures().iter().map(|(name, _)| *name).collect();
            assert_eq!(names, diffgp_infer::Work::NAMES, "{core:?}");
        }
    }
}
