//! Developer commands of diffgp: `cargo xtask bench step [--json] …`.

mod bench;

use anyhow::bail;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bench", "step", ..] => bench::step(&arguments[2..]),
        _ => bail!("usage: cargo xtask bench step [FLAGS]"),
    }
}
