//! Loops that stay small on devices, and wide on workstations.

/// Devices have little memory for code and compute one number at a time. A workstation is a 64-bit machine with a system.
const DEVICE: bool = cfg!(any(target_os = "none", not(target_pointer_width = "64")));

/// Called inside a loop, keeps the compiler from unrolling it, and costs no instruction.
///
/// At opt-level 3 LLVM unrolls every short loop four times for Cortex-M. Loops that run once per prediction or over a
/// handful of values gain nothing from that and together would take a quarter of the runtime's flash. The black box
/// compiles to an empty piece of assembly, and loops that hold one are left alone. Results do not depend on it.
///
/// Workstations have memory for code, and vector instructions that such a loop would not use: there it is nothing.
#[inline(always)]
pub fn keep_rolled() {
    if DEVICE {
        core::hint::black_box(());
    }
}

/// The value itself. On a workstation the compiler is kept from looking through it: sums in lanes, added up one after the other
/// behind this, then stay in whole vectors, where LLVM would take pairs of them. Results do not depend on it.
#[inline(always)]
pub fn in_lanes<T>(value: T) -> T {
    if DEVICE { value } else { core::hint::black_box(value) }
}

/// The value itself, of which the compiler knows nothing any more on a device.
///
/// For slices on their way from a caller with constant sizes to code that exists once: without it, LLVM unrolls that
/// code for the one size that a program happens to use.
#[inline(always)]
pub fn opaque<T>(value: T) -> T {
    if DEVICE { core::hint::black_box(value) } else { value }
}
