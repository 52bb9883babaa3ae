//! Calls of the crate parquet, which panics on some damaged files.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a call gives, or what is wrong with the file. A panic is such an error, too, and is not shown as one; the hook for
/// that is installed with the first call, and leaves all other panics to the one of before.
pub(super) fn guarded<T, E: Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    GUARDED.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(false);
    match outcome {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("is damaged, and cannot be unpacked".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        let panics = || -> Result<(), String> { panic!("on purpose") };
        assert_eq!(guarded(panics), Err("is damaged, and cannot be unpacked".to_owned()));
        assert_eq!(guarded(|| Err::<(), _>("broken")), Err("broken".to_owned()));
        assert_eq!(guarded(|| Ok::<_, String>(1)), Ok(1));
    }
}
