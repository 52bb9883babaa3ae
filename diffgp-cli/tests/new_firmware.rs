//! `diffgp new-firmware`. What it writes is built and run by `cargo xtask qemu`.

use std::fs;
use std::path::Path;

use crate::runner::{Folder, QUICK, names};

const BOARDS: [&str; 6] = ["m4f", "m0", "m3", "rv32", "rp2040", "esp32c3"];

#[test]
fn a_project_has_everything_that_it_needs_and_says_what_it_will_print() {
    let folder = Folder::with_model();
    for board in BOARDS {
        let outcome = folder.run(&format!("new-firmware {board} --board {board} --model model.dgp")).succeeds();
        assert!(outcome.stdout.contains("cargo run --release"), "{outcome:?}");
        let mut files = names(&folder.path(board));
        files.retain(|name| name != "memory.x");
        assert_eq!(
            files,
            [".cargo", ".gitignore", "Cargo.toml", "README.md", "build.rs", "model.dgp", "row.csv", "src"]
        );
        assert_eq!(folder.path(board).join("memory.x").exists(), board != "esp32c3");
        assert_eq!(folder.read(&format!("{board}/model.dgp")), folder.read("model.dgp"));
        let manifest: toml::Table = folder.read_text(&format!("{board}/Cargo.toml")).parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(format!("{board}-firmware").as_str()));
        let path = manifest["dependencies"]["diffgp-infer"]["path"].as_str().unwrap();
        assert!(Path::new(path).join("src/lib.rs").exists(), "{path}");
        let config: toml::Table = folder.read_text(&format!("{board}/.cargo/config.toml")).parse().unwrap();
        assert!(config["build"]["target"].as_str().is_some(), "{config}");

        // What it will print is what `predict` says.
        let readme = folder.read_text(&format!("{board}/README.md"));
        let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    diffgp predict ")).collect();
        assert_eq!(commands.len(), 2, "{readme}");
        for (command, how) in commands.iter().zip(["drift", "paths"]) {
            let words = command
                .replace("model.dgp", &format!("{board}/model.dgp"))
                .replace("row.csv", &format!("{board}/row.csv"));
            let json = folder.run(&format!("predict {words} --json")).json();
            let number = |key: &str| json[key][0].as_f64().unwrap() as f32;
            let line = format!("    {how}: y: mean {:?}, deviation {:?}\n", number("mean"), number("deviation"));
            assert!(readme.contains(&line), "no {line:?} in {readme}");
        }
        let source = folder.read_text(&format!("{board}/src/main.rs"));
        for part in ["#![no_std]", "let a = ", "let b = ", "Workspace::<2, 8>", "-> Result<(), Error>"] {
            assert!(source.contains(part), "no {part:?} in {source}");
        }
    }
}

#[test]
fn nothing_is_sampled_without_a_flow_and_names_stay_words() {
    let folder = Folder::with_data();
    folder
        .write("data.csv", folder.read_text("data.csv").replacen("a,b,y", "\"a\"\"; {how} \\\",match,\"y\"\"{}\"", 1));
    folder.run(&format!("train data.csv --target 2 {QUICK} --flow-time 0")).succeeds();
    folder.run("new-firmware fw --board m4f").succeeds();
    let source = folder.read_text("fw/src/main.rs");
    assert!(!source.contains("predict_sampled") && !source.contains("Keyed"), "{source}");
    assert!(source.contains("let x1 = ") && source.contains(r#"["y\"{}"]"#), "{source}");
    assert!(!folder.read_text("fw/README.md").contains("--paths"));

    // Without names none is asked for.
    let nameless: String = folder.read_text("data.csv").lines().skip(1).map(|line| format!("{line}\n")).collect();
    folder.write("nameless.csv", nameless);
    folder.run(&format!("train nameless.csv --header no --target 2 {QUICK} --out bare.dgp")).succeeds();
    folder.run("new-firmware bare --board m4f --model bare.dgp").succeeds();
    assert!(folder.read_text("bare/README.md").contains("--header no"));
    assert_eq!(folder.read_text("bare/row.csv").lines().count(), 1);
}

#[test]
fn what_is_there_stays_and_what_cannot_be_is_refused() {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/main.rs", "precious");
    folder.run("new-firmware mine --board m4f").refused_with(&["mine", "files are there already", "new or an empty"]);
    folder.run("new-firmware data.csv --board m4f").refused_with(&["data.csv", "folder"]);
    assert_eq!(names(&folder.path("mine")), ["main.rs"]);
    folder.run("new-firmware fw --board m4f --model data.csv").refused_with(&["data.csv", "not a diffgp model"]);
    folder.run("new-firmware fw --board m4f --crate-path mine").refused_with(&["--crate-path mine", "diffgp-infer"]);
    let unknown = folder.run("new-firmware fw --board z80");
    assert!(unknown.code == 2 && unknown.stderr.contains("esp32c3"), "{unknown:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let large = root.join("tests/blobs/v2-kin8nm.dgp");
    fs::copy(large, folder.path("large.dgp")).unwrap();
    folder.run("new-firmware fw --board m0 --model large.dgp").refused_with(&[
        "--board m0",
        "large.dgp",
        "--max-bytes",
    ]);
    assert!(!folder.path("fw").exists());
    let slow = folder.run("new-firmware fw --board m0").succeeds();
    assert!(slow.stdout.contains("--integers"), "{slow:?}");
}
