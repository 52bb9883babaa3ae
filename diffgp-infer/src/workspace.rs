//! The only memory that the runtime writes to, apart from a little stack.

use diffgp_core::blob::limits;
use zerocopy::{FromBytes, IntoBytes};

use crate::model::Model;

/// Rows of D numbers.
const INPUT_ROWS: usize = 5;
/// What is kept of one output: see [`Column`].
const COLUMN: usize = 7;

/// What is kept of one output. At the end of the present path: mean and variance of g, and the probability of the class,
/// not yet normalised. Over all paths so far: mean of means, Σ (mean_s − mean)² (Welford), mean of variances, mean of
/// probabilities.
pub(crate) type Column = [f32; COLUMN];

/// Memory for one prediction at a time: up to `D` inputs, `M` features and `O` outputs.
///
/// `M` is [`Model::features`]: the larger of the flow's and the predictor's number of inducing points (times the
/// inducing times of a flow whose time features were not folded). `O` is [`Model::outputs`]: 1 for one real target or
/// two classes. Its size is a constant:
///
/// ```
/// use diffgp_infer::Workspace;
/// assert_eq!(Workspace::<8, 100>::BYTES, 588);
/// assert_eq!(Workspace::<8, 100, 6>::BYTES, 728);
/// ```
///
/// A workspace holds a prediction as long as that is looked at, and nothing between predictions; it can be shared by any
/// number of models. [`Workspace::in_slice`] makes one of memory whose size is known at run time only.
#[derive(Clone, Debug)]
pub struct Workspace<const D: usize, const M: usize, const O: usize = 1> {
    inputs: [[f32; D]; INPUT_ROWS],
    features: [f32; M],
    outputs: [Column; O],
}

/// A workspace in memory that somebody else owns; made by [`Workspace::in_slice`].
#[derive(Debug)]
pub struct WorkspaceSlice<'w> {
    words: &'w mut [u32],
}

/// Memory that a prediction can be made in: a [`Workspace`], a [`WorkspaceSlice`] or the words of one.
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
        Self { inputs: [[0.0; D]; INPUT_ROWS], features: [0.0; M], outputs: [[0.0; COLUMN]; O] }
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
    /// # Ok::<(), diffgp_infer::Error>(())
    /// ```
    pub fn in_slice(words: &mut [u32]) -> WorkspaceSlice<'_> {
        WorkspaceSlice { words }
    }

    /// Words of memory for all models of up to these sizes, where no model is at hand:
    /// [`Model::workspace_words`] of the largest of them.
    pub const fn words(inputs: usize, features: usize, outputs: usize) -> usize {
        Sizes { inputs, features, outputs }.words()
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
    pub(crate) const fn words(self) -> usize {
        INPUT_ROWS * self.inputs + self.features + COLUMN * self.outputs
    }
}

/// A workspace cut to a model's sizes, without them in the type, so that the code behind it exists once.
#[derive(Debug)]
pub struct Scratch<'w> {
    /// `[5][D]`: see [`InputRows`].
    inputs: &'w mut [f32],
    /// φ: `[max(M_f, M_g)]`.
    pub(crate) features: &'w mut [f32],
    /// `[O]`.
    pub(crate) outputs: &'w mut [Column],
}

/// Rows of D numbers, standardised.
pub(crate) struct InputRows<'w> {
    /// x₀, from which every path starts.
    pub(crate) start: &'w mut [f32],
    /// x_k.
    pub(crate) state: &'w mut [f32],
    /// Halfway from x_k to x_{k+1}, if the scheme needs it.
    pub(crate) middle: &'w mut [f32],
    /// x_{k+1} while it is being computed.
    pub(crate) next: &'w mut [f32],
    /// x divided by a kernel's length-scales.
    pub(crate) scaled: &'w mut [f32],
}

impl<'w> Scratch<'w> {
    /// The rows of the inputs, with φ beside them; `None` never happens to memory that was cut for the model.
    #[inline(always)]
    pub(crate) fn input_rows(&mut self, inputs: usize) -> Option<(InputRows<'_>, &mut [f32])> {
        let (start, rest) = self.inputs.split_at_mut_checked(inputs)?;
        let (state, rest) = rest.split_at_mut_checked(inputs)?;
        let (middle, rest) = rest.split_at_mut_checked(inputs)?;
        let (next, scaled) = rest.split_at_mut_checked(inputs)?;
        Some((InputRows { start, state, middle, next, scaled }, self.features))
    }

    /// x_k.
    pub(crate) fn state(&self, inputs: usize) -> &[f32] {
        self.inputs.get(inputs..2 * inputs).unwrap_or_default()
    }
}

mod sealed {
    use super::{Scratch, Sizes};

    /// Memory cut to a model's sizes.
    pub trait Cut {
        /// `None` if there is not enough.
        #[doc(hidden)]
        fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>>;
    }
}

impl<const D: usize, const M: usize, const O: usize> Memory for Workspace<D, M, O> {}

impl<const D: usize, const M: usize, const O: usize> sealed::Cut for Workspace<D, M, O> {
    #[inline(always)]
    fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>> {
        // Rows of a smaller model follow each other, without the gaps of a larger one.
        let inputs = self.inputs.as_flattened_mut().get_mut(..INPUT_ROWS * sizes.inputs)?;
        let features = self.features.get_mut(..sizes.features)?;
        Some(Scratch { inputs, features, outputs: self.outputs.get_mut(..sizes.outputs)? })
    }
}

impl Memory for WorkspaceSlice<'_> {}

impl sealed::Cut for WorkspaceSlice<'_> {
    fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>> {
        self.words.cut(sizes)
    }
}

impl Memory for [u32] {}

impl sealed::Cut for [u32] {
    fn cut(&mut self, sizes: Sizes) -> Option<Scratch<'_>> {
        // Words are as aligned as singles.
        let numbers = <[f32]>::mut_from_bytes(self.as_mut_bytes()).ok()?;
        let (inputs, rest) = numbers.split_at_mut_checked(INPUT_ROWS * sizes.inputs)?;
        let (features, rest) = rest.split_at_mut_checked(sizes.features)?;
        // Not all that there is room for: that would be a division.
        let (outputs, _) = <[Column]>::mut_from_prefix_with_elems(rest.as_mut_bytes(), sizes.outputs).ok()?;
        Some(Scratch { inputs, features, outputs })
    }
}
