//! Tests across the crates of diffgp, linked once.

mod goldens;
