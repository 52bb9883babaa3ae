//! The only memory that the runtime writes to, apart from a little stack.

use diffgp_core::blob::limits;
use zerocopy::{FromBytes, IntoBytes};

use crate::model::Model;

/// Rows of D numbers.
const INPUT_ROWS: usize = 4;
/// Rows of O numbers.
const OUTPUT_ROWS: usize = 7;

/// Memory for one prediction at a time: up to `D` inputs, `M` features and `O` outputs.
///
/// `M` is [`Model::features`]: the larger of the flow's and the predictor's number of inducing points (times the
/// inducing times of a flow whose time features were not folded). `O` is [`Model::outputs`]: 1 for one real target or
/// two classes. Its size is a constant:
///
/// ```
/// use diffgp_infer::Workspace;
/// assert_eq!(Workspace::<8, 100>::BYTES, 556);
/// assert_eq!(Workspace::<8, 100, 6>::BYTES, 696);
/// ```
///
/// A workspace holds a prediction as long as that is looked at, and nothing between predictions; it can be shared by any
/// number of models. [`Workspace::in_slice`] makes one of memory whose size is known at run time only.
#[derive(Clone, Debug)]
pub struct Workspace<const D: usize, const M: usize, const O: usize = 1> {
    inputs: [[f32; D]; INPUT_ROWS],
    features: [f32; M],
    outputs: [[f32; O]; OUTPUT_ROWS],
}

/// A workspace in memory that somebody else owns; made by [`Workspace::in_slice`].
#[derive(Debug)]
pub struct WorkspaceSlice<'w> {
    words: &'w mut [u32],
}

/// Memory that a prediction can be made in: a [`Workspace`] or a [`WorkspaceSlice`].
pub trait Memory: sealed::Cut {}

impl<const D: usize, const M: usize, const O: usize> Workspace<D, M, O> {
    /// Size in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// An empty workspace; `const`, so it can be a static. Sizes beyond the format's limits do not compile.
    pub const fn new() -> Self {
        const {
            assert!(D >= 1 && D <= limits::MAX_INPUTS, "a workspace has 1 to 64 inputs");
            assert!(M >= 1 && M <= limits::MAX_FEATURES, "a workspace has 1 to 1024 features");
            assert!(O >= 1 && O <= limits::MAX_OUTPUTS, "a workspace has 1 to 32 outputs");
        }
        Self { inputs: [[0.0; D]; INPUT_ROWS], features: [0.0; M], outputs: [[0.0; O]; OUTPUT_ROWS] }
    }

    /// Whether it is large enough for a model: ask once, at start-up.
    pub fn fits(model: &Model<'_>) -> bool {
        model.inputs() <= D && model.features() <= M && model.outputs() <= O
    }
}

impl Workspace<0, 0, 0> {
    /// A workspace in the caller's memory, for C, an operating system's pool, or several models of which the largest
    /// decides: [`Model::workspace_words`] says how many words a model needs.
    ///
    /// ```
    /// # use diffgp_infer::{Model, Workspace, include_model};
    /// # static MODEL: &[u8] = include_model!("../models/power.dgp");
    /// # let model = Model::parse(MODEL)?;
    /// let mut memory = [0_u32; 128];
    /// assert!(model.workspace_words() <= memory.len());
    /// let mut workspace = Workspace::in_slice(&mut memory);
    /// let p = model.predict(&[14.96, 41.76, 1024.07, 73.17], &mut workspace)?;
    /// # assert!(p.mean() > 400.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_slice(words: &mut [u32]) -> WorkspaceSlice<'_> {
        WorkspaceSlice { words }
    }
}

impl<const D: usize, const M: usize, const O: usize> Default for Workspace<D, M, O> {
    fn default() -> Self {
        Self::new()
    }
}

/// D, M and O of a model.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub(crate) inputs: usize,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
}

impl Sizes {
    /// Words that a workspace of these sizes has.
    pub(crate) fn words(self) -> usize {
        INPUT_ROWS * self.inputs + self.features + OUTPUT_ROWS * self.outputs
    }
}

/// A workspace cut to a model's sizes, without them in the type, so that the code behind it exists once.
#[derive(Debug)]
pub struct Scratch<'w> {
    /// `[4][D]`: see [`InputRows`].
    inputs: &'w mut [f32],
    /// φ: `[max(M_f, M_g)]`.
    pub(crate) features: &'w mut [f32],
    /// `[7][O]`: see [`OutputRows`].
    pub(crate) outputs: &'w mut [f32],
}

/// Rows of D numbers, standardised.
pub(crate) struct InputRows<'w> {
    /// x₀, from which every path starts.
    pub(crate) start: &'w mut [f32],
    /// x_k.
    pub(crate) state: &'w mut [f32],
    /// x_{k+1} while it is being computed.
    pub(crate) next: &'w mut [f32],
    /// x_k divided by a kernel's length-scales.
    pub(crate) scaled: &'w mut [f32],
}

/// Rows of O numbers.
pub(crate) struct OutputRows<T> {
    /// Means of g at the end of the present path.
    pub(crate) means: T,
    /// Variances of g there.
    pub(crate) variances: T,
    /// Probabilities of the classes there, not yet normalised.
    pub(crate) shares: T,
    /// Over all paths so far: mean of means.
    pub(crate) mean: T,
    /// Σ (mean_s − mean)² (Welford).
    pub(crate) scatter: T,
    /// Mean of variances.
    pub(crate) variance: T,
    /// Mean of probabilities.
    pub(crate) probability: T,
}

impl Scratch<'_> {
    /// The rows of the inputs, with φ beside them; `None` never happens to memory that was cut for the model.
    #[inline(always)]
    pub(crate) fn input_rows(&mut self, inputs: usize) -> Option<(InputRows<'_>, &mut [f32])> {
        let (start, rest) = self.inputs.split_at_mut_checked(inputs)?;
        let (state, rest) = rest.split_at_mut_checked(inputs)?;
        let (next, scaled) = rest.split_at_mut_checked(inputs)?;
        Some((InputRows { start, state, next, scaled }, self.features))
    }

    /// x_k.
    pub(crate) fn state(&self, inputs: usize) -> &[f32] {
        self.inputs.get(inputs..2 * inputs).unwrap_or_default()
    }
}

impl<'w> OutputRows<&'w mut [f32]> {
    /// The rows in memory of `[7][O]`.
    pub(crate) fn of(memory: &'w mut [f32], outputs: usize) -> Option<Self> {
        let (means, rest) = memory.split_at_mut_checked(outputs)?;
        let (variances, rest) = rest.split_at_mut_checked(outputs)?;
        let (shares, rest) = rest.split_at_mut_checked(outputs)?;
        let (mean, rest) = rest.split_at_mut_checked(outputs)?;
        let (scatter, rest) = rest.split_at_mut_checked(outputs)?;
        let (variance, probability) = rest.split_at_mut_checked(outputs)?;
        Some(Self { means, variances, shares, mean, scatter, variance, probability })
    }
}

impl OutputRows<f32> {
    /// The column of one output; zeros if there is none.
    pub(crate) fn column(memory: &[f32], outputs: usize, index: usize) -> Self {
        let row = |row: usize| memory.get(row * outputs + index).copied().unwrap_or_default();
        Self {
            means: row(0),
            variances: row(1),
            shares: row(2),
            mean: row(3),
            scatter: row(4),
            variance: row(5),
            probability: row(6),
        }
    }
}

mod sealed {
    use super::{Scratch, Sizes};

    /// Cuts memory to a model's sizes; `None` if it is too small.
    pub trait Cut {
        #[doc(hidden)]
        fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>>;
    }
}

impl<const D: usize, const M: usize, const O: usize> Memory for Workspace<D, M, O> {}

impl<const D: usize, const M: usize, const O: usize> sealed::Cut for Workspace<D, M, O> {
    #[inline(always)]
    fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>> {
        // Rows of a smaller model follow each other, without the gaps of a larger one.
        let (inputs, outputs) = (self.inputs.as_flattened_mut(), self.outputs.as_flattened_mut());
        Some(Scratch {
            inputs: inputs.get_mut(..INPUT_ROWS * sizes.inputs)?,
            features: self.features.get_mut(..sizes.features)?,
            outputs: outputs.get_mut(..OUTPUT_ROWS * sizes.outputs)?,
        })
    }
}

impl Memory for WorkspaceSlice<'_> {}

impl sealed::Cut for WorkspaceSlice<'_> {
    fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>> {
        let numbers = <[f32]>::mut_from_bytes(self.words.as_mut_bytes()).ok()?;
        let (inputs, rest) = numbers.split_at_mut_checked(INPUT_ROWS * sizes.inputs)?;
        let (features, rest) = rest.split_at_mut_checked(sizes.features)?;
        Some(Scratch { inputs, features, outputs: rest.get_mut(..OUTPUT_ROWS * sizes.outputs)? })
    }
}
