//! The C interface of the runtime: `include/diffgp.h` is made of this crate, and `archive/` makes libraries of it.
//!
//! Its documentation is the header's, for readers of C. Every function takes what C hands over with suspicion: a null pointer, a
//! misaligned one, a length that goes around the address space, memory that overlaps, an object that was never filled or
//! whose workspace has been used for something else since. Each is a status.
//!
//! # Safety
//!
//! What nobody can see from a pointer is the caller's promise, of every function here:
//!
//! - a pointer that is not null points to a value of its type or, where the function writes, to room for one; with a length
//!   beside it, to that many;
//! - nobody else writes to that memory meanwhile;
//! - an object was zeroed, or filled by the function that fills it;
//! - what an object borrows (a model its bytes; a prediction its model and workspace; a run those and the context of its
//!   generator) stays where it is, and the bytes and the model unchanged, as long as the object is used.
//!
//! All memory is the caller's. An object of C is opaque words; in them are a tag and a value of `diffgp-infer`.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
#![allow(non_camel_case_types, reason = "types have the names that C programs use")]
#![allow(clippy::missing_safety_doc, reason = "all functions ask for the same promises, see above")]

mod flash;
mod memory;
mod model;
mod noise;
mod policy;
mod predict;
mod prediction;
mod run;
mod slots;
mod status;
mod version;
mod work;
mod workspace;

pub use flash::{DIFFGP_FLASH_WRITE_BYTES, diffgp_flash};
pub use model::*;
pub use noise::diffgp_noise;
pub use policy::diffgp_limits;
pub use predict::*;
pub use prediction::*;
pub use run::*;
pub use slots::*;
pub use status::*;
pub use version::*;
pub use work::*;
pub use workspace::diffgp_workspace_bytes;
