//! Tests across the crates of diffgp, linked once.

mod goldens;
mod runtime_goldens;
mod tolerances;
