//! Processes that train one model together: what they tell each other.
//!
//! All of them run the same program on the same rows and settings, so all know what comes next; each computes its share of
//! the chunks of rows, and then all know the result. Nothing is ever added in an order that depends on how many they are:
//! sums go from rank to rank, each of which adds its lanes in their order (`fold`). The library brings
//! [`Alone`]; the command brings MPI.

use std::fmt;
use std::ops::Range;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Bytes of a sum that travel together: enough that a message costs more than its start, few enough that ranks work at the
/// same time.
const PIECE: usize = 32 << 10;

/// Another process cannot be reached, or did not do what this one did. Nothing can go on after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExchangeError(pub String);

/// The processes of a run, counted from 0: the ranks. All of them make the same calls in the same order.
pub trait Exchange: fmt::Debug + Send + Sync {
    /// Which one this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends to one rank, which receives as many bytes.
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ExchangeError>;

    /// Receives what one rank sends.
    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError>;

    /// Gives all ranks the bytes of one.
    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError>;

    /// Gives all ranks the bytes of every one, which may be of different lengths, in the order of ranks.
    fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError>;
}

/// The only process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Exchange for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&self, _: usize, _: &[u8]) -> Result<(), ExchangeError> {
        Ok(())
    }

    fn receive(&self, _: usize, _: &mut [u8]) -> Result<(), ExchangeError> {
        Ok(())
    }

    fn broadcast(&self, _: usize, _: &mut [u8]) -> Result<(), ExchangeError> {
        Ok(())
    }

    fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError> {
        Ok(vec![own.to_vec()])
    }
}

impl dyn Exchange + '_ {
    /// Whether there are no others.
    pub fn is_alone(&self) -> bool {
        self.size() == 1
    }

    /// The part of `count` pieces of work that is this rank's: neighbours.
    pub fn share(&self, count: usize) -> Range<usize> {
        share(count, self.rank(), self.size())
    }

    /// A sum over what all ranks hold, in the order of ranks, on every rank.
    ///
    /// `values` is where the sum begins; `add` adds what this rank holds to a range of them. The values go from rank to rank,
    /// a piece at a time, and from the last one to all: the additions are those of one process that holds everything.
    pub(crate) fn fold(
        &self,
        values: &mut [f64],
        mut add: impl FnMut(Range<usize>, &mut [f64]),
    ) -> Result<(), ExchangeError> {
        if self.is_alone() {
            add(0..values.len(), values);
            return Ok(());
        }
        let (rank, last) = (self.rank(), self.size() - 1);
        for (index, piece) in values.chunks_mut(PIECE / size_of::<f64>()).enumerate() {
            if rank > 0 {
                self.receive(rank - 1, piece.as_mut_bytes())?;
            }
            let start = index * (PIECE / size_of::<f64>());
            add(start..start + piece.len(), piece);
            if rank < last {
                self.send(rank + 1, piece.as_bytes())?;
            }
        }
        self.broadcast(last, values.as_mut_bytes())
    }

    /// What all ranks together have, in their order, from what each has. `length` is how many there are in all.
    pub(crate) fn gather<T>(&self, own: Vec<T>, length: usize) -> Result<Vec<T>, ExchangeError>
    where
        T: Copy + Default + FromBytes + IntoBytes + Immutable,
    {
        if self.is_alone() {
            return Ok(own);
        }
        let mut all = Vec::with_capacity(length);
        for bytes in self.all_gather(own.as_bytes())? {
            let start = all.len();
            all.resize(start + bytes.len() / size_of::<T>(), T::default());
            let whole = all[start..].as_mut_bytes();
            if whole.len() != bytes.len() {
                return Err(ExchangeError(format!("another rank sent {} bytes, no whole numbers", bytes.len())));
            }
            whole.copy_from_slice(&bytes);
        }
        match all.len() == length {
            true => Ok(all),
            false => Err(ExchangeError(format!("the ranks sent {} numbers in all, expected {length}", all.len()))),
        }
    }
}

/// The part of `count` pieces of work that falls to a rank.
pub fn share(count: usize, rank: usize, size: usize) -> Range<usize> {
    rank * count / size..(rank + 1) * count / size
}
