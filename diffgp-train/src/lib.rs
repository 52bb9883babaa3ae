#![doc = include_str!("../README.md")]
//!
//! # The names
//!
//! - [`Dataset`]: rows with targets, from arrays or a CSV file.
//! - [`Options`]: what a user may choose. [`Options::config`] makes the [`Config`] of a run from them, every choice of
//!   it; [`Task`] says what is predicted.
//! - [`train()`] and [`resume`] make a [`Trained`] model. An [`Observer`] is told about progress and warnings, may stop
//!   the run, and keeps [`Checkpoint`]s to resume from.
//! - [`Trained::predict`] gives an [`Answer`] for every row, by the device's own code, along the paths that a
//!   [`Sampling`] asks for and on the [`Threads`] that it is given.
//! - [`Trained::export`] gives the model file, [`Exported`]. [`ModelFile`] holds one that was checked, and predicts.
//! - Errors are [`DataError`], [`ConfigError`], [`TrainError`], [`PredictError`] and [`ExportError`].
//!
//! The modules hold the parts that these are made of, for the command and the tests. `docs/architecture.md` of the
//! repository shows how they fit together.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod calibration;
pub mod checkpoint;
pub mod comparison;
pub mod compress;
pub mod data;
pub mod device_cost;
pub mod dirt;
pub mod discretisation;
pub mod elbo;
pub mod evaluate;
pub mod exact;
pub mod exchange;
pub mod export;
pub mod gradient;
pub mod inducing;
pub mod likelihood;
pub mod model_file;
pub mod noise;
pub mod optimise;
pub mod options;
pub mod own_file;
pub mod params;
pub mod permutation;
pub mod philox;
pub mod provenance;
pub mod relevance;
pub mod score;
pub mod threads;
pub mod train;

pub use checkpoint::Checkpoint;
pub use data::{DataError, Dataset};
pub use evaluate::{Answer, Sampling};
pub use exchange::{Exchange, ExchangeError};
pub use export::{ExportError, Exported};
pub use model_file::{ModelFile, PredictError};
pub use options::Options;
pub use threads::Threads;
pub use train::{Config, ConfigError, Observer, Task, TrainError, Trained, resume, train};
