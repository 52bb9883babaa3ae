//! Estimated work of a prediction, from instructions counted on emulated boards.
//!
//! ```text
//! correlations of M points      M (point + D point_input)
//! mean of an output             M multiply_add
//! variance of an output         8⌈rank/8⌉ M multiply_add
//! a sampled step of a dimension draw
//! ```
//!
//! The figures were solved from two measured models with a kernel per dimension (D = 8, M = 100 and D = 4, M = 50),
//! where `point` holds the mean too. `firmware-example/figures.json` has what was measured; a test compares: within 1 %
//! on cores with floating-point hardware, within 3 % on the others, which compute in software and whose cost also
//! depends on the numbers. Other shapes are estimates.

use diffgp_infer::Model;
use serde::Serialize;

/// A family of cores, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CoreName {
    /// Cortex-M4F, M7, M33, M55: with floating-point hardware.
    M4f,
    /// Cortex-M3.
    M3,
    /// Cortex-M0.
    M0,
    /// RISC-V RV32IMAC.
    Rv32,
}

impl CoreName {
    /// As people write it.
    pub(crate) fn described(self) -> &'static str {
        self.core().name
    }

    fn core(self) -> &'static Core {
        match self {
            Self::M4f => &CORES[0],
            Self::M3 => &CORES[1],
            Self::M0 => &CORES[2],
            Self::Rv32 => &CORES[3],
        }
    }
}

/// Instructions of a sampled path.
pub(crate) fn sampled_instructions(model: &Model<'_>, core: CoreName) -> u64 {
    core.core().work(model).instructions_per_sampled_path
}

/// Instructions that the parts of a prediction take on one family of cores.
struct Core {
    name: &'static str,
    point: f64,
    point_input: f64,
    multiply_add: f64,
    draw: f64,
}

const CORES: [Core; 4] = [
    Core { name: "Cortex-M4F, M7, M33, M55", point: 50.4, point_input: 2.21, multiply_add: 2.3, draw: 844.0 },
    Core { name: "Cortex-M3", point: 1137.0, point_input: 211.0, multiply_add: 128.0, draw: 5000.0 },
    Core { name: "Cortex-M0", point: 1915.0, point_input: 335.0, multiply_add: 218.0, draw: 8000.0 },
    Core { name: "RISC-V RV32IMAC", point: 1075.0, point_input: 189.0, multiply_add: 117.0, draw: 3700.0 },
];

/// What one family of cores will do.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Work {
    pub(super) core: &'static str,
    /// Along the drift.
    pub(super) instructions_per_prediction: u64,
    /// For every sampled path.
    pub(super) instructions_per_sampled_path: u64,
}

/// The work for every family of cores that was measured.
pub(super) fn estimate(model: &Model<'_>) -> Vec<Work> {
    CORES.iter().map(|core| core.work(model)).collect()
}

impl Core {
    fn work(&self, model: &Model<'_>) -> Work {
        let header = model.blob().header();
        let inputs = f64::from(header.inputs);
        let correlations = |points: f64| points * (self.point + inputs * self.point_input);
        let flow_features = header.flow_features() as f64;
        // Averaged over the tables, if every step has its own.
        let tables = f64::from(header.tables.max(1));
        let mut outputs = model.blob().flow_outputs();
        let mut directions = 0.0;
        for _ in 0..usize::from(header.tables) * usize::from(header.inputs) {
            let output = outputs.next_output(header.flow_features());
            directions += output.map_or(0.0, |output| output.directions.len() as f64) / tables;
        }
        let drift = f64::from(header.flow_kernels) * correlations(header.flow_inducing.into())
            + (inputs - f64::from(header.flow_kernels)).max(0.0) * flow_features * self.multiply_add;
        let diffusion = directions * self.multiply_add + inputs * self.draw;
        let predictor = model.blob().predictor().map_or(0.0, |(_, output)| {
            correlations(header.predictor_inducing.into()) + output.directions.len() as f64 * self.multiply_add
        });
        let steps = f64::from(header.steps);
        Work {
            core: self.name,
            instructions_per_prediction: (steps * drift + predictor) as u64,
            instructions_per_sampled_path: (steps * (drift + diffusion) + predictor) as u64,
        }
    }
}
