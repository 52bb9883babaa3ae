//! What a random model looks like.

use serde::{Deserialize, Serialize};

/// The shape of a model, from which its bytes follow.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Shape {
    /// D.
    pub(crate) inputs: usize,
    /// K; 0 for a model without a flow.
    pub(crate) steps: usize,
    /// M of the flow.
    pub(crate) inducing: usize,
    /// Inducing times; 0 for a flow that does not change with time, or whose time is folded in.
    pub(crate) times: usize,
    /// Outputs of its own for every step.
    pub(crate) folded: bool,
    /// One kernel for all dimensions of the flow.
    pub(crate) shared: bool,
    /// Directions in the variance of every dimension of the flow.
    pub(crate) rank: usize,
    /// Number of the kind of all kernels.
    pub(crate) kernel: u8,
    /// Whether it is evaluated in integers.
    pub(crate) fixed: bool,
    /// Bits of points, weights and directions.
    pub(crate) bits: [u32; 3],
    /// M of the predictor.
    pub(crate) predictor_inducing: usize,
    pub(crate) predictor_rank: usize,
    pub(crate) outputs: usize,
    /// A kernel for every output.
    pub(crate) per_output: bool,
    /// Its number in the file.
    pub(crate) likelihood: u8,
}
