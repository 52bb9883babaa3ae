//! What the trainer and the runtime of differential Gaussian processes must agree on.
#![no_std]
#![forbid(unsafe_code)]

pub mod blob;
pub mod exp2;
pub mod kernel;
pub mod noise;
pub mod normal;
pub mod rolled;
pub mod sqrt;
