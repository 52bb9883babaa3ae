//! The few functions of MPI that diffgp trains with, in safe Rust.
//!
//! [`Mpi::begin`] makes this process one of the ranks that a launcher (`mpirun`, `srun`) started; all other calls are
//! methods of what it gives, so none can come before. Bytes are sent, received, broadcast and gathered; nothing is ever
//! added up here. All ranks make the same calls in the same order, as MPI wants it.
//!
//! `src/shim.c` is compiled by MPI's own compiler (`mpicc`, or what the environment variable `MPICC` names): neither
//! libclang nor a header in Rust is needed, and every MPI with nonblocking collectives (MPI-3, 2012) will do.
//!
//! Messages of more than a gigabyte are cut, since MPI counts in `int`.
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod shim;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a message at most; MPI's counts are `int`.
const LONGEST: usize = 1 << 30;

/// MPI could not do something; it says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiError {
    what: &'static str,
    message: String,
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MPI cannot {}: {}", self.what, self.message)
    }
}

impl std::error::Error for MpiError {}

/// The ranks that were started together, seen from one of them. There is one value at most in a process.
#[derive(Debug)]
pub struct Mpi {
    rank: usize,
    size: usize,
    /// Any thread may call MPI, but only one at a time.
    turn: Mutex<()>,
}

static BEGUN: AtomicBool = AtomicBool::new(false);

impl Mpi {
    /// Starts MPI. A process can do that once.
    pub fn begin() -> Result<Self, MpiError> {
        let failed = |message: &str| MpiError { what: "start", message: message.to_owned() };
        if BEGUN.swap(true, Ordering::SeqCst) {
            return Err(failed("it was started before in this process"));
        }
        let (rank, size, serialized) = shim::begin().map_err(|message| MpiError { what: "start", message })?;
        if !serialized {
            return Err(failed("it was built without support for threads; expected MPI_THREAD_SERIALIZED at least"));
        }
        Ok(Self { rank, size, turn: Mutex::new(()) })
    }

    /// Which rank this is, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The name of the machine.
    pub fn machine(&self) -> String {
        let _turn = self.turn();
        shim::machine()
    }

    /// The MPI library and its version, in its own words.
    pub fn library(&self) -> String {
        let _turn = self.turn();
        shim::library()
    }

    /// Sends to another rank, which receives as many bytes.
    pub fn send(&self, to: usize, bytes: &[u8]) -> Result<(), MpiError> {
        let (_turn, to) = (self.turn(), self.place(to, "send")?);
        bytes
            .chunks(LONGEST)
            .try_for_each(|part| shim::send(part, to))
            .map_err(|message| MpiError { what: "send", message })
    }

    /// Receives from another rank.
    pub fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), MpiError> {
        let (_turn, from) = (self.turn(), self.place(from, "receive")?);
        let mut parts = bytes.chunks_mut(LONGEST);
        parts.try_for_each(|part| shim::receive(part, from)).map_err(|message| MpiError { what: "receive", message })
    }

    /// Gives all ranks the bytes of one; everywhere there is room for as many.
    pub fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), MpiError> {
        let (_turn, from) = (self.turn(), self.place(from, "broadcast")?);
        let mut parts = bytes.chunks_mut(LONGEST);
        parts
            .try_for_each(|part| shim::broadcast(part, from))
            .map_err(|message| MpiError { what: "broadcast", message })
    }

    /// Gives all ranks the bytes of every one, in the order of ranks; they may be of different lengths.
    pub fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        let lengths = {
            let _turn = self.turn();
            shim::all_gather(&(own.len() as u64).to_le_bytes(), self.size)
                .map_err(|message| MpiError { what: "gather", message })?
        };
        let length = |bytes: &[u8]| bytes.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
        let lengths: Vec<usize> = lengths.chunks_exact(size_of::<u64>()).map(length).collect();
        // All ranks know all lengths, so all take the same way.
        if lengths.iter().sum::<usize>() <= LONGEST {
            let _turn = self.turn();
            return shim::all_gather_some(own, &lengths).map_err(|message| MpiError { what: "gather", message });
        }
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![0; length]).collect();
        all[self.rank].copy_from_slice(own);
        all.iter_mut().enumerate().try_for_each(|(rank, bytes)| self.broadcast(rank, bytes))?;
        Ok(all)
    }

    /// Waits until all ranks are here, and ends MPI; `false` if they are not within the time, and then MPI goes on: a
    /// process that does not want to wait any more calls [`Mpi::abort`]. Without a time it waits for ever, asleep.
    pub fn end(self, patience: Option<Duration>) -> Result<(), Unended> {
        let failed = |message| MpiError { what: "end", message };
        let ended = {
            let _turn = self.turn();
            shim::end(patience.map_or(-1.0, |time| time.as_secs_f64()))
        };
        match ended {
            Ok(true) => shim::finalize().map_err(|message| Unended { mpi: self, error: Some(failed(message)) }),
            Ok(false) => Err(Unended { mpi: self, error: None }),
            Err(message) => Err(Unended { mpi: self, error: Some(failed(message)) }),
        }
    }

    /// Ends all ranks at once, with this exit code.
    pub fn abort(&self, code: u8) -> ! {
        shim::abort(code.into())
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A rank as MPI counts it.
    fn place(&self, rank: usize, what: &'static str) -> Result<i32, MpiError> {
        let known = i32::try_from(rank).ok().filter(|_| rank < self.size);
        known.ok_or_else(|| MpiError { what, message: format!("rank {rank} of {} does not exist", self.size) })
    }
}

/// MPI that has not ended.
#[derive(Debug)]
pub struct Unended {
    /// The ranks, to be aborted.
    pub mpi: Mpi,
    /// What MPI said; nothing if ranks were late.
    pub error: Option<MpiError>,
}
