//! The processes that a launcher of MPI (`mpirun`, `srun`) has started to do one work together.
//!
//! All of them read the arguments and the rows; the first alone writes files and speaks. Without the feature `mpi`, or
//! without a launcher, there is one.

mod launcher;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(any(feature = "mpi", test))]
mod processors;

use std::sync::Arc;
#[cfg(feature = "mpi")]
use std::time::Duration;

use anyhow::Context;
use diffgp_train::exchange::{Alone, Exchange, ExchangeError};
use diffgp_train::threads::Threads;

use super::console::tell;
use super::{console, failure, interrupt, threads};

pub(crate) use self::launcher::is_follower;

/// How long a rank that failed waits for the others to fail as well. They are one iteration behind at most, or wait for it.
#[cfg(feature = "mpi")]
const PATIENCE: Duration = Duration::from_secs(5);

/// This process and the others.
#[derive(Debug)]
pub(crate) struct Ranks {
    exchange: Arc<dyn Exchange>,
    /// Worker threads of each, if nobody says how many: what is left of the machine's cores for this one.
    default_threads: usize,
    /// What carries the messages.
    library: Option<String>,
    #[cfg(feature = "mpi")]
    mpi: Option<Arc<diffgp_mpi::Mpi>>,
}

/// Does a work together with the processes that were started with this one, if there are any.
pub(crate) fn together(work: impl FnOnce(&Ranks) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let ranks = Ranks::join()?;
    if !ranks.is_first() {
        console::be_silent();
    }
    if !ranks.are_one() {
        interrupt::come_in_pairs();
    }
    let outcome = work(&ranks);
    ranks.end(outcome)
}

impl Ranks {
    fn alone() -> Self {
        Self {
            exchange: Arc::new(Alone),
            default_threads: 0,
            library: None,
            #[cfg(feature = "mpi")]
            mpi: None,
        }
    }

    #[cfg(not(feature = "mpi"))]
    fn join() -> anyhow::Result<Self> {
        if let Some(size) = launcher::size().filter(|&size| size > 1) {
            tell!(
                "note: started as one of {size} processes, but this diffgp was built without the feature mpi: each of them \
                 works alone"
            );
        }
        Ok(Self::alone())
    }

    #[cfg(feature = "mpi")]
    fn join() -> anyhow::Result<Self> {
        let Some(launched) = launcher::size() else { return Ok(Self::alone()) };
        let mpi = Arc::new(diffgp_mpi::Mpi::begin()?);
        if mpi.size() == 1 && launched > 1 {
            return Err(failure::mistake(format!(
                "{launched} processes were started, and each is alone: this diffgp was built with {}, the launcher seems to be \
                 of another MPI; expected the launcher of the same one, or a diffgp built with the other's mpicc (MPICC)",
                short(&mpi.library())
            )));
        }
        let exchange: Arc<dyn Exchange> = Arc::new(mpi::OverMpi(mpi.clone()));
        let default_threads = processors::share(&*exchange, &mpi.machine())?;
        Ok(Self { exchange, default_threads, library: Some(short(&mpi.library())), mpi: Some(mpi) })
    }

    /// Whether this one writes and speaks.
    pub(crate) fn is_first(&self) -> bool {
        self.exchange.rank() == 0
    }

    /// Whether there is only this one.
    pub(crate) fn are_one(&self) -> bool {
        self.exchange.size() == 1
    }

    /// Which one this is.
    pub(crate) fn rank(&self) -> usize {
        self.exchange.rank()
    }

    /// How many there are.
    pub(crate) fn size(&self) -> usize {
        self.exchange.size()
    }

    /// So many worker threads, or if nobody says how many, the share of this rank.
    pub(crate) fn thread_count(&self, asked: Option<usize>) -> usize {
        asked.filter(|&asked| asked > 0).unwrap_or(self.default_threads)
    }

    /// Starts worker threads that compute with those of the other ranks.
    pub(crate) fn threads(&self, asked: Option<usize>) -> anyhow::Result<Threads> {
        let count = threads::checked(self.thread_count(asked))?;
        Threads::of_rank(count, self.exchange.clone()).context("cannot start worker threads")
    }

    /// Says who works, if there are several.
    pub(crate) fn introduce(&self, threads: usize) {
        if !self.are_one() {
            let each = if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
            tell!(
                "{} ranks of {each} each, over {}",
                self.size(),
                self.library.as_deref().unwrap_or("another library")
            );
        }
    }

    /// What this rank has, if all of them have something: what stops one stops all. The first one's error counts most.
    pub(crate) fn agree<T>(&self, outcome: anyhow::Result<T>) -> anyhow::Result<T> {
        if self.are_one() {
            return outcome;
        }
        let message = |error: &anyhow::Error| {
            let kind = if failure::is_mistake(error) { "2" } else { "1" };
            kind.to_owned() + &failure::message(error) + &failure::advice(error)
        };
        let own = outcome.as_ref().err().map_or(String::new(), message);
        let all = self.exchange.all_gather(own.as_bytes())?;
        let failed = all.iter().position(|message| !message.is_empty());
        match (failed, outcome) {
            (None, outcome) | (_, outcome @ Err(_)) => outcome,
            (Some(rank), Ok(_)) => {
                let text = String::from_utf8_lossy(&all[rank]).into_owned();
                let (kind, text) = text.split_at(1);
                let text = format!("rank {rank}: {text}");
                Err(if kind == "2" { failure::mistake(text) } else { anyhow::anyhow!(text) })
            }
        }
    }

    /// Gives all ranks some bytes of the first.
    pub(crate) fn share_of_first(&self, bytes: Vec<u8>) -> Result<Vec<u8>, ExchangeError> {
        let own = if self.is_first() { bytes } else { Vec::new() };
        Ok(self.exchange.all_gather(&own)?.swap_remove(0))
    }

    /// What every rank has written, on all of them.
    pub(crate) fn share_texts(&self, own: &str) -> anyhow::Result<Vec<String>> {
        let all = self.exchange.all_gather(own.as_bytes())?;
        Ok(all.into_iter().map(String::from_utf8).collect::<Result<_, _>>()?)
    }

    #[cfg(not(feature = "mpi"))]
    fn end(self, outcome: anyhow::Result<()>) -> anyhow::Result<()> {
        outcome
    }

    /// Ends with the others. A rank that fails while they go on ends them too.
    #[cfg(feature = "mpi")]
    fn end(mut self, outcome: anyhow::Result<()>) -> anyhow::Result<()> {
        let (rank, first) = (self.rank(), self.is_first());
        let Some(mpi) = self.mpi.take() else { return outcome };
        drop(self);
        let Some(mpi) = Arc::into_inner(mpi) else { return outcome };
        // Who has done its part sleeps until the first one has written everything.
        let patience = outcome.is_err().then_some(PATIENCE);
        let Err(unended) = mpi.end(patience) else { return outcome };
        console::speak();
        let error = match (outcome, unended.error) {
            (Err(error), _) => error,
            (Ok(()), Some(error)) => error.into(),
            (Ok(()), None) => anyhow::anyhow!("the other ranks do not end"),
        };
        if first {
            failure::report(&error);
        } else {
            tell!("error: rank {rank}: {}", failure::message(&error));
        }
        unended.mpi.abort(if failure::is_mistake(&error) { 2 } else { 1 })
    }
}

/// Name and version of an MPI, of all that it says of itself: `Open MPI v4.1.4`, `MPICH Version: 4.0.2`.
#[cfg(feature = "mpi")]
fn short(library: &str) -> String {
    let first = library.lines().next().unwrap_or_default().split(',').next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}
