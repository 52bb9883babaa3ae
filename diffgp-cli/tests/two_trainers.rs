//! Two trainers and one run directory.

use std::process::Stdio;

use crate::runner::{Folder, QUICK};

const LONG: &str =
    "train data.csv --target y --inducing 8 --warm-iterations 9 --iterations 1000000 --steps 3 --training-steps 3";

#[test]
fn a_second_trainer_is_refused_until_the_first_has_gone_however_it_went() {
    let folder = Folder::with_data();
    let mut first = folder.command(LONG).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path("model.run/checkpoint").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the first trainer ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let holder = format!("process {}", first.id());
    let second = format!("train data.csv --target y {QUICK}");
    for command in [second.clone(), format!("{second} --resume"), format!("{second} --out a.dgp --run-dir model.run")] {
        folder.run(&command).refused_with(&["--run-dir model.run", &holder, "choose another"]);
    }
    assert!(first.try_wait().unwrap().is_none(), "the first trainer was disturbed");
    assert!(folder.path("model.run/checkpoint").exists() && !folder.path("model.dgp").exists());
    folder.run(&format!("{second} --run-dir other.run")).succeeds();
    // No goodbye: the lock file stays, the lock does not.
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(folder.path("model.run/lock").exists());
    folder.run(&second).succeeds();
    assert_eq!(folder.read("model.run/model.dgp"), folder.read("other.run/model.dgp"));
}
