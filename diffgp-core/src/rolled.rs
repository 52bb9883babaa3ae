//! Loops that stay small.

/// Called inside a loop, keeps the compiler from unrolling it, and costs no instruction.
///
/// At opt-level 3 LLVM unrolls every short loop four times for Cortex-M. Loops that run once per prediction or over a
/// handful of values gain nothing from that and together would take a quarter of the runtime's flash. The black box
/// compiles to an empty piece of assembly, and loops that hold one are left alone. Results do not depend on it.
///
/// Workstations have memory for code, and vector instructions that such a loop would not use: there it is nothing.
#[inline(always)]
pub fn keep_rolled() {
    if cfg!(any(target_os = "none", not(target_pointer_width = "64"))) {
        core::hint::black_box(());
    }
}

/// The value itself, of which the compiler knows nothing any more.
///
/// For slices on their way from a caller with constant sizes to code that exists once: without it, LLVM unrolls that
/// code for the one size that a program happens to use.
#[inline(always)]
pub fn opaque<T>(value: T) -> T {
    core::hint::black_box(value)
}
