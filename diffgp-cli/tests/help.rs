//! Help and completions.

use crate::runner::Folder;

const SUBCOMMANDS: [&str; 18] = [
    "train",
    "eval",
    "predict",
    "inspect",
    "export",
    "new-firmware",
    "compress",
    "calibrate",
    "device",
    "update",
    "keygen",
    "sign",
    "verify",
    "crossval",
    "plot",
    "explore",
    "demo",
    "completions",
];

#[test]
fn every_subcommand_has_help_and_is_completed() {
    let folder = Folder::new();
    let all = folder.run("--help").succeeds().stdout;
    let script = folder.run("completions bash").succeeds().stdout;
    for name in SUBCOMMANDS {
        assert!(all.contains(name) && script.contains(name), "{name}");
        let help = folder.run(&format!("{name} --help")).succeeds().stdout;
        assert!(help.contains("Usage: diffgp"), "{help}");
    }
    let words: Vec<&str> = script.split_whitespace().collect();
    assert!(words.contains(&"--flow-time"), "no flags in the completions");
}
