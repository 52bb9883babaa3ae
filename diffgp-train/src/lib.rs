//! Trains differential Gaussian processes and exports them for microcontrollers.
#![forbid(unsafe_code)]

pub mod elbo;
pub mod params;
pub mod threads;
