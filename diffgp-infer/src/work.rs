//! What a prediction takes, counted.

use core::ops::{Add, AddAssign, Mul};

use diffgp_core::blob::layout::BLOCK;
use diffgp_core::blob::{Elements, FixedKernel, FixedOutput, FixedRows, KernelView, OutputView};
use diffgp_core::kernel::KernelKind;

use crate::model::{Likelihood, Model};

/// The struct of counts, sums and multiples of it, and the list of its fields.
macro_rules! counts {
    ($($(#[doc = $meaning:literal])+ $name:ident,)+) => {
        /// Operations of a prediction along the drift or of a sampled path, counted exactly: what is done does not depend
        /// on the input.
        ///
        /// `diffgp inspect` turns these counts into instructions of a core.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub struct Work {
            $($(#[doc = $meaning])+ pub $name: u64,)+
        }

        impl Work {
            /// The names of all counts.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// All counts, in the order of [`Work::NAMES`].
            pub fn counts(self) -> impl Iterator<Item = u64> {
                [$(self.$name),+].into_iter()
            }
        }

        impl Add for Work {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)+ }
            }
        }

        impl Mul<u64> for Work {
            type Output = Self;

            fn mul(self, times: u64) -> Self {
                Self { $($name: self.$name * times,)+ }
            }
        }
    };
}

counts! {
    /// Paths: one.
    paths,
    /// Generators of noise that are begun: one on a sampled path.
    seeds,
    /// Values of x that are checked and standardised.
    inputs,
    /// Outputs of a Gaussian process that are looked up: in every step those of the flow, at its end those of the predictor.
    outputs,
    /// Kernels that are evaluated.
    kernels,
    /// Products that are not summed: inputs by a scale, correlations by a time feature, distances by a unit.
    products,
    /// Correlations that are multiplied by time features.
    timed_points,
    /// Blocks of eight inducing points, in singles.
    point_blocks,
    /// Squared differences (x − z)², in singles.
    squares,
    /// Those of points that only fill a block, z = 0.
    filling_squares,
    /// Correlations of RBF kernels: an exponential each.
    exponentials,
    /// Correlations of Matérn kernels: an exponential and a root each.
    matern,
    /// Weights of means, multiplied with a feature and added, in singles and whole blocks of eight.
    weights,
    /// Those behind the last whole block.
    loose_weights,
    /// Variances.
    variances,
    /// Blocks of eight directions, in singles.
    direction_blocks,
    /// Elements of directions, multiplied with a feature and added, in singles.
    directions,
    /// Those of directions that only fill a block, which are zeros.
    filling_directions,
    /// Blocks of eight points or directions, in integers.
    integer_blocks,
    /// Squared differences (x − z)², in integers.
    integer_squares,
    /// Those of points that only fill a block, z = 0.
    filling_integer_squares,
    /// Weights, in integers.
    integer_weights,
    /// Elements of directions, in integers.
    integer_directions,
    /// Those of directions that only fill a block, which are zeros.
    filling_integer_directions,
    /// Standard normal variates, with the root of the variance.
    normals,
    /// Values of x that are turned to integers.
    fixed_inputs,
    /// Kernels that are evaluated in integers.
    fixed_kernels,
    /// Products of a state and a scale there.
    fixed_scales,
    /// Squared differences there, with those of points that only fill a block.
    fixed_squares,
    /// Correlations of RBF kernels there.
    fixed_points,
    /// Correlations of Matérn kernels there.
    fixed_matern,
    /// Outputs there.
    fixed_outputs,
    /// Weights there.
    fixed_weights,
    /// Features that are rounded to fewer digits there, and summed.
    fixed_rounded,
    /// Blocks of eight directions there.
    fixed_blocks,
    /// Elements of directions of sixteen bits there, with those that only fill a block.
    fixed_directions,
    /// The same of eight bits.
    fixed_bytes,
    /// Standard normal variates there, with the root of the variance.
    fixed_normals,
    /// Outputs of the predictor there that are turned to singles.
    fixed_answers,
    /// Probabilities of two classes.
    probits,
    /// Probabilities of one of more than two classes.
    classes,
    /// Other classes that such a probability looks at.
    class_pairs,
}

impl Work {
    /// One number for all of it: multiply-adds that take about as long on a core with floating-point hardware, 2.4
    /// instructions each.
    ///
    /// Without that hardware a multiply-add takes 120 to 240 instructions, and most else is cheaper beside it.
    pub fn operations(self) -> u64 {
        let squares = self.squares + self.filling_squares;
        let integers = self.integer_squares
            + self.filling_integer_squares
            + self.integer_weights
            + self.integer_directions
            + self.filling_integer_directions;
        self.directions
            + self.filling_directions
            + (3 * squares + 3 * self.weights + 7 * integers + 7 * self.products) / 2
            + 4 * self.loose_weights
            + 7 * self.timed_points
            + 10 * self.exponentials
            + 52 * self.matern
            + 20 * self.point_blocks
            + 35 * self.direction_blocks
            + 26 * self.integer_blocks
            + 36 * self.inputs
            + 70 * self.kernels
            + 223 * self.outputs
            + 46 * self.variances
            + 72 * self.normals
            + 62 * self.probits
            + 203 * self.classes
            + 81 * self.class_pairs
            + 94 * self.paths
            + 40 * self.seeds
            + 8 * self.fixed_scales
            + (5 * self.fixed_rounded) / 2
            + (7 * self.fixed_squares + 7 * self.fixed_directions + 7 * self.fixed_bytes) / 4
            + 9 * self.fixed_inputs
            + 62 * self.fixed_kernels
            + 11 * self.fixed_points
            + 39 * self.fixed_matern
            + 180 * self.fixed_outputs
            + 4 * self.fixed_weights
            + 150 * self.fixed_blocks
            + 113 * self.fixed_normals
            + 78 * self.fixed_answers
    }

    fn kernel(view: &KernelView<'_>, points: usize, times: usize) -> Self {
        let (points, inputs, times) = (points as u64, view.scales.len() as u64, times as u64);
        let blocks = points.div_ceil(BLOCK as u64);
        let (squares, filling) = (points * inputs, (blocks * BLOCK as u64 - points) * inputs);
        let is_rbf = view.kind == KernelKind::Rbf;
        let work = Self {
            kernels: 1,
            products: inputs + points * times,
            timed_points: if times > 0 { points } else { 0 },
            exponentials: if is_rbf { points } else { 0 },
            matern: if is_rbf { 0 } else { points },
            ..Self::default()
        };
        if is_integer(view.points.elements) {
            let products = work.products + points;
            return Self {
                products,
                integer_blocks: blocks,
                integer_squares: squares,
                filling_integer_squares: filling,
                ..work
            };
        }
        Self { point_blocks: blocks, squares, filling_squares: filling, ..work }
    }

    /// An output in integers, once, with its kernel if that is its own or the first.
    fn fixed(kernel: &FixedKernel<'_>, output: &FixedOutput<'_>, with_kernel: bool, with_variance: bool) -> Self {
        let (points, inputs) = (output.weights.len() as u64, kernel.scales.len() as u64);
        let blocks = points.div_ceil(BLOCK as u64);
        let mut work = Self { fixed_outputs: 1, fixed_weights: points, ..Self::default() };
        if with_kernel {
            let squares = blocks * BLOCK as u64 * inputs;
            work += Self { fixed_kernels: 1, fixed_scales: inputs, fixed_squares: squares, ..Self::default() };
            match kernel.kind {
                KernelKind::Rbf => work.fixed_points = points,
                _ => work.fixed_matern = points,
            }
        }
        if with_variance {
            let blocks = output.rows.len() as u64;
            let directions = blocks * BLOCK as u64 * points;
            let fixed_rounded = output.roundings() as u64 * points;
            let (fixed_directions, fixed_bytes) = match output.directions {
                FixedRows::U16(_) => (directions, 0),
                FixedRows::U8(_) => (0, directions),
            };
            work += Self { fixed_blocks: blocks, fixed_directions, fixed_bytes, fixed_rounded, ..Self::default() };
        }
        work
    }

    fn mean(view: &OutputView<'_>) -> Self {
        let weights = view.weights.elements.len() as u64;
        if is_integer(view.weights.elements) {
            return Self { outputs: 1, integer_weights: weights, ..Self::default() };
        }
        let loose = weights % BLOCK as u64;
        Self { outputs: 1, weights: weights - loose, loose_weights: loose, ..Self::default() }
    }

    fn variance(view: &OutputView<'_>) -> Self {
        let blocks = (view.coefficients.len() / BLOCK) as u64;
        // Those that fill a block have no coefficient.
        let filling = view.coefficients.iter().rev().take_while(|&&c| c == 0.0).count() as u64;
        let features = view.weights.elements.len() as u64;
        let filling = filling * features;
        let directions = view.directions.len() as u64 - filling;
        let work = Self { variances: 1, ..Self::default() };
        if is_integer(view.directions) {
            return Self {
                integer_blocks: blocks,
                integer_directions: directions,
                filling_integer_directions: filling,
                ..work
            };
        }
        Self { direction_blocks: blocks, directions, filling_directions: filling, ..work }
    }
}

/// Whether numbers must be converted before they are used.
fn is_integer(elements: Elements<'_>) -> bool {
    elements.bits() != 32
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Model<'_> {
    /// What a prediction along the drift takes. Cost: a look at every record and
    /// its coefficients.
    pub fn work(&self) -> Work {
        self.count(false)
    }

    /// What a sampled prediction over one path takes. All paths take the same, but the inputs are standardised once.
    pub fn work_per_path(&self) -> Work {
        self.count(true)
    }

    /// As [`Model::count`], of a model that is evaluated in integers.
    fn count_fixed(&self, sampled: bool, mut work: Work) -> Work {
        let (blob, header, inputs, steps) = (self.blob(), self.blob().header(), self.inputs(), self.steps());
        let first = |kernels: u8, index: usize| index == 0 || kernels > 1;
        // Every step has a table of its own, or all have the same. The midpoint takes no variance.
        let uses = if header.tables > 1 { 1 } else { steps as u64 };
        let midpoints = header.scheme().evaluations() as u64 - 1;
        work += Work { fixed_inputs: inputs as u64, fixed_answers: self.outputs() as u64, ..Work::default() };
        for table in 0..header.tables.into() {
            for d in 0..inputs {
                let Some((kernel, output)) = blob.fixed_part(table, d) else { continue };
                let with_kernel = first(header.flow_kernels, d);
                work += Work::fixed(&kernel, &output, with_kernel, sampled) * uses;
                work += Work::fixed(&kernel, &output, with_kernel, false) * (midpoints * uses);
                work += Work { fixed_normals: sampled.into(), ..Work::default() } * uses;
            }
        }
        for o in 0..self.outputs() {
            let Some((kernel, output)) = blob.fixed_part(steps, o) else { continue };
            work += Work::fixed(&kernel, &output, first(header.predictor_kernels, o), true);
        }
        work
    }

    fn count(&self, sampled: bool) -> Work {
        let (blob, header) = (self.blob(), self.blob().header());
        let (inputs, steps, evaluations) = (self.inputs(), self.steps(), header.scheme().evaluations());
        let mut work = Work { paths: 1, seeds: sampled.into(), inputs: inputs as u64, ..Work::default() };
        if self.is_fixed() {
            return self.count_likelihood(self.count_fixed(sampled, work));
        }
        let (points, times) = (header.flow_inducing.into(), header.inducing_times.into());
        for kernel in (0..header.flow_kernels.into()).filter_map(|index| blob.flow_kernel(index)) {
            work += Work::kernel(&kernel, points, times) * (steps * evaluations) as u64;
        }
        // Every step has a table of its own, or all have the same.
        let uses = if header.tables > 1 { 1 } else { steps as u64 };
        for table in 0..header.tables.into() {
            for output in (0..inputs).filter_map(|d| blob.flow_output(table, d)) {
                work += Work::mean(&output) * (uses * evaluations as u64);
                if sampled {
                    work += (Work::variance(&output) + Work { normals: 1, ..Work::default() }) * uses;
                }
            }
        }
        for kernel in (0..header.predictor_kernels.into()).filter_map(|index| blob.predictor_kernel(index)) {
            work += Work::kernel(&kernel, header.predictor_inducing.into(), 0);
        }
        for output in (0..self.outputs()).filter_map(|o| blob.predictor_output(o)) {
            work += Work::mean(&output) + Work::variance(&output);
        }
        self.count_likelihood(work)
    }

    fn count_likelihood(&self, mut work: Work) -> Work {
        let classes = self.outputs() as u64;
        match self.likelihood() {
            Likelihood::Gaussian => {}
            Likelihood::Bernoulli => work.probits = 1,
            Likelihood::Softmax => (work.classes, work.class_pairs) = (classes, classes * (classes - 1)),
        }
        work
    }
}
