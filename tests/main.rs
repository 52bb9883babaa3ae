//! Tests across the crates of diffgp, linked once.

mod blob_properties;
mod goldens;
mod random_models;
mod runtime_api;
mod runtime_goldens;
mod tolerances;
