//! What is not the command's own stays as it is: inputs, devices, links, and files beside its results.

use std::fs;

use crate::runner::{Folder, SHORT, names};

#[test]
fn an_input_is_not_overwritten_by_the_result() {
    let folder = Folder::with_model();
    folder.write("rows.txt", "0 1 2\n");
    folder.write("options.toml", "# none\n");
    fs::create_dir(folder.path("sub")).unwrap();
    let inputs = ["data.csv", "model.dgp", "rows.txt", "options.toml"];
    let before = inputs.map(|name| folder.read(name));
    let train = format!("train data.csv --target y {SHORT} --test-rows rows.txt --config options.toml");
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
    folder.run(&format!("train data.csv --target y {SHORT} --force")).succeeds();
    assert_eq!(folder.read_text("z.csv.partial"), "precious");
    assert_eq!(folder.read_text("model.run/notes.partial"), "precious");
    let left: Vec<String> = names(&folder.path("model.run")).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!((left, folder.files().iter().filter(|name| name.starts_with('.')).count()), (vec![], 0));
}

#[test]
fn a_directory_with_other_files_is_no_run_directory() {
    let folder = Folder::with_data();
    folder.write("config.toml", "precious");
    let train = format!("train data.csv --target y {SHORT}");
    folder.run(&format!("{train} --run-dir .")).refused_with(&["--run-dir .", "not a run directory", "an empty one"]);
    assert_eq!(folder.files(), ["config.toml", "data.csv"]);
    assert_eq!(folder.read_text("config.toml"), "precious");
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run(&format!("{train} --run-dir empty --out empty/mine.dgp")).succeeds();
    folder.run(&format!("{train} --run-dir empty --force")).succeeds();
}

#[test]
fn the_model_does_not_replace_the_run_directory_or_its_files() {
    let folder = Folder::with_data();
    let train = format!("train data.csv --target y {SHORT}");
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

#[test]
fn a_finished_model_and_its_run_are_kept() {
    let folder = Folder::with_model();
    let files = ["model.dgp", "model.run/model.dgp", "model.run/metrics.jsonl", "model.run/report.html"];
    let before = files.map(|name| folder.read(name));
    let train = format!("train data.csv --target y {SHORT} --seed 1");
    folder.run(&train).refused_with(&["--out model.dgp", "a model is there already", "--force"]);
    folder.run(&format!("{train} --out new.dgp --run-dir model.run")).refused_with(&[
        "--run-dir model.run",
        "a finished run is there",
        "--force",
    ]);
    // Refused before anything else is said or read.
    let early = folder.run("train none.csv --target y");
    assert!(early.stderr.starts_with("error: --out model.dgp"), "{early:?}");
    assert_eq!(files.map(|name| folder.read(name)), before);
    assert_eq!(folder.files(), ["data.csv", "model.dgp", "model.run"]);

    folder.run(&format!("{train} --force")).succeeds();
    assert_ne!(folder.read("model.dgp"), before[0]);
    assert_eq!(folder.read("model.dgp"), folder.read("model.run/model.dgp"));
}

#[test]
fn a_run_that_can_be_gone_on_with_is_kept() {
    let folder = Folder::with_data();
    let train = format!("train data.csv --target y {SHORT} --checkpoint-every 5");
    folder.run(&train).succeeds();
    let model = folder.read("model.dgp");
    // As after a crash: a checkpoint and no model.
    fs::remove_file(folder.path("model.dgp")).unwrap();
    fs::remove_file(folder.path("model.run/model.dgp")).unwrap();
    let checkpoint = folder.read("model.run/checkpoint");
    folder.run(&train).refused_with(&["--run-dir model.run", "an unfinished run", "--resume", "--force"]);
    assert_eq!(folder.read("model.run/checkpoint"), checkpoint);
    folder.run(&format!("{train} --resume")).succeeds();
    assert_eq!(folder.read("model.dgp"), model);
    // The same command again replaces its own model by the same bytes; another's model stays.
    folder.run(&format!("{train} --resume")).succeeds();
    assert_eq!(folder.read("model.dgp"), model);
    folder.write("other.dgp", &model);
    folder
        .run(&format!("{train} --resume --out other.dgp --run-dir model.run"))
        .refused_with(&["--out other.dgp", "a model is there already"]);
    fs::remove_file(folder.path("model.dgp")).unwrap();
    folder.run(&format!("{train} --force")).succeeds();
}

#[test]
fn a_model_replaces_nothing_but_a_model() {
    let folder = Folder::with_model();
    folder.write("notes", "precious");
    folder.write("table.CSV", "precious");
    folder.write("fresh.dgp", "");
    let fresh = folder.read_text("data.csv").replace("0.1", "0.2");
    folder.write("fresh.csv", fresh);
    for command in [
        format!("train data.csv --target y {SHORT} --run-dir new"),
        "compress model.dgp --tolerance 0.1".to_owned(),
        "calibrate model.dgp fresh.csv".to_owned(),
    ] {
        for force in ["", "--force"] {
            let run = |out: &str| folder.run(&format!("{command} --out {out} {force}"));
            run("notes").refused_with(&["--out notes", "no model", "another name"]);
            run("table.CSV").refused_with(&["--out table.CSV", "data file", "table.dgp"]);
            run("new.csv").refused_with(&["--out new.csv", "data file", "new.dgp"]);
        }
        // An empty file holds nothing.
        folder.run(&format!("{command} --out fresh.dgp")).succeeds();
        let again = if command.starts_with("train") {
            command.replace("--run-dir new", "--run-dir again")
        } else {
            command.clone()
        };
        folder.run(&format!("{again} --out fresh.dgp")).refused_with(&[
            "--out fresh.dgp",
            "a model is there already",
            "--force",
        ]);
        folder.run(&format!("{command} --out fresh.dgp --force")).succeeds();
        folder.write("fresh.dgp", "");
    }
    assert_eq!((folder.read_text("notes"), folder.read_text("table.CSV")), ("precious".into(), "precious".into()));
    assert!(!folder.path("new.csv").exists());
}

#[test]
fn results_are_kept_too() {
    let folder = Folder::with_model();
    folder.write("p.csv", "precious");
    for command in ["predict model.dgp data.csv --out p.csv", "explore model.dgp --out p.csv"] {
        folder.run(command).refused_with(&["--out p.csv", "there already", "--force"]);
        assert_eq!(folder.read_text("p.csv"), "precious");
    }
    folder.run("predict model.dgp data.csv --out p.csv --force").succeeds();
    assert!(folder.read_text("p.csv").starts_with("mean,"));
    // Of an export the program is there to be changed; the rest is made anew, unless somebody else made it.
    folder.run("export model.dgp --c c").succeeds();
    folder.write("c/main.c", "changed");
    let again = folder.run("export model.dgp --c c").succeeds();
    assert!(again.stdout.contains("main.c: kept"), "{again:?}");
    assert_eq!(folder.read_text("c/main.c"), "changed");
    folder.write("c/model.h", "precious");
    folder.run("export model.dgp --c c").refused_with(&["model.h", "there already", "--force"]);
    assert_eq!(folder.read_text("c/model.h"), "precious");
    folder.run("export model.dgp --c c --force").succeeds();
    assert!(folder.read_text("c/main.c").contains("int main"));
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
            folder.run(&format!("predict model.dgp data.csv --out {name} --force")).succeeds();
            assert!(fs::symlink_metadata(folder.path(name)).unwrap().is_symlink());
            assert_eq!(folder.read_text(&format!("far/{name}")), expected);
        }
        symlink("data.csv", folder.path("link.csv")).unwrap();
        folder.run("predict model.dgp data.csv --out link.csv").refused_with(&["--out link.csv", "overwritten"]);
        symlink("none/new.csv", folder.path("lost.csv")).unwrap();
        folder.run("predict model.dgp data.csv --out lost.csv").refused_with(&["--out lost.csv", "no directory"]);
    }
}
