//! `cargo xtask deny`: licences, sources and duplicates of all dependencies, by the rules of `deny.toml`; known
//! vulnerabilities where their database can be fetched.

use crate::{command, nightly};
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    nightly::subcommand("deny")?;
    for manifest in [
        "Cargo.toml",
        "firmware-example/Cargo.toml",
        "firmware-example/wasm/Cargo.toml",
        "diffgp-c/archive/Cargo.toml",
        "fuzz/Cargo.toml",
    ] {
        let arguments =
            ["deny", "--locked", "--manifest-path", manifest, "--config", "deny.toml", "check", "-A", "unmatched-skip"];
        command::run(command::cargo(".", arguments).args(["bans", "licenses", "sources"]))?;
    }
    let advisories = command::cargo(".", ["deny", "--locked", "--config", "deny.toml", "check", "advisories"]).status();
    if !advisories.is_ok_and(|status| status.success()) {
        eprintln!(
            "\n*** Advisories were NOT checked, or one applies: see above. Their database is fetched from the network. ***"
        );
    }
    Ok(())
}
