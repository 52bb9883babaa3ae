//! Tests across the crates of diffgp, linked once.

mod elbo_differences;
mod elbo_goldens;
mod elbo_limits;
mod goldens;
mod models;
mod naive;
mod tolerances;
mod training;
