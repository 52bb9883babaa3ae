//! What the trainer and the runtime of differential Gaussian processes must agree on.
#![no_std]
#![forbid(unsafe_code)]

pub mod kernel;
