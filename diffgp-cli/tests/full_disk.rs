//! A disk that is full or read-only: a clear error, the last checkpoint kept, and the run can go on.
//!
//! Small and read-only disks are mounted in a namespace of their own, which needs no rights of the user; where the
//! system forbids that, `cargo xtask test` counts the test as skipped. A limit on the size of files works everywhere.

use std::process::Command;

use crate::runner::{Folder, Outcome};
use crate::skipped::skipped;

/// A run whose metrics take some 90 KB.
const TRAIN: &str = "train data.csv --target y --inducing 8 --warm-iterations 9 --iterations 400 --steps 3 \
                     --training-steps 3 --checkpoint-every 10";

/// Runs a script in the folder; `$DIFFGP` is the command.
fn script(folder: &Folder, program: &[&str], text: &str) -> Outcome {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(["sh", "-c", text]).current_dir(folder.path("."));
    command.env("DIFFGP", env!("CARGO_BIN_EXE_diffgp")).output().unwrap().into()
}

const MOUNTING: [&str; 4] = ["unshare", "--user", "--map-root-user", "--mount"];

fn can_mount(folder: &Folder) -> bool {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        script(folder, &MOUNTING, "mkdir probe && mount -t tmpfs -o size=64k tmpfs probe")
    }));
    let possible = outcome.is_ok_and(|outcome| outcome.code == 0);
    if !possible {
        skipped("a full or read-only disk: this system does not let a test mount one");
    }
    possible
}

#[track_caller]
fn is_clear(stderr: &str) {
    assert!(stderr.contains("error: cannot write model.run/") && stderr.contains("--resume"), "{stderr}");
    assert!(stderr.contains("the last checkpoint is kept") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_full_disk_keeps_the_last_checkpoint() {
    let folder = Folder::with_data();
    if !can_mount(&folder) {
        return;
    }
    let text = format!(
        "mkdir small && mount -t tmpfs -o size=4096k tmpfs small && cp data.csv small && cd small || exit 90
         head -c 4016k /dev/zero > filler || exit 90
         \"$DIFFGP\" {TRAIN}; test $? = 1 || exit 91
         test -s model.run/checkpoint && test ! -e model.dgp && test ! -e model.run/checkpoint.partial || exit 92
         cp -r model.run ../kept.run
         rm filler || exit 93
         \"$DIFFGP\" {TRAIN} --resume && cp model.dgp ../resumed.dgp"
    );
    let outcome = script(&folder, &MOUNTING, &text).succeeds();
    is_clear(&outcome.stderr);
    assert!(outcome.stderr.contains("No space left"), "{outcome:?}");
    folder.run(TRAIN).succeeds();
    assert_eq!(folder.read("resumed.dgp"), folder.read("model.dgp"));
}

#[test]
fn a_limit_on_the_size_of_files_is_a_clear_error() {
    let folder = Folder::with_data();
    // Without the trap the system ends the process; with it, writing fails. Blocks have 512 bytes, or 1024.
    let limited = format!("trap '' XFSZ; ulimit -f 60; exec \"$DIFFGP\" {TRAIN}");
    let outcome = script(&folder, &["env"], &limited);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    is_clear(&outcome.stderr);
    assert!(folder.path("model.run/checkpoint").exists() && !folder.path("model.dgp").exists());
    folder.run(&format!("{TRAIN} --resume")).succeeds();
    folder.run(&format!("{TRAIN} --out whole.dgp")).succeeds();
    assert_eq!(folder.read("whole.dgp"), folder.read("model.dgp"));
}

#[test]
fn a_read_only_directory_is_refused_before_the_work_and_left_as_it_is() {
    let folder = Folder::with_data();
    if !can_mount(&folder) {
        return;
    }
    // A few iterations will do here.
    let train = TRAIN.replace("400", "30");
    let text = format!(
        "mkdir disk && mount -t tmpfs tmpfs disk || exit 90
         \"$DIFFGP\" {train} --run-dir disk/run 2>/dev/null || exit 91
         sha256sum disk/run/* > before && mount -o remount,bind,ro disk || exit 92
         \"$DIFFGP\" {train} --run-dir disk/run --resume; test $? = 2 || exit 93
         \"$DIFFGP\" {train} --run-dir disk/new --force; test $? = 2 || exit 94
         \"$DIFFGP\" {train} --out disk/model.dgp; test $? = 2 || exit 95
         \"$DIFFGP\" predict model.dgp data.csv --out disk/p.csv; test $? = 2 || exit 96
         sha256sum disk/run/* | cmp - before"
    );
    let outcome = script(&folder, &MOUNTING, &text).succeeds();
    let errors: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 4, "{outcome:?}");
    for (error, place) in
        errors.iter().zip(["--run-dir disk/run", "--run-dir disk/new", "--out disk/model.dgp", "--out disk/p.csv"])
    {
        assert!(error.contains(place) && error.contains("Read-only file system"), "{error}");
    }
}
