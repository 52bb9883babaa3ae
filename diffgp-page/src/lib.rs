//! The runtime as a WebAssembly module, for the page that `diffgp explore` writes.
//!
//! JavaScript asks for room (`model_space`, `input_space`), writes a model and a row of inputs there,
//! calls, and reads words where `answer` says. The module has no imports.
//!
//! Its numbers are the device's: the same code, and WebAssembly computes as IEEE 754 says.
//!
//! No block of this crate is unsafe. Memory is that of vectors, whose addresses are plain numbers; JavaScript touches it
//! only while no function of the module runs. Only the attribute that gives a function the name by which JavaScript calls
//! it counts as unsafe, since two functions of one name would not be noticed; it is allowed in `exports` alone.
#![deny(unsafe_code)]

mod answer;
mod exports;
mod state;
