//! What the trainer and the runtime of differential Gaussian processes must agree on: the model file ([`blob`]), the
//! kernels ([`kernel`]), and the random numbers ([`noise`], [`normal`]). `no_std`, no allocator, no unsafe code.
//!
//! The trainer writes and the runtime reads, both through this crate. Arithmetic that must give the same bits on every
//! target is in single precision and uses IEEE additions, multiplications and divisions only.
#![no_std]
#![forbid(unsafe_code)]

pub mod blob;
pub mod exp2;
pub mod kernel;
pub mod noise;
pub mod normal;
pub mod rolled;
pub mod sqrt;
