//! Worker threads, and the memory they keep.
//!
//! Batches are cut into pieces whose number depends on the model and the batch only, and the pieces are summed in a
//! fixed order: the number of threads changes the time, never a bit of the result.

use std::sync::Mutex;

use crate::elbo::Workspace;

/// A fixed number of worker threads, with the buffers they use again from one evaluation to the next.
#[derive(Debug)]
pub struct Threads {
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) single: Mutex<Vec<Workspace<f32>>>,
    pub(crate) double: Mutex<Vec<Workspace<f64>>>,
}

impl Threads {
    /// Starts `count` workers; zero means one per core.
    pub fn new(count: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build()?;
        Ok(Self { pool, single: Mutex::default(), double: Mutex::default() })
    }

    /// How many workers there are.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}
