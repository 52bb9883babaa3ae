//! What is not the command's own stays as it is: inputs, devices, links, and files beside its results.

use std::fs;

use crate::runner::{Folder, QUICK, names};

#[test]
fn an_input_is_not_overwritten_by_the_result() {
    let folder = Folder::with_model();
    folder.write("rows.txt", "0 1 2\n");
    folder.write("options.toml", "# none\n");
    fs::create_dir(folder.path("sub")).unwrap();
    let inputs = ["data.csv", "model.dgp", "rows.txt", "options.toml"];
    let before = inputs.map(|name| folder.read(name));
    let train = format!("train data.csv --target y {QUICK} --test-rows rows.txt --config options.toml");
    let compress = "compress model.dgp --data data.csv --test-rows rows.txt --config options.toml --tolerance 0.1";
    for (command, outputs) in [
        (train.as_str(), vec!["data.csv", "sub/../data.csv", "rows.txt", "options.toml"]),
        ("predict model.dgp data.csv --config options.toml", vec!["data.csv", "model.dgp", "options.toml"]),
        (compress, vec!["data.csv", "model.dgp", "./model.dgp", "rows.txt", "options.toml"]),
        (
            "crossval data.csv --target y --test-rows rows.txt --config options.toml",
            vec!["data.csv", "rows.txt", "options.toml"],
        ),
    ] {
        for out in outputs {
            folder.run(&format!("{command} --out {out}")).refused_with(&[&format!("--out {out}"), "overwritten"]);
        }
    }
    assert_eq!(inputs.map(|name| folder.read(name)), before);
}

#[test]
fn a_file_of_the_user_beside_the_result_stays() {
    let folder = Folder::with_model();
    folder.write("z.csv.partial", "precious");
    folder.write("model.run/notes.partial", "precious");
    folder.write("model.run/.model.dgp.7-0.partial", "left by a killed run");
    folder.run("predict model.dgp data.csv --out z.csv").succeeds();
    folder.run(&format!("train data.csv --target y {QUICK}")).succeeds();
    assert_eq!(folder.read_text("z.csv.partial"), "precious");
    assert_eq!(folder.read_text("model.run/notes.partial"), "precious");
    let left: Vec<String> = names(&folder.path("model.run")).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!((left, folder.files().iter().filter(|name| name.starts_with('.')).count()), (vec![], 0));
}

#[test]
fn a_directory_with_other_files_is_no_run_directory() {
    let folder = Folder::with_data();
    folder.write("config.toml", "precious");
    let train = format!("train data.csv --target y {QUICK}");
    folder.run(&format!("{train} --run-dir .")).refused_with(&["--run-dir .", "not a run directory", "an empty one"]);
    assert_eq!(folder.files(), ["config.toml", "data.csv"]);
    assert_eq!(folder.read_text("config.toml"), "precious");
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run(&format!("{train} --run-dir empty --out empty/mine.dgp")).succeeds();
    folder.run(&format!("{train} --run-dir empty")).succeeds();
}

#[test]
fn the_model_does_not_replace_the_run_directory_or_its_files() {
    let folder = Folder::with_data();
    let train = format!("train data.csv --target y {QUICK}");
    folder.run(&format!("{train} --out rr --run-dir ./rr")).refused_with(&["--out rr", "--run-dir"]);
    folder.run(&format!("{train} --out model.run")).refused_with(&["--out model.run", "--run-dir"]);
    folder.run(&format!("{train} --out new/")).refused_with(&["--out new/", "name of a file"]);
    assert_eq!(folder.files(), ["data.csv"]);
    fs::create_dir(folder.path("rr")).unwrap();
    let into = |out: &str| folder.run(&format!("{train} --run-dir rr --out {out}"));
    into("rr/config.toml").refused_with(&["--out rr/config.toml", "its own config.toml"]);
    into("rr/model.dgp --max-bytes 900").refused_with(&["--out rr/model.dgp", "its own model.dgp"]);
    into("rr/model.dgp").succeeds();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_and_a_device_are_written_to() {
        let folder = Folder::with_model();
        let expected = folder.run("predict model.dgp data.csv").succeeds().stdout;
        assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
        let pipe = folder.path("pipe");
        let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
        folder.run("predict model.dgp data.csv --out pipe").succeeds();
        // First, for a reader of a pipe that was replaced waits for ever.
        assert!(fs::metadata(folder.path("pipe")).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), expected);
        // Links, so that the devices themselves are safe even where this fails.
        symlink("/dev/stdout", folder.path("stdout")).unwrap();
        assert_eq!(folder.run("predict model.dgp data.csv --out stdout").succeeds().stdout, expected);
        symlink("/dev/null", folder.path("null")).unwrap();
        folder.run("predict model.dgp data.csv --out null").succeeds();
        folder.run("compress model.dgp --tolerance 0.1 --out null").succeeds();
        assert!(fs::symlink_metadata(folder.path("null")).unwrap().is_symlink());
        folder.run("crossval data.csv --target y --folds 2 --out null").refused_with(&["--out null", "regular file"]);
        assert_eq!(folder.files(), ["data.csv", "model.dgp", "model.run", "null", "pipe", "stdout"]);
    }

    #[test]
    fn behind_a_link_the_file_is_written_and_the_link_stays() {
        let folder = Folder::with_model();
        let expected = folder.run("predict model.dgp data.csv").succeeds().stdout;
        fs::create_dir(folder.path("far")).unwrap();
        folder.write("far/old.csv", "old");
        for name in ["old.csv", "new.csv"] {
            symlink(format!("far/{name}"), folder.path(name)).unwrap();
            folder.run(&format!("predict model.dgp data.csv --out {name}")).succeeds();
            assert!(fs::symlink_metadata(folder.path(name)).unwrap().is_symlink());
            assert_eq!(folder.read_text(&format!("far/{name}")), expected);
        }
        symlink("data.csv", folder.path("link.csv")).unwrap();
        folder.run("predict model.dgp data.csv --out link.csv").refused_with(&["--out link.csv", "overwritten"]);
        symlink("none/new.csv", folder.path("lost.csv")).unwrap();
        folder.run("predict model.dgp data.csv --out lost.csv").refused_with(&["--out lost.csv", "no directory"]);
    }
}
