//! The trainer's exchange over MPI.

use std::sync::Arc;

use diffgp_mpi::{Mpi, MpiError};
use diffgp_train::exchange::{Exchange, ExchangeError};

#[derive(Debug)]
pub(super) struct OverMpi(pub(super) Arc<Mpi>);

fn lost(error: MpiError) -> ExchangeError {
    ExchangeError(error.to_string())
}

impl Exchange for OverMpi {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ExchangeError> {
        self.0.send(to, bytes).map_err(lost)
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        self.0.receive(from, bytes).map_err(lost)
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        self.0.broadcast(from, bytes).map_err(lost)
    }

    fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError> {
        self.0.all_gather(own).map_err(lost)
    }
}
