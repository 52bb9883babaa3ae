//! What the trainer and the runtime of differential Gaussian processes must agree on: the model file ([`blob`]), the
//! kernels ([`kernel`]), the steps of a flow ([`scheme`]), the random numbers ([`noise`], [`normal`]), and how all that is done in
//! integers ([`fixed`]). `no_std`, no allocator, no unsafe code.
//!
//! The trainer writes and the runtime reads, both through this crate. Arithmetic that must give the same bits on every
//! target is in single precision and uses IEEE additions, multiplications and divisions only.
#![no_std]
#![forbid(unsafe_code)]

pub mod blob;
mod exp2;
pub mod fixed;
pub mod kernel;
pub mod noise;
pub mod normal;
mod rolled;
pub mod scheme;
mod sqrt;

/// What the runtime computes with and nobody else; it may change at any time.
#[doc(hidden)]
pub mod device {
    pub use crate::exp2::exp2_neg;
    pub use crate::rolled::{in_lanes, keep_rolled, opaque};
    pub use crate::sqrt::sqrt;
}
