//! Ctrl-C: the first asks the work to stop at the next good place, the second stops at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C (and SIGTERM) asks instead of killing.
pub(crate) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether somebody asked.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
