//! The only memory that the runtime writes to, apart from a little stack.

use diffgp_core::blob::limits;

/// Memory for one prediction at a time: up to `D` inputs and `M` features.
///
/// `M` is [`Model::features`](crate::Model::features): the larger of the flow's and the predictor's number of
/// inducing points (times the inducing times of a flow whose time features were not folded). Its size is a constant:
///
/// ```
/// assert_eq!(diffgp_infer::Workspace::<8, 100>::BYTES, 496);
/// ```
///
/// A workspace holds nothing between predictions; it can be shared by any number of models.
#[derive(Clone, Debug)]
pub struct Workspace<const D: usize, const M: usize> {
    state: [f32; D],
    next: [f32; D],
    scaled: [f32; D],
    features: [f32; M],
}

impl<const D: usize, const M: usize> Workspace<D, M> {
    /// Size in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// An empty workspace; `const`, so it can be a static. Sizes beyond the format's limits do not compile.
    pub const fn new() -> Self {
        const {
            assert!(D >= 1 && D <= limits::MAX_INPUTS, "a workspace has 1 to 64 inputs");
            assert!(M >= 1 && M <= limits::MAX_FEATURES, "a workspace has 1 to 1024 features");
        }
        Self { state: [0.0; D], next: [0.0; D], scaled: [0.0; D], features: [0.0; M] }
    }

    /// The parts.
    pub(crate) fn scratch(&mut self) -> Scratch<'_> {
        Scratch { state: &mut self.state, next: &mut self.next, scaled: &mut self.scaled, features: &mut self.features }
    }
}

impl<const D: usize, const M: usize> Default for Workspace<D, M> {
    fn default() -> Self {
        Self::new()
    }
}

/// A workspace without its sizes in the type, so that the code behind it exists once.
#[derive(Debug)]
pub(crate) struct Scratch<'w> {
    /// x_k, standardised: `[D]`.
    pub(crate) state: &'w mut [f32],
    /// x_{k+1} while it is being computed: `[D]`.
    pub(crate) next: &'w mut [f32],
    /// x_k divided by a kernel's length-scales: `[D]`.
    pub(crate) scaled: &'w mut [f32],
    /// φ: `[max(M_f, M_g)]`.
    pub(crate) features: &'w mut [f32],
}

impl<'w> Scratch<'w> {
    /// Cut to a model's sizes; `None` if it does not fit.
    pub(crate) fn cut(self, inputs: usize, features: usize) -> Option<Self> {
        Some(Self {
            state: self.state.get_mut(..inputs)?,
            next: self.next.get_mut(..inputs)?,
            scaled: self.scaled.get_mut(..inputs)?,
            features: self.features.get_mut(..features)?,
        })
    }

    /// The same memory, for one path.
    pub(crate) fn reborrow(&mut self) -> Scratch<'_> {
        Scratch { state: self.state, next: self.next, scaled: self.scaled, features: self.features }
    }
}
