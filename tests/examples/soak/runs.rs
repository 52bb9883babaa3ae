//! Training runs: killed at any moment and resumed, they give the same model; changed checkpoints are refused or harmless.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crc::{CRC_32_ISO_HDLC, Crc};

use super::commands::{run, said};
use super::{Counts, Dice, Ground};

const TRAIN: &str = "train data.csv --target y --inducing 4 --warm-iterations 12 --iterations 12 --steps 2 --training-steps 2 \
                     --flow-time 5 --threads 1 --checkpoint-every 4 --out whole.dgp";
const KILLED: &str = "train data.csv --target y --inducing 4 --warm-iterations 12 --iterations 12 --steps 2 --training-steps 2 \
                      --flow-time 5 --threads 1 --checkpoint-every 4 --out killed.dgp --resume";

/// Data, and an undisturbed run.
pub(super) fn prepare(ground: &Ground) {
    let mut rows = String::from("a,y\n");
    for i in 0..40_u32 {
        let a = f64::from(i * 7919 % 41) / 10.0;
        let _ = writeln!(rows, "{a},{}", (2.0 * a).sin());
    }
    fs::write(ground.folder.path().join("data.csv"), rows).expect("a writable folder");
    assert_eq!(run(ground, TRAIN), Ok(0), "{}", said(ground));
}

pub(super) fn attack_by_kill(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let path = |name: &str| ground.folder.path().join(name);
    let _ = fs::remove_dir_all(path("killed.run"));
    let _ = fs::remove_file(path("killed.dgp"));
    for _ in 0..3 {
        let mut child = Command::new(&ground.diffgp)
            .args(KILLED.split_whitespace())
            .current_dir(ground.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        std::thread::sleep(Duration::from_millis(dice.below(300) as u64));
        let _ = child.kill();
        let killed = child.wait().map_err(|error| error.to_string())?.code().is_none();
        *counts.entry("kills of a training run").or_default() += u64::from(killed);
    }
    let code = run(ground, KILLED)?;
    let same = fs::read(path("killed.dgp")).ok() == fs::read(path("whole.dgp")).ok();
    if code != 0 || !same {
        return Err(format!("a killed run ended with {code}, the same model: {same}; {}", said(ground)));
    }
    *counts.entry("killed runs that gave the same model").or_default() += 1;
    Ok(())
}

pub(super) fn attack_by_checkpoint(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let path = |name: &str| ground.folder.path().join(name);
    let whole = fs::read(path("whole.run/checkpoint")).map_err(|error| error.to_string())?;
    let mut forged = whole[..whole.len() - 4].to_vec();
    for _ in 0..1 + dice.below(2) {
        let at = 16 + dice.below(forged.len() - 16);
        forged[at] = dice.of(&[0, 0x7f, 0x80, 0xff, forged[at] ^ 0x10, forged[at] ^ 1]);
    }
    let checksum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&forged);
    forged.extend_from_slice(&checksum.to_le_bytes());
    fs::write(path("whole.run/checkpoint"), &forged).map_err(|error| error.to_string())?;
    let before = fs::read(path("whole.dgp")).map_err(|error| error.to_string())?;
    let code = run(ground, &format!("{TRAIN} --resume"))?;
    let name = match code {
        0 => "forged checkpoints that ran to the end",
        1 => "forged checkpoints from which nothing could be trained",
        2 => "forged checkpoints refused",
        code => return Err(format!("a forged checkpoint ended with {code}: {}", said(ground))),
    };
    *counts.entry(name).or_default() += 1;
    fs::write(path("whole.run/checkpoint"), &whole).map_err(|error| error.to_string())?;
    fs::write(path("whole.dgp"), before).map_err(|error| error.to_string())
}
