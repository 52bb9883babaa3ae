//! The `diffgp` command through the real binary.

mod bad_input;
mod crossval;
mod data_files;
mod demo;
mod evaluate;
#[cfg(target_os = "linux")]
mod full_disk;
mod help;
mod inspect;
#[cfg(unix)]
mod killed;
mod plot;
mod runner;
mod train;
mod two_trainers;
