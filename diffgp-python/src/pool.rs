//! The worker threads: started once for every number of them that is asked for.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use diffgp_train::evaluate::Sampling;
use diffgp_train::threads::Threads;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::model::Model;
use crate::rows::Rows;
use crate::work;

/// As in the configuration of a training.
const MOST: usize = 256;

static STARTED: Mutex<Started> = Mutex::new(Started { process: 0, pools: Vec::new() });

struct Started {
    process: u32,
    /// By the number that was asked for.
    pools: Vec<(usize, Arc<Threads>)>,
}

/// So many workers; zero means one per core.
pub(crate) fn threads(count: usize) -> PyResult<Arc<Threads>> {
    if count > MOST {
        return Err(PyValueError::new_err(format!("n_jobs is {count}; expected at most {MOST}")));
    }
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if started.process != process::id() {
        // A process that was forked has the memory of these workers, but not the workers. Ending them would wait for them.
        mem::forget(mem::take(&mut started.pools));
        started.process = process::id();
    }
    if let Some((_, threads)) = started.pools.iter().find(|(known, _)| *known == count) {
        return Ok(threads.clone());
    }
    let new = Threads::new(count)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start worker threads: {error}")))?;
    let new = Arc::new(new);
    started.pools.push((count, new.clone()));
    Ok(new)
}

/// How long the library alone takes to predict rows on all cores: what `predict` is compared with.
#[pyfunction]
#[pyo3(name = "_seconds_of_the_library")]
pub(crate) fn seconds_of_the_library(py: Python<'_>, model: &Model, x: Rows<'_>, paths: u32) -> PyResult<f64> {
    let (file, rows, threads) = (model.file.clone(), x.to_singles()?, threads(0)?);
    let timed = work::run_silently(py, move |_| {
        let start = Instant::now();
        let answers = file.predict(&rows, Sampling::Paths { count: paths, seed: 0 }, &threads);
        answers.map(|_| start.elapsed().as_secs_f64())
    })?;
    timed.map_err(|error| PyValueError::new_err(error.to_string()))
}
