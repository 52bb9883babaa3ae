//! What a prediction takes, counted.

use core::ops::{Add, AddAssign, Mul};

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::blob::{Elements, KernelView, OutputView};
use diffgp_core::kernel::KernelKind;

use crate::model::{Likelihood, Model};

/// Operations of a prediction along the drift or of a sampled path, counted exactly: what is done does not depend on the
/// input.
///
/// `diffgp inspect` turns these counts into instructions of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Work {
    /// Steps of the flow, and the predictor as one more.
    pub steps: u64,
    /// Records of kernels and outputs that are looked up.
    pub records: u64,
    /// Blocks of eight rows, of points or directions, that are begun.
    pub blocks: u64,
    /// Squared differences (x − z)², of rows that only fill a block too.
    pub squares: u64,
    /// Multiplications with an addition, of means, variances and time features, of rows that only fill a block too.
    pub multiply_adds: u64,
    /// Stored integers that are converted.
    pub integers: u64,
    /// Exponentials.
    pub exponentials: u64,
    /// Square roots.
    pub roots: u64,
    /// Standard normal variates.
    pub normals: u64,
}

impl Work {
    /// One number for all of it: multiply-adds that take about as long on a core with floating-point hardware.
    ///
    /// Without that hardware a multiply-add takes 120 to 240 instructions, and everything else is cheaper beside it.
    pub fn operations(self) -> u64 {
        self.multiply_adds
            + self.squares
            + 2 * self.integers
            + 8 * self.blocks
            + 16 * self.exponentials
            + 40 * self.roots
            + 60 * (self.steps + self.records)
            + 200 * self.normals
    }

    fn kernel(view: &KernelView<'_>, points: usize) -> Self {
        let points = points as u64;
        let squares = view.points.elements.len() as u64;
        Self {
            records: 1,
            blocks: points.div_ceil(BLOCK as u64),
            squares,
            integers: integers(view.points.elements),
            exponentials: points,
            roots: if view.kind == KernelKind::Rbf { 0 } else { points },
            ..Self::default()
        }
    }

    fn mean(view: &OutputView<'_>) -> Self {
        let multiply_adds = view.weights.elements.len() as u64;
        Self { records: 1, multiply_adds, integers: integers(view.weights.elements), ..Self::default() }
    }

    fn variance(view: &OutputView<'_>) -> Self {
        let (directions, coefficients) = (view.directions.len() as u64, view.coefficients.len() as u64);
        Self {
            blocks: coefficients / BLOCK as u64,
            // v·φ, its square, and that times c.
            multiply_adds: directions + 2 * coefficients,
            integers: integers(view.directions),
            ..Self::default()
        }
    }
}

/// Numbers that must be converted before they are used.
fn integers(elements: Elements<'_>) -> u64 {
    if elements.bits() == 32 { 0 } else { elements.len() as u64 }
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            records: self.records + other.records,
            blocks: self.blocks + other.blocks,
            squares: self.squares + other.squares,
            multiply_adds: self.multiply_adds + other.multiply_adds,
            integers: self.integers + other.integers,
            exponentials: self.exponentials + other.exponentials,
            roots: self.roots + other.roots,
            normals: self.normals + other.normals,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Work {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            steps: self.steps * times,
            records: self.records * times,
            blocks: self.blocks * times,
            squares: self.squares * times,
            multiply_adds: self.multiply_adds * times,
            integers: self.integers * times,
            exponentials: self.exponentials * times,
            roots: self.roots * times,
            normals: self.normals * times,
        }
    }
}

impl Model<'_> {
    /// What a prediction along the drift takes. Cost: a look at every record.
    pub fn work(&self) -> Work {
        self.count(false)
    }

    /// What one sampled path takes; all paths take the same.
    pub fn work_per_path(&self) -> Work {
        self.count(true)
    }

    fn count(&self, sampled: bool) -> Work {
        let (blob, header) = (self.blob(), self.blob().header());
        let (inputs, steps) = (self.inputs(), self.steps());
        let mut flow = Work { steps: steps as u64, ..Work::default() };
        let times = u64::from(header.inducing_times);
        for kernel in (0..header.flow_kernels.into()).filter_map(|index| blob.flow_kernel(index)) {
            let expanded = Work { multiply_adds: u64::from(header.flow_inducing) * times, ..Work::default() };
            flow += (Work::kernel(&kernel, header.flow_inducing.into()) + expanded) * steps as u64;
        }
        // Every step has a table of its own, or all have the same.
        let uses = if header.tables > 1 { 1 } else { steps as u64 };
        for table in 0..header.tables.into() {
            for output in (0..inputs).filter_map(|d| blob.flow_output(table, d)) {
                flow += Work::mean(&output) * uses;
                if sampled {
                    flow += (Work::variance(&output) + Work { roots: 1, normals: 1, ..Work::default() }) * uses;
                }
            }
        }
        let mut predictor = Work { steps: 1, ..Work::default() };
        for kernel in (0..header.predictor_kernels.into()).filter_map(|index| blob.predictor_kernel(index)) {
            predictor += Work::kernel(&kernel, header.predictor_inducing.into());
        }
        for output in (0..self.outputs()).filter_map(|o| blob.predictor_output(o)) {
            predictor += Work::mean(&output) + Work::variance(&output);
        }
        // Of every class two for each of the others, and the nodes; a root for each of the others, and one.
        let classes = self.outputs() as u64;
        let (exponentials, roots) = match self.likelihood() {
            Likelihood::Gaussian => (0, 0),
            Likelihood::Bernoulli => (1, 1),
            Likelihood::Softmax => (classes * (2 * (classes - 1) + 7), classes * classes),
        };
        flow + predictor + Work { exponentials, roots, ..Work::default() }
    }
}
