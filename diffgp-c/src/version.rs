//! Which version the library has; a program compares it with its header's.

/// The version of this header, as diffgp_version gives it: major, minor and patch in two decimal digits each.
pub const DIFFGP_VERSION: u32 = 100;

const fn number(text: &str) -> u32 {
    let (mut digits, mut number) = (text.as_bytes(), 0);
    while let [digit, rest @ ..] = digits {
        number = number * 10 + (*digit - b'0') as u32;
        digits = rest;
    }
    number
}

const _: () = assert!(
    DIFFGP_VERSION
        == number(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
            + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
            + number(env!("CARGO_PKG_VERSION_PATCH")),
    "DIFFGP_VERSION is the package's version"
);

/// The version of the library: equal to DIFFGP_VERSION if header and library belong together.
#[unsafe(no_mangle)]
pub extern "C" fn diffgp_version() -> u32 {
    DIFFGP_VERSION
}
