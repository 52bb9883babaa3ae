//! `--threads` of the commands that compute.

use anyhow::Context;
use diffgp_train::threads::Threads;

use super::failure::mistake;

/// The most workers, as in the configuration of a training.
const MOST: usize = 256;

/// How many workers compute.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ThreadsArgs {
    /// Worker threads [default: one per core]; the result does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl ThreadsArgs {
    /// How many are asked for; zero means one per core.
    pub(crate) fn count(self) -> usize {
        self.threads.unwrap_or(0)
    }

    /// Starts them.
    pub(crate) fn start(self) -> anyhow::Result<Threads> {
        start(self.count())
    }
}

/// Starts so many workers; zero means one per core.
pub(crate) fn start(count: usize) -> anyhow::Result<Threads> {
    Threads::new(checked(count)?).context("cannot start worker threads")
}

/// A number of workers that can be started.
pub(crate) fn checked(count: usize) -> anyhow::Result<usize> {
    if count > MOST {
        return Err(mistake(format!("--threads is {count}; expected 0 (one per core) to {MOST}")));
    }
    Ok(count)
}
