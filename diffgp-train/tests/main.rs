//! The `diffgp` command through the real binary.

mod bad_input;
mod crossval;
mod demo;
mod device;
mod evaluate;
mod help;
mod inspect;
mod inspect_figures;
mod inspect_snippet;
mod plot;
mod runner;
mod train;
