//! Trains differential Gaussian processes and exports them for microcontrollers.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod checkpoint;
pub mod compress;
pub mod data;
pub mod device_cost;
pub mod elbo;
pub mod evaluate;
pub mod exact;
pub mod export;
pub mod gradient;
pub mod inducing;
pub mod noise;
pub mod optimise;
pub mod options;
pub mod params;
pub mod permutation;
pub mod philox;
pub mod provenance;
pub mod threads;
pub mod train;
