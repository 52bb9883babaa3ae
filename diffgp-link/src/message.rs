//! Requests and responses.

use serde::{Deserialize, Serialize};

use crate::frame::Message;

/// Inputs and outputs that messages can carry: as many as a model can have.
pub use diffgp_core::blob::limits::{MAX_INPUTS, MAX_OUTPUTS};

impl Message for Request {
    const KIND: u8 = 1;
}

impl Message for Response {
    const KIND: u8 = 2;
}

/// Asks for one prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Comes back in the response.
    pub id: u32,
    /// Sampled paths; 0 for a prediction along the drift. A device refuses more work than it has time for.
    pub paths: u32,
    /// Seed of the noise; with `row` it fixes every bit of a sampled prediction.
    pub seed: u64,
    /// Row of the noise.
    pub row: u32,
    /// The input in raw units.
    pub x: heapless::Vec<f32, MAX_INPUTS>,
}

/// Answers one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Of the request.
    pub id: u32,
    /// Frames that the device has dropped since it started.
    pub dropped: u32,
    /// The checksum that ends the model in the device's flash, see [`model_checksum`](crate::model_checksum); `None`
    /// without a usable model.
    pub model: Option<u32>,
    /// The prediction, or why there is none.
    pub outcome: Result<Answer, Refusal>,
}

/// A prediction, bit for bit as the device computed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Of every output.
    pub outputs: heapless::Vec<Output, MAX_OUTPUTS>,
    /// Of every class; none for real targets.
    pub probabilities: heapless::Vec<f32, MAX_OUTPUTS>,
    /// Bit i is set if input i lies outside the range seen in training.
    pub out_of_range: u64,
    /// What the prediction cost, in ticks of the device's counter.
    pub ticks: u32,
}

/// One output of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The mean, in the target's units.
    pub mean: f32,
    /// The variance with noise.
    pub variance: f32,
    /// The variance without noise.
    pub latent_variance: f32,
}

/// Why a device has no prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no usable model in its flash.
    NoModel,
    /// The model needs a larger workspace than this firmware has.
    Capacity,
    /// The model takes another number of inputs.
    InputLength {
        /// How many it takes.
        expected: u32,
    },
    /// The input or the prediction is not finite.
    NotFinite,
    /// Anything else.
    Other,
    /// The request is more work than this firmware does at a time.
    TooMuchWork {
        /// Paths that would not be.
        most_paths: u32,
    },
}
