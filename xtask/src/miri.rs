//! `cargo xtask miri`: the tests of the crates that run on devices, in an interpreter that sees every undefined
//! behaviour, also that of the dependencies. Long sweeps over plain arithmetic are left out there, by attribute.

use crate::{command, nightly};
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    nightly::toolchain(&nightly::MIRI)?;
    let packages = ["-p", "diffgp-core", "-p", "diffgp-infer", "-p", "diffgp-link", "-p", "diffgp-c"];
    command::run(nightly::cargo(".", ["miri", "test", "--locked"]).args(packages))
}
