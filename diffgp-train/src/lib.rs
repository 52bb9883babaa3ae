//! Trains differential Gaussian processes and exports them for microcontrollers.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod elbo;
pub mod exact;
pub mod export;
pub mod params;
pub mod scaling;
pub mod threads;
