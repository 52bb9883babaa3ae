//! Predicts with differential Gaussian processes on microcontrollers: mean *and* variance, in fixed memory.
//!
//! The model is a `.dgp` file written by `diffgp train`. It is read in place, from flash; the only memory is a
//! [`Workspace`] whose size is known at compile time. Inputs and predictions are in the sensor's own units.
//!
//! ```
//! use diffgp_infer::{Keyed, Model, Workspace, include_model};
//!
//! static MODEL: &[u8] = include_model!("../models/power.dgp");
//!
//! // Once, at start-up: every check is made here.
//! let model = Model::parse(MODEL)?;
//! assert!(Workspace::<4, 50>::fits(&model));
//! let mut workspace = Workspace::<4, 50>::new();
//! assert!(size_of_val(&workspace) <= 308);
//!
//! // For every sample: temperature, vacuum, pressure, humidity.
//! let x = [14.96, 41.76, 1024.07, 73.17];
//! let quick = model.predict(&x, &mut workspace)?.mean();
//! let honest = model.predict_sampled(&x, 32, &mut Keyed::new(0, 0), &mut workspace)?;
//!
//! let (low, high) = honest.interval(0.95).unwrap();
//! assert!(low < quick && quick < high);
//! if !honest.in_range() || honest.variance() > 25.0 {
//!     // Not sure enough to act on the mean.
//! }
//! # Ok::<(), diffgp_infer::Error>(())
//! ```
//!
//! # What runs
//!
//! ```text
//! x_{k+1} = x_k + μ(x_k) dt + √(var(x_k) dt) ε_k      k = 0 … K−1: the flow, in the sense of Itô; or the same with
//!                                                     μ and var at x_k + ½ μ(x_k) dt (see [`Scheme`])
//! g_o     ~ N(mean_o(x_K), var_o(x_K))                the predictor: one or several real targets, or classes
//! ```
//!
//! - [`Model::predict`] follows the drift alone (ε = 0): one pass, with an error bar of its own if the model is calibrated,
//!   else the predictor's only.
//! - [`Model::predict_sampled`] follows S paths and returns the moments of their mixture, in memory independent of S.
//! - [`Model::begin`] gives a [`Run`]: the same piece by piece, for callers with something else to do, and a view of the paths.
//! - [`Model::predict_raw`] takes and gives fixed-point numbers, so that no float is computed with at all.
//! - A model with T = 0 has no flow and costs none.
//!
//! # What is guaranteed
//!
//! - No allocation, no unsafe code, no panic: after a successful [`Model::parse`] no call panics, loops without bound or
//!   reads out of bounds, whatever the bytes were. A result that is not finite is [`Error::NotFinite`], never a NaN.
//! - The same bits everywhere: the same file, input and noise give the same result on x86-64, every Cortex-M and RISC-V
//!   core, and wasm. Only IEEE single-precision additions, multiplications and divisions are used, in one order; and
//!   integer ones by models that are evaluated in integers.
//!
//! What is *not* guaranteed: that the model is right. [`Prediction::in_range`] tells when it extrapolates, and the file
//! records how far it is from the float64 model it came from or, if it was compressed, from the file of before
//! ([`Blob::header`]).
//!
//! # Features
//!
//! `single` and `fixed` are the arithmetics that a program has: f32, and integers for cores without floating-point hardware
//! (models made by `diffgp compress --integers`). `calibration` (calibrated error bars), `classes` and `integers` (compressed
//! models in f32) are kinds of models. All are on by default. A program without such models leaves their code out with `default-features = false` and names what it
//! needs, at least one arithmetic; it then refuses the others when they are loaded. `defmt` formats errors for that logger.
//!
//! # Randomness
//!
//! Any `rand_core` generator can drive a sampled prediction, or any `FnMut() -> u32` through [`FromFn`] (a hardware
//! generator, say). [`Keyed`] gives every (seed, row, path) its own stream, so a row predicted alone has the same bits
//! as among others; the workstation's tools use it. [`Replay`] plays given numbers.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(doctest)]
extern crate std;

mod error;
mod fixed;
mod gp;
mod include;
mod integers;
mod mixture;
mod model;
mod prediction;
mod run;
mod work;
mod workspace;

pub use diffgp_core::blob::{Blob, ParseError};
pub use diffgp_core::noise::{DefaultRng, FromFn, Keyed, Noise, Replay, keyed_rng};
pub use diffgp_core::scheme::Scheme;
pub use error::Error;
#[doc(hidden)]
pub use include::Aligned;
pub use model::{Likelihood, Model};
pub use prediction::{Latent, OutOfRange, Output, Prediction};
pub use run::{Drift, Progress, RawOutput, RawPrediction, Run};
pub use work::Work;
pub use workspace::{Memory, Workspace, WorkspaceSlice};
