//! `--threads`: every command that computes takes it, and none gives another result for it.

use crate::runner::Folder;

/// What computes, and the file that it writes, if any.
const COMMANDS: [(&str, Option<&str>); 6] = [
    ("eval model.dgp data.csv --paths 5", None),
    ("predict model.dgp data.csv --paths 5", None),
    ("compress model.dgp --data data.csv --max-bytes 2000 --out small.dgp", Some("small.dgp")),
    ("plot model.dgp data.csv --paths 5 --out-dir pictures", Some("pictures/predictions.svg")),
    ("demo --iterations 3 --dir demo", Some("demo/flow.dgp")),
    ("crossval data.csv --target y --folds 2 --splits 0..1 --flow-times 0 --iterations 3 --out splits.jsonl", None),
];

#[test]
fn the_number_of_threads_changes_no_result() {
    for (command, file) in COMMANDS {
        let results = [1, 2].map(|threads| {
            let folder = Folder::with_model();
            let printed = folder.run(&format!("{command} --threads {threads}")).succeeds().stdout;
            // Where a file is written, what is printed has times in it.
            file.map_or(printed.into_bytes(), |file| folder.read(file))
        });
        assert!(results[0] == results[1], "{command}");
    }
}

#[test]
fn too_many_threads_are_refused() {
    let folder = Folder::with_model();
    for (command, _) in COMMANDS {
        folder.run(&format!("{command} --threads 257")).refused_with(&["--threads is 257", "256"]);
    }
}

/// The most threads that a run of the command was seen with; more would be started unless it is told how many.
#[cfg(target_os = "linux")]
fn most_threads(folder: &Folder, arguments: &str) -> usize {
    use std::process::Stdio;

    let mut command = folder.command(arguments);
    let mut child = command.env("RAYON_NUM_THREADS", "20").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("Threads:")?.trim().parse().ok());
        most = most.max(count.unwrap_or(0));
    }
    assert!(child.wait().unwrap().success(), "{arguments}");
    most
}

#[cfg(target_os = "linux")]
#[test]
fn no_command_starts_more_threads_than_it_may() {
    let folder = Folder::with_model();
    let train = ("train data.csv --target y --iterations 3 --max-bytes 2000 --out other.dgp", None);
    for (command, _) in COMMANDS.into_iter().chain([train]) {
        let most = most_threads(&folder, &format!("{command} --threads 1"));
        // The one that waits, the worker, the training's own worker, and one that listens for Ctrl-C.
        assert!(most <= 4, "{command}: {most} threads");
    }
    // Long enough to be seen.
    assert!(most_threads(&folder, "eval model.dgp data.csv --paths 5000") > 20);
}
