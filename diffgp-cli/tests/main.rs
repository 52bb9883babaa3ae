//! The `diffgp` command through the real binary.

mod bad_input;
mod categories;
mod compress;
mod crossval;
mod data_files;
mod data_precision;
mod demo;
mod device;
mod dirt;
mod evaluate;
mod everyday_files;
mod explore;
mod export;
mod first_line;
#[cfg(target_os = "linux")]
mod full_disk;
mod held_out;
mod help;
#[cfg(unix)]
mod hostile_folder;
#[cfg(unix)]
mod hostile_input;
mod hostile_model;
mod inspect;
mod inspect_figures;
mod inspect_snippet;
mod kept_files;
#[cfg(unix)]
mod killed;
mod late_failures;
mod many_answers;
mod new_firmware;
mod plot;
mod relevance;
mod report;
mod runner;
mod signing;
#[cfg(target_os = "linux")]
#[path = "../../tests/skipped.rs"]
mod skipped;
mod tables;
mod threads;
mod train;
mod two_trainers;
mod update;
