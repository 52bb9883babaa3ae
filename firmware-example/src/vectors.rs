//! Interrupt vectors of a board that uses no interrupt: 4 bytes of flash instead of 960.
//!
//! A real device's crate brings its own table; remove this module then.

/// Behind the 16 exceptions, which cortex-m-rt fills in. The runtime crate insists on at least one.
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
static __INTERRUPTS: [unsafe extern "C" fn(); 1] = [unused];

unsafe extern "C" fn unused() {}
