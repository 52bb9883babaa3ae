//! The WebAssembly module that is checked in for the page: it is what its source compiles to.

use crate::{command, qemu};
use anyhow::{Context, Result, ensure};
use std::fs;

const TARGET: &str = "wasm32-unknown-unknown";
/// Vector instructions, which every browser has since 2023, with the same bits. These flags decide the
/// bytes too: whatever the environment says does not count.
const FLAGS: &str = "-C target-feature=+simd128";
const CHECKED_IN: &str = "diffgp-cli/page/runtime.wasm";

/// Builds the module and compares its bytes, or accepts them.
pub(super) fn check(overwrite: bool) -> Result<()> {
    let mut build = command::cargo(".", ["build", "--locked", "--quiet", "--target", TARGET]);
    command::run(build.args(["-p", "diffgp-page", "--profile", "page"]).env("RUSTFLAGS", FLAGS))?;
    let built = fs::read(command::root().join(format!("target/{TARGET}/page/diffgp_page.wasm")))?;
    let checked_in = command::root().join(CHECKED_IN);
    if overwrite {
        fs::write(&checked_in, &built).with_context(|| CHECKED_IN)?;
        eprintln!("{CHECKED_IN}: {} bytes", built.len());
        return Ok(());
    }
    let (here, recorded) = (qemu::rustc()?, qemu::recorded_rustc()?);
    if here != recorded {
        eprintln!("\n*** SKIPPED: the bytes of {CHECKED_IN}, which {recorded} made; here is {here} ***");
        return Ok(());
    }
    ensure!(
        fs::read(&checked_in).is_ok_and(|bytes| bytes == built),
        "{CHECKED_IN} is not what diffgp-page compiles to; `cargo xtask browser --overwrite` accepts it"
    );
    Ok(())
}
