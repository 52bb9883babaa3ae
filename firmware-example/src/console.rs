//! Output and exit code through semihosting, without `core::fmt`: a few hundred bytes of code, no panic path.
//!
//! Numbers are printed in hexadecimal, so bit patterns of floats are compared, never their decimal rendering.

use semihosting::sys::arm_compat::sys_writec;

/// Prints `text` as it is.
pub fn text(text: &str) {
    for byte in text.bytes() {
        sys_writec(byte);
    }
}

/// Prints one line of words: a name, then numbers in hexadecimal.
pub fn line(name: &str, numbers: &[u32]) {
    text(name);
    for &number in numbers {
        sys_writec(b' ');
        hex(number);
    }
    sys_writec(b'\n');
}

/// Ends the emulation with an exit code: 0 says that the image has done its work.
pub fn exit(code: i32) -> ! {
    semihosting::process::exit(code)
}

fn hex(number: u32) {
    for shift in (0..8).rev() {
        let nibble = (number >> (4 * shift)) as u8 & 0xf;
        sys_writec(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    }
}
