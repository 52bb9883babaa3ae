//! Predicts with differential Gaussian processes on microcontrollers.
#![no_std]
#![forbid(unsafe_code)]

mod error;
mod flow;
mod gp;
mod include;
mod model;
mod prediction;
mod workspace;

pub use diffgp_core::blob::{Blob, ParseError};
pub use diffgp_core::noise::{DefaultRng, FromFn, Keyed, Noise, Replay, keyed_rng};
pub use error::Error;
pub use flow::Flow;
#[doc(hidden)]
pub use include::Aligned;
pub use model::Model;
pub use prediction::{Latent, Mixture, Prediction};
pub use workspace::Workspace;
