//! Developer commands of diffgp: `cargo xtask test`.
fn main() {}
