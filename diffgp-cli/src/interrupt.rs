//! Ctrl-C: the first asks the work to stop at the next good place, the second stops at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

static ASKED: AtomicBool = AtomicBool::new(false);
static FIRST: Mutex<Option<Instant>> = Mutex::new(None);
static IN_PAIRS: AtomicBool = AtomicBool::new(false);
/// Under a launcher one Ctrl-C may come twice: from the terminal and from the launcher.
const PAIR: Duration = Duration::from_secs(1);

/// From now on what comes twice at once counts once.
pub(crate) fn come_in_pairs() {
    IN_PAIRS.store(true, Ordering::SeqCst);
}

/// From now on Ctrl-C (and SIGTERM) asks instead of killing.
pub(crate) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        let since = first.get_or_insert_with(Instant::now).elapsed();
        let is_second = ASKED.swap(true, Ordering::SeqCst);
        if is_second && !(IN_PAIRS.load(Ordering::SeqCst) && since < PAIR) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether somebody asked.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
