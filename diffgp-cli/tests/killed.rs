//! SIGKILL at any moment, then `--resume`: the same model as an undisturbed run gives, byte for byte.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::runner::Folder;

/// At least this many kills, over as many runs as it takes.
const KILLS: usize = 60;
/// A run that was killed so often is left alone, so that it ends.
const KILLS_PER_RUN: usize = 12;

const TRAIN: &str = "train data.csv --target y --inducing 8 --warm-iterations 30 --iterations 60 --steps 3 \
                     --training-steps 3 --threads 1";

#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    kills: usize,
    /// Kills sent as soon as a checkpoint was being written.
    aimed: usize,
    /// Kills that left a checkpoint beside the one it should replace.
    unfinished: usize,
    /// Kills before the run had a checkpoint.
    early: usize,
}

/// The same numbers in every run of the test: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let folder = Folder::with_data();
    let start = Instant::now();
    folder.run(&format!("{TRAIN} --out whole.dgp")).succeeds();
    let undisturbed = start.elapsed();
    let (mut counts, mut random) = (Counts::default(), Random(0x5eed));
    while counts.kills < KILLS {
        let resume = format!("{TRAIN} --checkpoint-every {} --resume", 1 + counts.runs);
        for _ in 0..KILLS_PER_RUN {
            kill_once(&folder, &resume, undisturbed, &mut counts, &mut random);
        }
        folder.run(&resume).succeeds();
        assert_eq!(folder.read("whole.dgp"), folder.read("model.dgp"), "{counts:?}");
        let metrics = |run| folder.read_text(&format!("{run}.run/metrics.jsonl"));
        let (whole, model) = (metrics("whole"), metrics("model"));
        let different = whole.lines().zip(model.lines()).find(|(whole, model)| whole != model);
        assert_eq!((different, whole.len()), (None, model.len()));
        assert!(!folder.path("model.run/checkpoint.partial").exists());
        std::fs::remove_dir_all(folder.path("model.run")).unwrap();
        std::fs::remove_file(folder.path("model.dgp")).unwrap();
        counts.runs += 1;
    }
    println!("{counts:?}, blobs that differ: 0");
    assert!(counts.aimed > 0 && counts.unfinished > 0, "no kill hit a checkpoint: {counts:?}");
}

/// Starts the run and kills it: after a random time, or as soon as it writes a checkpoint.
fn kill_once(folder: &Folder, command: &str, undisturbed: Duration, counts: &mut Counts, random: &mut Random) {
    let mut child = folder.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let partial = folder.path("model.run/checkpoint.partial");
    let delay = undisturbed.mul_f64(random.below(1000) as f64 / 1500.0);
    let aimed = random.below(2) == 0;
    let skipped = random.below(4);
    let start = Instant::now();
    let mut seen = 0;
    while child.try_wait().unwrap().is_none() {
        if aimed && partial.exists() {
            seen += 1;
        }
        if (aimed && seen > skipped) || start.elapsed() > if aimed { undisturbed } else { delay } {
            child.kill().unwrap();
            break;
        }
        if !aimed {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    // Without an exit code it was the signal that ended it.
    if child.wait().unwrap().code().is_none() {
        counts.kills += 1;
        counts.aimed += usize::from(aimed);
        counts.unfinished += usize::from(partial.exists());
        counts.early += usize::from(!folder.path("model.run/checkpoint").exists());
    }
}
