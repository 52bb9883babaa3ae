//! Tests across the crates of diffgp, linked once.

mod elbo_goldens;
mod goldens;
mod tolerances;
mod training;
