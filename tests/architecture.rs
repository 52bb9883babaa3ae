//! Dependencies go one way: `docs/architecture.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// What each crate may depend on of ours. `tests` and `xtask` may depend on all of them; none may depend on those two.
const BELOW: [(&str, &[&str]); 9] = [
    ("diffgp-core", &[]),
    ("diffgp-infer", &["diffgp-core"]),
    ("diffgp-twin", &[]),
    ("diffgp-slots", &["diffgp-core", "diffgp-infer", "diffgp-twin"]),
    ("diffgp-link", &["diffgp-core", "diffgp-infer", "diffgp-slots", "diffgp-twin"]),
    ("diffgp-c", &["diffgp-core", "diffgp-infer", "diffgp-slots"]),
    ("diffgp-train", &["diffgp-core", "diffgp-infer"]),
    ("diffgp-page", &["diffgp-infer"]),
    ("diffgp-cli", &["diffgp-core", "diffgp-infer", "diffgp-link", "diffgp-mpi", "diffgp-slots", "diffgp-train"]),
];

/// The same for libraries outside the workspace.
const OUTSIDE: [(&str, &[&str]); 2] =
    [("diffgp-mpi", &[]), ("diffgp-python", &["diffgp-infer", "diffgp-train", "diffgp-cli"])];

/// What only a command needs.
const OF_A_COMMAND: [&str; 6] = ["anyhow", "clap", "ctrlc", "indicatif", "plotters", "serial2"];

/// Modules of the trainer that stand on `train` or hold its state; all others are below it.
const BESIDE_TRAIN: [&str; 4] = ["checkpoint", "lib", "options", "train"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn table(path: &str) -> Table {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

/// The crates that a manifest names as normal or build dependencies, for whatever target.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let of_targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let sections = of_targets.filter_map(Value::as_table).chain([manifest]);
    let kinds = sections.flat_map(|section| ["dependencies", "build-dependencies"].map(|kind| section.get(kind)));
    let named = kinds.flatten().filter_map(Value::as_table).flatten();
    // A dependency may be renamed.
    named.map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()).collect()
}

/// All that a package of `Cargo.lock` needs, its tests included.
fn reached(from: &str) -> BTreeSet<String> {
    let lock = table("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(name) = next.pop() {
        // Two versions of a crate are followed both: that can only find more.
        for package in packages.iter().filter(|package| package["name"].as_str() == Some(&name)) {
            let needed = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            next.extend(needed.filter_map(|needed| needed.as_str()?.split(' ').next().map(str::to_owned)));
        }
        next.retain(|name| !reached.contains(name));
        reached.insert(name);
    }
    reached
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn crates_depend_on_those_below_them() {
    let members = table("Cargo.toml")["workspace"]["members"].clone();
    let members: BTreeSet<&str> = members.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(members, BELOW.iter().map(|(name, _)| *name).chain(["tests", "xtask"]).collect());
    for (name, below) in BELOW.into_iter().chain(OUTSIDE) {
        let dependencies = dependencies(&table(&format!("{name}/Cargo.toml")));
        let of_ours = |dependency: &&String| dependency.starts_with("diffgp-") || *dependency == "xtask";
        let above = dependencies.iter().filter(of_ours).find(|dependency| !below.contains(&dependency.as_str()));
        assert_eq!(above, None, "{name} depends on it");
    }
}

#[test]
fn the_library_brings_nothing_of_a_command() {
    let reached = reached("diffgp-train");
    assert!(reached.contains("libm") && reached.contains("simba"), "also what dependencies need: {reached:?}");
    assert_eq!(OF_A_COMMAND.into_iter().find(|name| reached.contains(*name)), None);
}

#[test]
fn modules_of_the_trainer_do_not_look_up_at_training() {
    let folder = root().join("diffgp-train/src");
    let mut checked = 0;
    for path in sources(&folder) {
        let module = path.strip_prefix(&folder).unwrap().iter().next().unwrap().to_str().unwrap();
        if BESIDE_TRAIN.contains(&module.trim_end_matches(".rs")) || path.ends_with("tests.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let code = source.split("mod tests {").next().unwrap();
        assert!(!code.contains("crate::train"), "{}", path.display());
        checked += 1;
    }
    assert!(checked > 50, "{checked} files");
}

#[test]
fn messages_of_the_trainer_name_no_flags() {
    for path in sources(&root().join("diffgp-train/src")) {
        let source = fs::read_to_string(&path).unwrap();
        let mut after_hyphens = source.split("--").skip(1);
        let flag = after_hyphens.find(|text| text.starts_with(|first: char| first.is_ascii_lowercase()));
        assert_eq!(flag.map(|text| text.lines().next()), None, "{}", path.display());
    }
}

#[test]
fn the_files_that_the_document_points_to_are_there() {
    let document = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let links: Vec<&str> = document.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).collect();
    assert!(links.len() > 20);
    assert_eq!(links.iter().find(|link| !root().join("docs").join(link).exists()), None);
}

#[test]
fn every_library_holds_the_licences() {
    for (name, _) in BELOW.iter().chain(&OUTSIDE).filter(|(name, _)| !["diffgp-cli", "diffgp-page"].contains(name)) {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = |folder: &str| fs::read_to_string(root().join(folder).join(licence)).unwrap();
            assert_eq!(text(name), text("."), "{name}/{licence}");
        }
    }
}

#[test]
fn device_crates_are_tested_with_files_of_their_own() {
    // Their packages hold nothing else.
    for package in ["diffgp-core", "diffgp-infer", "diffgp-link", "diffgp-slots"] {
        let folders = ["src", "tests"].map(|folder| root().join(package).join(folder));
        for file in folders.iter().filter(|folder| folder.exists()).flat_map(|folder| sources(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("\"../../"), "{} reads a file of another package", file.display());
        }
    }
    let [copy, original] = ["diffgp-slots/models/steps.dgp", "diffgp-infer/models/v2-steps-small.dgp"]
        .map(|path| std::fs::read(root().join(path)).unwrap());
    assert!(copy == original, "diffgp-slots has another copy of the model");
}
