//! The two regions of flash that do not belong to the code: the model and, in tests, the job.
//!
//! `boards/regions.x` places them. Whatever is written there, before or after the firmware was built, is what the
//! image finds; it is only bytes until `Model::parse` has checked them.

use core::ptr;
use core::slice;

unsafe extern "C" {
    static __model_start: u32;
    static __model_size: u32;
    static __job_start: u32;
    static __job_size: u32;
}

/// The model region: a blob and, behind it, whatever erased flash reads as.
pub fn model() -> &'static [u8] {
    region(&raw const __model_start, &raw const __model_size)
}

/// The job region: inputs that a test has put beside the firmware.
pub fn job() -> &'static [u8] {
    region(&raw const __job_start, &raw const __job_size)
}

/// The linker hands over numbers as addresses of symbols; their contents are never read through these names.
fn region(start: *const u32, size: *const u32) -> &'static [u8] {
    // An address the compiler cannot see through: it must not assume that the region is one u32 long.
    let start = ptr::with_exposed_provenance::<u8>(core::hint::black_box(start).addr());
    // SAFETY: the linker script reserves `size` bytes of readable memory from `start` for this region alone; nothing
    // writes to it while the firmware runs.
    unsafe { slice::from_raw_parts(start, size.addr()) }
}
