//! Tests across the crates of diffgp, linked once.

mod architecture;
mod blob_properties;
mod calibrated;
mod certified;
mod common_directions;
mod compaction;
mod compression;
mod cut;
mod decisions;
mod device_work;
mod dirt_of_sets;
mod elbo_differences;
mod elbo_goldens;
mod elbo_limits;
mod flips;
mod format_document;
mod fuzzed;
mod goldens;
mod hard_variance;
mod integers;
mod library;
mod many_answers;
mod model_slots;
mod models;
mod naive;
mod noise_statistics;
mod overflow;
mod profile;
mod random_models;
mod ranks;
mod recipe;
mod refused_models;
mod region;
mod runtime_api;
mod runtime_goldens;
mod several_targets;
mod skipped;
mod stored_models;
mod strong_order;
mod tables;
mod tolerances;
mod training;

// `fuzzed` shares files with the fuzz targets, which call the trainer by this name.
use diffgp_train as trainer;
