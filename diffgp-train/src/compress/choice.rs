//! What a search chooses.

use crate::export::Bits;

/// How far a model is cut and rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Whether the device evaluates it in integers.
    pub fixed: bool,
    /// K.
    pub steps: usize,
    /// M_f.
    pub flow_points: usize,
    /// M_g.
    pub predictor_points: usize,
    /// Of all inducing points.
    pub point_bits: Bits,
    /// Of the weights of all means.
    pub weight_bits: Bits,
    /// Of the directions of the flow's variances.
    pub flow_bits: Bits,
    /// Of the directions of the predictor's variance.
    pub predictor_bits: Bits,
    /// Directions of every output of the flow, kernel by kernel.
    pub flow_ranks: Vec<Vec<usize>>,
    /// Directions of every output of the predictor, or as many as it has.
    pub predictor_rank: usize,
}

/// Which process of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The flow's kernel with this index.
    Flow(usize),
    /// The predictor's kernel with this index.
    Predictor(usize),
}

impl Part {
    pub(super) fn is_predictor(self) -> bool {
        matches!(self, Self::Predictor(_))
    }
}
