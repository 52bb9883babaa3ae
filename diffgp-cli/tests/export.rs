//! `diffgp export`: a folder of C that compiles as it is.

use std::process::Command;

use crate::runner::Folder;

#[test]
fn the_folder_compiles_and_holds_the_model() {
    let folder = Folder::with_model();
    folder.run("export model.dgp --c out").succeeds();
    let array = folder.read_text("out/model.c");
    let digits = array.split([' ', ',']).filter_map(|word| word.trim().strip_prefix("0x"));
    let bytes: Vec<u8> = digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect();
    assert_eq!(bytes, folder.read("model.dgp"));
    assert_eq!(folder.run("inspect model.dgp --c-array").succeeds().stdout, array);
    assert_eq!(folder.run("inspect model.dgp --c-header").succeeds().stdout, folder.read_text("out/model.h"));
    assert!(folder.read_text("out/main.c").contains("float x[MODEL_INPUTS] = {a, b};"));
    for file in ["out/main.c", "out/model.c"] {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]).arg(folder.path(file));
        let output = cc.output().unwrap();
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_is_no_model_and_what_is_no_folder_is_refused() {
    let folder = Folder::with_model();
    folder.run("export data.csv --c out").refused_with(&["data.csv"]);
    folder.run("export model.dgp --c data.csv").refused_with(&["--c data.csv"]);
}
