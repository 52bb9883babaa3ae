//! Long work: on a thread of its own, so that Ctrl-C is answered at once whatever the work is doing.
//!
//! The thread never touches Python. What it has to tell is sent to the thread that called, which tells it to Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// What stopped work gets to end before it is left behind; its result is dropped when it does.
const GRACE: Duration = Duration::from_millis(500);
/// As much as the main thread of a program has.
const STACK: usize = 8 << 20;

/// How the work speaks to the thread that waits for it.
pub(crate) struct Line<N> {
    news: Sender<N>,
    stop: Arc<AtomicBool>,
}

impl<N> Line<N> {
    /// Tells something.
    pub(crate) fn tell(&self, news: N) {
        // Nobody listens to work that was left behind.
        let _ = self.news.send(news);
    }

    /// Whether nobody wants the result any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Does `work` while Python is free, and has its news heard. What `hear` raises, or Ctrl-C, ends the waiting.
pub(crate) fn run<T: Send + 'static, N: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Line<N>) -> T + Send + 'static,
    mut hear: impl FnMut(N) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (news, mut heard) = mpsc::channel();
    let line = Line { news, stop: stop.clone() };
    let thread = thread::Builder::new().name("diffgp".to_owned()).stack_size(STACK).spawn(move || work(&line))?;
    loop {
        let received;
        (heard, received) = py.detach(move || {
            let received = heard.recv_timeout(LOOK);
            (heard, received)
        });
        let outcome = match received {
            Ok(news) => hear(news).and_then(|()| py.check_signals()),
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Err(error) = outcome {
            stop.store(true, Ordering::Relaxed);
            py.detach(|| wait_a_moment(&thread));
            return Err(error);
        }
    }
    py.detach(|| thread.join()).map_err(|panic| defect(&*panic))
}

/// The same for work that has no news.
pub(crate) fn run_silently<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Line<()>) -> T + Send + 'static,
) -> PyResult<T> {
    run(py, work, |()| Ok(()))
}

fn wait_a_moment<T>(thread: &JoinHandle<T>) {
    let end = Instant::now() + GRACE;
    while !thread.is_finished() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
}

/// A panic is a defect of ours: it has a message, and the interpreter goes on.
fn defect(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("a defect of diffgp, please report it: {text}"))
}

/// Panics, for the test that the interpreter outlives it.
#[pyfunction]
#[pyo3(name = "_panic_on_purpose")]
pub(crate) fn panic_on_purpose(py: Python<'_>) -> PyResult<()> {
    run_silently(py, |_| panic!("on purpose"))
}
