//! Attacks everything that takes bytes from elsewhere, for as long as it is told, and prints counts: `cargo xtask soak`.
//!
//! ```text
//! models       stored models with numbers, lengths and counts changed, behind a repaired checksum
//! tables       files that are almost CSV
//! slots        updates of a model over a flash that loses power and keeps what it likes
//! commands     `diffgp` on such models and tables
//! devices      `diffgp device` against devices that answer anything
//! checkpoints  changed checkpoints behind a repaired checksum, and runs killed and resumed
//! ```
//!
//! A panic, a hang, a number that is none, an exit code that is not promised or a lost model ends it: exit code 1, and
//! the seed of the attack is printed. The same seed makes the same attack.

mod commands;
#[path = "../../model_slots/flash.rs"]
#[allow(dead_code, reason = "tests use all of it")]
mod flash;
#[path = "../../../diffgp-infer/tests/model.rs"]
#[allow(unreachable_pub, reason = "a module of several packages")]
mod model;
#[path = "../../../diffgp-infer/tests/repair.rs"]
#[allow(unreachable_pub, reason = "a module of several packages")]
mod repair;
mod runs;
mod slots;
#[path = "../../../fuzz/src/table.rs"]
#[allow(unreachable_pub, reason = "a module of several packages")]
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use diffgp_train as trainer;
use diffgp_train::aligned::AlignedBytes;
use rand_core::Rng;

/// Multiply-adds of one path in this process; the commands run paths to their end.
const LONGEST: usize = 100_000;

/// Numbers at the edges of what f32 and the limits of the format hold.
const NASTY: [f32; 14] =
    [0.0, -0.0, 1.0, -1.0, 1e-45, 1e-30, 1e-15, 1e-12, 1e12, -1e19, 1e30, f32::MAX, f32::INFINITY, f32::NAN];

/// How often something happened, by its name.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// What the attacks work with.
pub(crate) struct Ground {
    pub(crate) diffgp: PathBuf,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) models: Vec<Vec<u8>>,
}

/// Random numbers of one attack.
pub(crate) struct Dice(diffgp_infer::DefaultRng);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.next_u32() as usize % end.max(1)
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.0.next_u32() as u8).collect()
    }
}

impl Ground {
    /// A stored model with a few changes that its checksum does not show.
    pub(crate) fn hostile_model(&self, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.models[dice.below(self.models.len())].clone();
        for _ in 0..1 + dice.below(3) {
            let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap_or_default()) as usize;
            let front = (16 + header).min(bytes.len() - 8);
            let word = 4 * dice.below(bytes.len() / 4 - 1);
            let number = dice.of(&NASTY).to_le_bytes();
            match dice.below(6) {
                // Shapes, counts and names are in the header; bytes may be any.
                0 | 1 => bytes[16 + dice.below(front - 16)] = dice.of(&[0, 1, 0x0a, 0x1b, 0x3c, 0x7f, 0x80, 0xff]),
                2 => bytes[12..16][dice.below(2)] = dice.below(256) as u8,
                3 => bytes[word] ^= 1 << dice.below(8),
                _ => bytes[word..word + 4].copy_from_slice(&number),
            }
        }
        let length = repair::repair(&mut bytes);
        bytes.truncate(length);
        bytes
    }
}

/// A file that is almost a table.
pub(crate) fn hostile_table(dice: &mut Dice) -> Vec<u8> {
    let cells: [&[u8]; 22] = [
        b"1",
        b"-2.5",
        b"3e38",
        b"1e-39",
        b"1e400",
        b"nan",
        b"inf",
        b"",
        b"NA",
        b"a",
        b"\"b\"",
        b"\"",
        b"\"x\ny\"",
        b"0,5",
        b";",
        b"\t",
        b"\xff\xfe",
        b"\x1b[2J",
        b"\xef\xbb\xbf",
        b"\0",
        b"9999999999999999",
        b" 7 ",
    ];
    let line_ends: [&[u8]; 5] = [b"\n", b"\n", b"\r\n", b"\r", b"\n\n"];
    let (rows, columns) = (dice.below(12), 1 + dice.below(6));
    let mut text = Vec::new();
    let wild = dice.below(3);
    for row in 0..rows {
        let here = if dice.below(12) == 0 { dice.below(40_000) } else { columns };
        for column in 0..here {
            if column > 0 {
                text.push(b',');
            }
            match dice.below(8) < wild {
                true => text.extend_from_slice(dice.of(&cells)),
                false if row == 0 => text.extend_from_slice(format!("c{column}").as_bytes()),
                false => text.extend_from_slice(format!("{}.{}", dice.below(9), row).as_bytes()),
            }
        }
        text.extend_from_slice(dice.of(&line_ends));
    }
    if dice.below(10) == 0 {
        let noise = dice.below(300);
        text = dice.bytes(noise);
    }
    text
}

fn models(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    for _ in 0..50 {
        let bytes = AlignedBytes::new(&ground.hostile_model(dice));
        let name = match model::check(bytes.as_slice(), LONGEST) {
            model::Reached::Nothing => "models refused",
            model::Reached::Trusted { .. } => "models that parse_trusted alone takes",
            model::Reached::Parsed { predicted: true } => "models taken that predict",
            model::Reached::Parsed { predicted: false } => "models taken that overflow and say so",
        };
        *counts.entry(name).or_default() += 1;
    }
    Ok(())
}

fn tables(ground: &Ground, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let path = ground.folder.path().join("table.csv");
    for _ in 0..20 {
        fs::write(&path, hostile_table(dice)).map_err(|error| error.to_string())?;
        let name = match table::check(&path, dice.of(&table::WAYS)) {
            table::Reached::Nothing => "tables refused at once",
            table::Reached::Rows => "tables refused later",
            table::Reached::Dataset => "tables taken",
        };
        *counts.entry(name).or_default() += 1;
    }
    Ok(())
}

type Attack = fn(&Ground, &mut Dice, &mut Counts) -> Result<(), String>;

/// Those that start a process are as many as those that do not: they take most of the time.
const ATTACKS: [(&str, Attack); 7] = [
    ("models", models),
    ("tables", tables),
    ("slots", slots::attack),
    ("commands", commands::attack),
    ("devices", commands::attack_by_device),
    ("checkpoints", runs::attack_by_checkpoint),
    ("kills", runs::attack_by_kill),
];

fn read_models() -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/repaired");
    let entries = fs::read_dir(corpus).expect("the corpus is checked in");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a readable file")).collect()
}

/// `soak DIFFGP SECONDS [SEED]`: the command to attack, how long, and which attack to begin with.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse::<u64>().ok());
    let (Some(diffgp), Some(seconds)) = (arguments.first(), number(1)) else {
        eprintln!("expected: soak DIFFGP SECONDS [SEED]");
        return ExitCode::from(2);
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ground = Ground { diffgp: diffgp.into(), folder, models: read_models() };
    runs::prepare(&ground);
    let (start, mut counts, mut seed) = (Instant::now(), Counts::new(), number(2).unwrap_or(0));
    while start.elapsed() < Duration::from_secs(seconds) {
        let (name, attack) = ATTACKS[seed as usize % ATTACKS.len()];
        let mut dice = Dice(diffgp_infer::keyed_rng(seed, 0, 0));
        let outcome = catch_unwind(AssertUnwindSafe(|| attack(&ground, &mut dice, &mut counts)));
        if let Err(problem) = outcome.unwrap_or_else(|_| Err("a panic in this process".to_owned())) {
            let kept = ground.folder.keep();
            eprintln!("FOUND by {name}, seed {seed}: {problem}\nits files are in {}", kept.display());
            return ExitCode::FAILURE;
        }
        seed += 1;
    }
    println!("{seed} attacks in {} s, nothing found", start.elapsed().as_secs());
    counts.iter().for_each(|(name, count)| println!("{count:>10}  {name}"));
    ExitCode::SUCCESS
}
