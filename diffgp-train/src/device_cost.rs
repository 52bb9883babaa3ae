//! Estimated work of a prediction, from instructions counted on emulated boards.
//!
//! ```text
//! correlations of M points      M (point + D point_input), and M root for Matérn kernels
//! mean of an output             M multiply_add
//! variance of an output         8⌈rank/8⌉ M multiply_add
//! a sampled step of a dimension draw
//! a number stored as an integer integer, on top
//! ```
//!
//! The figures were solved from two measured models with a kernel per dimension (D = 8, M = 100 and D = 4, M = 50),
//! where `point` holds the mean too; `root` from the smaller one with Matérn 3/2 kernels.
//! `firmware-example/figures.json` has what was measured; a test compares: within 1 % on cores with floating-point
//! hardware, within 3 % on the others, which compute in software and whose cost also depends on the numbers. Integers
//! have one figure for points, weights and directions, from one compressed model; they are within 4 %. A Matérn
//! correlation takes 101 instructions more on the M4F and M7 and 88 on the M33 and M55; `root` is between them, and
//! estimates are within 4.2 % there. Other shapes are estimates.

use diffgp_core::blob::{Elements, KernelView, OutputView};
use diffgp_core::kernel::KernelKind;
use diffgp_infer::Model;
use serde::Serialize;

/// A family of cores whose instructions were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Cortex-M4F, M7, M33, M55: with floating-point hardware.
    M4f,
    /// Cortex-M3.
    M3,
    /// Cortex-M0.
    M0,
    /// RISC-V RV32IMAC.
    Rv32,
}

impl Core {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::M4f, Self::M3, Self::M0, Self::Rv32];

    /// As it is typed.
    pub fn id(self) -> &'static str {
        match self {
            Self::M4f => "m4f",
            Self::M3 => "m3",
            Self::M0 => "m0",
            Self::Rv32 => "rv32",
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        self.costs().name
    }

    /// The work of a prediction with this model.
    pub fn work(self, model: &Model<'_>) -> Work {
        self.costs().work(model)
    }

    fn costs(self) -> &'static Costs {
        match self {
            Self::M4f => &COSTS[0],
            Self::M3 => &COSTS[1],
            Self::M0 => &COSTS[2],
            Self::Rv32 => &COSTS[3],
        }
    }
}

/// Instructions that the parts of a prediction take on one family of cores.
struct Costs {
    name: &'static str,
    point: f64,
    point_input: f64,
    root: f64,
    multiply_add: f64,
    draw: f64,
    integer: f64,
}

const COSTS: [Costs; 4] = [
    Costs {
        name: "Cortex-M4F, M7, M33, M55",
        point: 56.3,
        point_input: 1.512,
        root: 94.4,
        multiply_add: 2.31,
        draw: 652.0,
        integer: 6.0,
    },
    Costs {
        name: "Cortex-M3",
        point: 1199.9,
        point_input: 205.76,
        root: 600.8,
        multiply_add: 128.0,
        draw: 5000.0,
        integer: 31.0,
    },
    Costs {
        name: "Cortex-M0",
        point: 2025.5,
        point_input: 327.04,
        root: 964.4,
        multiply_add: 218.0,
        draw: 8000.0,
        integer: 84.0,
    },
    Costs {
        name: "RISC-V RV32IMAC",
        point: 1138.2,
        point_input: 184.24,
        root: 663.5,
        multiply_add: 117.0,
        draw: 3700.0,
        integer: 66.0,
    },
];

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

impl Costs {
    fn work(&self, model: &Model<'_>) -> Work {
        let header = model.blob().header();
        let inputs = usize::from(header.inputs);
        let (points, features) = (usize::from(header.flow_inducing), header.flow_features());
        let blob = model.blob();
        let mut drift = 0.0;
        for index in 0..header.flow_kernels.into() {
            drift += blob.flow_kernel(index).map_or(0.0, |kernel| self.correlations(&kernel, points));
        }
        let shared = inputs.saturating_sub(header.flow_kernels.into());
        drift += (shared * features) as f64 * self.multiply_add;
        // Averaged over the tables, if every step has its own.
        let tables = f64::from(header.tables.max(1));
        let mut diffusion = inputs as f64 * self.draw;
        for index in 0..usize::from(header.tables) * inputs {
            if let Some(output) = blob.flow_output(index / inputs, index % inputs) {
                drift += self.integers(&output.weights.elements) / tables;
                diffusion += self.variance(&output) / tables;
            }
        }
        let predictor = blob.predictor_kernel(0).zip(blob.predictor_output(0)).map_or(0.0, |(kernel, output)| {
            self.correlations(&kernel, header.predictor_inducing.into())
                + self.integers(&output.weights.elements)
                + self.variance(&output)
        });
        let steps = f64::from(header.steps);
        Work {
            core: self.name,
            instructions_per_prediction: (steps * drift + predictor) as u64,
            instructions_per_sampled_path: (steps * (drift + diffusion) + predictor) as u64,
        }
    }

    fn correlations(&self, kernel: &KernelView<'_>, points: usize) -> f64 {
        let inputs = kernel.scales.len() as f64;
        let root = if kernel.kind == KernelKind::Rbf { 0.0 } else { self.root };
        points as f64 * (self.point + inputs * self.point_input + root) + self.integers(&kernel.points.elements)
    }

    fn variance(&self, output: &OutputView<'_>) -> f64 {
        output.directions.len() as f64 * self.multiply_add + self.integers(&output.directions)
    }

    /// What the elements of a tensor take more if they are integers.
    fn integers(&self, elements: &Elements<'_>) -> f64 {
        if elements.bits() == 32 { 0.0 } else { elements.len() as f64 * self.integer }
    }
}
