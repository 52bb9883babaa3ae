//! The C interface: libraries, the example in C on emulated boards, tests under sanitizers, packages.

pub(crate) mod archive;
mod boards;
pub(crate) mod host;
pub(crate) mod package;

use crate::setup;
use anyhow::Result;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Only this board: m0, m3, m4f, m4f-softfp or rv32
    #[arg(long)]
    board: Option<String>,
}

/// `cargo xtask c`: the example in C on the boards, and the tests of the interface on the host.
pub(crate) fn run(args: &Args) -> Result<()> {
    setup::c_compilers()?;
    if args.board.is_none() {
        host::test()?;
    }
    boards::run(args.board.as_deref())
}
