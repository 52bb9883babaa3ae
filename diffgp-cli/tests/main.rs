//! The `diffgp` command through the real binary.

mod bad_input;
mod compress;
mod crossval;
mod data_files;
mod data_precision;
mod demo;
mod device;
mod evaluate;
mod first_line;
#[cfg(target_os = "linux")]
mod full_disk;
mod help;
mod inspect;
mod inspect_figures;
mod inspect_snippet;
mod kept_files;
#[cfg(unix)]
mod killed;
mod late_failures;
mod many_answers;
mod plot;
mod runner;
mod threads;
mod train;
mod two_trainers;
