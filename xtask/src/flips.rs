//! `cargo xtask flips`: the tests of damaged models that take minutes.

use crate::command;
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    let arguments = ["test", "--locked", "-p", "diffgp-tests", "flips::", "--", "--include-ignored", "--nocapture"];
    command::run(command::cargo(".", arguments).arg("--test-threads=1"))
}
