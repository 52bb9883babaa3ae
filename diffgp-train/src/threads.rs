//! Worker threads, the memory they keep, and the other processes that they compute with.
//!
//! Batches are cut into pieces whose number depends on the model and the batch only, and the pieces are summed in a
//! fixed order: the number of threads and of processes changes the time, never a bit of the result.

use std::sync::{Arc, Mutex};

use crate::elbo::Workspace;
use crate::exchange::{Alone, Exchange};

/// A fixed number of worker threads, with the buffers they use again from one evaluation to the next.
#[derive(Debug)]
pub struct Threads {
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) single: Mutex<Vec<Workspace<f32>>>,
    pub(crate) double: Mutex<Vec<Workspace<f64>>>,
    exchange: Arc<dyn Exchange>,
}

impl Threads {
    /// Starts `count` workers; zero means one per core.
    pub fn new(count: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        Self::of_rank(count, Arc::new(Alone))
    }

    /// The same in one of several processes: what is given these threads is computed by all of them together, each of
    /// which must be given the same. Training and the evaluation of the bound are; the evaluation of model files is not.
    pub fn of_rank(count: usize, exchange: Arc<dyn Exchange>) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build()?;
        Ok(Self { pool, single: Mutex::default(), double: Mutex::default(), exchange })
    }

    /// How many workers there are.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The processes that compute together.
    pub fn exchange(&self) -> &dyn Exchange {
        &*self.exchange
    }
}
