//! Trains differential Gaussian processes and exports them for microcontrollers.
#![forbid(unsafe_code)]

pub mod data;
pub mod elbo;
pub mod params;
