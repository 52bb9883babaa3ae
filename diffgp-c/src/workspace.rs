//! The memory that predictions are made in: the caller's words.
//!
//! The first word counts the uses. A prediction or a run remembers the count at which it began: if the word has moved on, the
//! workspace holds something else now.

use core::ffi::c_void;
use core::slice;

use diffgp_core::blob::limits;
use diffgp_core::device::keep_rolled;
use diffgp_infer::{Model, Workspace};

use crate::memory::Piece;
use crate::status::diffgp_status::{self, *};

/// Bytes of a workspace in which the runtime has this many words.
pub(crate) fn bytes(words: usize) -> usize {
    (1 + words) * size_of::<u32>()
}

/// What DIFFGP_WORKSPACE_BYTES says, at run time: bytes of a workspace for up to this many inputs, features and outputs. 0 if
/// no model has as many.
#[unsafe(no_mangle)]
pub extern "C" fn diffgp_workspace_bytes(inputs: usize, features: usize, outputs: usize) -> usize {
    if inputs > limits::MAX_INPUTS || features > limits::MAX_FEATURES || outputs > limits::MAX_OUTPUTS {
        return 0;
    }
    bytes(Workspace::words(inputs, features, outputs))
}

/// A use of a workspace: valid until the next one begins.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    counter: *const u32,
    count: u32,
}

impl Use {
    /// Begins a use of the caller's memory, which must have no byte in common with the others: with as many words as the
    /// model needs, of any content before.
    #[inline(never)]
    pub(crate) unsafe fn begin(
        memory: *mut c_void,
        bytes: usize,
        model: &Model<'_>,
        others: [Piece; 3],
    ) -> Result<(Self, &'static mut [u32]), diffgp_status> {
        let words = model.workspace_words();
        let (counter, own) = (memory.cast::<u32>(), Piece { start: memory.addr(), bytes: self::bytes(words) });
        own.check(align_of::<u32>())?;
        if bytes < own.bytes {
            return Err(DIFFGP_ERROR_CAPACITY);
        }
        if others.iter().any(|other| own.overlaps(*other)) {
            return Err(DIFFGP_ERROR_OVERLAP);
        }
        // SAFETY: the words are there and are nobody else's until the next use begins (the caller's promise). The memory is
        // C's, where any bytes are a word; all but the first are written before they are lent.
        let (count, rest) = unsafe {
            let count = counter.read().wrapping_add(1);
            counter.write(count);
            let first = counter.add(1);
            for index in 0..words {
                keep_rolled();
                first.add(index).write(0);
            }
            (count, slice::from_raw_parts_mut(first, words))
        };
        Ok((Self { counter, count }, rest))
    }

    /// Whether it is still the last one.
    pub(crate) unsafe fn check(self) -> Result<(), diffgp_status> {
        // SAFETY: the workspace is there as long as what was made in it is used (the caller's promise).
        if unsafe { self.counter.read() } == self.count { Ok(()) } else { Err(DIFFGP_ERROR_STALE) }
    }
}
