//! The functions that JavaScript calls. Those that may fail return 1 if they did not, else 0.
#![allow(unsafe_code, reason = "a name for JavaScript is an unsafe attribute; there is no other unsafe code here")]

use crate::answer::{self, Sampling};
use crate::state::{Parts, room, with};

/// Room for a model of so many bytes: its address, or 0.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn model_space(bytes: u32) -> usize {
    with(|state| {
        let Some(room) = room((bytes as usize).div_ceil(4)) else { return 0 };
        state.model = room;
        state.model.as_mut_ptr().expose_provenance()
    })
}

/// Checks the model that was written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn load() -> u32 {
    with(|state| state.load()).is_some().into()
}

/// Where a row of inputs goes, in raw units.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn input_space() -> usize {
    with(|state| state.input.as_mut_ptr().expose_provenance())
}

/// Where the words of the last answer are.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> usize {
    with(|state| state.answer.as_ptr().expose_provenance())
}

/// How many words it has.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer_words() -> usize {
    with(|state| state.answer.len())
}

/// Predicts the row over so many paths, or along the drift if there are none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn predict(paths: u32, seed: u32, row: u32) -> u32 {
    with_parts(|parts| answer::predict(parts, sampling(paths, seed, row)))
}

/// The states of path number `path` of that prediction.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn path(paths: u32, seed: u32, row: u32, path: u32) -> u32 {
    with_parts(|parts| answer::path(parts, sampling(paths, seed, row), path))
}

/// The drift at the row.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn drift() -> u32 {
    with_parts(answer::drift)
}

fn sampling(paths: u32, seed: u32, row: u32) -> Sampling {
    Sampling { paths, seed: seed.into(), row }
}

fn with_parts(call: impl FnOnce(Parts<'_>) -> Option<()>) -> u32 {
    with(|state| call(state.parts()?)).is_some().into()
}
