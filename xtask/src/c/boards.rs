//! The example in C on the emulated boards: the same bits as in Rust and on the host, flash and stack beside Rust's.

use super::archive::{self, Target};
use crate::command;
use crate::qemu::{self, Board, Case, Elf, Loaded};
use anyhow::{Context, Result, bail, ensure};
use diffgp_infer::{Model, Workspace, include_model};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "firmware-example/c";

/// A board, the library for it, and the name of the two.
struct Pair {
    name: &'static str,
    board: &'static str,
    target: &'static str,
}

const PAIRS: [Pair; 5] = [
    Pair { name: "m0", board: "m0", target: "cortex-m0" },
    Pair { name: "m3", board: "m3", target: "cortex-m3" },
    Pair { name: "m4f", board: "m4f", target: "cortex-m4f-hard" },
    Pair { name: "m4f-softfp", board: "m4f", target: "cortex-m4f-softfp" },
    Pair { name: "rv32", board: "rv32", target: "rv32imac" },
];

/// Models that the boards run: 100 inputs of a regression and of a classifier in both arithmetics, more outputs and classes,
/// numbers stored as integers, calibrated error bars.
const MODELS: [&str; 8] = [
    "v2-power",
    "v2-power-integers",
    "v2-higgs",
    "v2-higgs-integers",
    "small-six-classes",
    "small-two-targets",
    "small-calibrated",
    "v2-kin8nm-32k",
];

/// What arrives in an update, and its signature by the key in `update.c`, with counter 7.
static UPDATE: &[u8] = include_model!("../../../diffgp-slots/models/steps.dgp");
const SIGNED: &str = "-signed";
const SIGNATURE: &str = "diffgp-c/tests/c/steps.dgp.sig";

/// The program of `minimal.c` in Rust, and the most that the one in C may take of flash beyond it.
const TWIN: &str = "twin";
const MOST_MORE: u32 = 512;

/// One that was trained on the data the example knows about.
const EXAMPLE: &str = "v2-power";

/// Those that take minutes without floating-point hardware run only with it.
const LARGE: [&str; 2] = ["v2-kin8nm-32k", "v2-higgs"];

pub(crate) fn run(only: Option<&str>) -> Result<()> {
    let cases = qemu::cases()?;
    let mut table = String::new();
    for pair in PAIRS.iter().filter(|pair| only.is_none_or(|name| name == pair.name)) {
        table += &on_board(pair, &cases).with_context(|| format!("the example in C, board {}", pair.name))?;
    }
    ensure!(!table.is_empty(), "no such board; there are m0, m3, m4f, m4f-softfp and rv32");
    if only.is_none() {
        softfp_needs_its_own_library()?;
    }
    print!(
        "| board | models | flash in C, real targets in f32 | in Rust | everything | in Rust | stack in C | in Rust |\n|---|---|---|---|---|---|---|---|\n{table}"
    );
    Ok(())
}

fn on_board(pair: &Pair, cases: &[Case]) -> Result<String> {
    let (board, target) = (qemu::board(pair.board)?, archive::named(pair.target)?);
    let (library, bare) = (archive::build(target, false)?, archive::build(target, true)?);
    let bits = compile(pair, target, &library, "bits", "")?;
    let (mut stack, mut compared) = (0, 0);
    for name in MODELS {
        let slow = !target.options.iter().any(|option| option.starts_with("-mfpu")) && LARGE.contains(&name);
        let case = cases.iter().find(|case| case.name == name).with_context(|| format!("no case {name}"))?;
        if slow || !case.fits(board) {
            continue;
        }
        let finished = qemu::run_image(board, &bits, &beside(board, case))?;
        ensure!(finished.status.success(), "case {name}: it ended with {}: {:?}", finished.status, finished.stdout);
        qemu::compare(&case.expected, &finished.stdout).with_context(|| format!("case {name}"))?;
        let depth = qemu::numbers(&finished.stdout, "stack-together")?;
        if name == EXAMPLE {
            stack = depth.first().copied().unwrap_or_default();
        }
        compared += 1;
    }
    example(pair, board, target, &library, cases)?;
    for signed in [false, true] {
        update(pair, board, target, &library, signed).with_context(|| format!("an update, signed: {signed}"))?;
    }
    let flash = |library: &Path, suffix| -> Result<u32> {
        Ok(Elf::read(&compile(pair, target, library, "minimal", suffix)?)?.flash_bytes())
    };
    let (whole, small) = (flash(&library, "")?, flash(&bare, "-bare")?);
    let rust_whole = Elf::read(&qemu::image(board, TWIN)?)?.flash_bytes();
    let rust_small = Elf::read(&qemu::bare_image(board, TWIN)?)?.flash_bytes();
    ensure!(
        small <= rust_small + MOST_MORE && whole <= rust_whole + MOST_MORE,
        "flash in C: {small} and {whole} bytes, in Rust {rust_small} and {rust_whole}: more than {MOST_MORE} beyond"
    );
    let rust_stack = qemu::recorded_stack(pair.board)?;
    Ok(format!(
        "| {} | {compared} | {small} | {rust_small} | {whole} | {rust_whole} | {stack} | {rust_stack} |\n",
        pair.name
    ))
}

/// The program to copy, with a model and without one.
fn example(pair: &Pair, board: &Board, target: &Target, library: &Path, cases: &[Case]) -> Result<()> {
    let image = compile(pair, target, library, "example", "")?;
    let case = cases.iter().find(|case| case.name == EXAMPLE).context("no case for the example")?;
    let finished = qemu::run_image(board, &image, &beside(board, case))?;
    let rows = case.expected.lines().filter(|line| line.starts_with("drift ")).count();
    let acts = |line: &&str| ["on ", "off ", "safe "].iter().any(|word| line.starts_with(word));
    let lines = finished.stdout.lines().filter(acts).count();
    ensure!(finished.status.success() && lines == rows, "{}: {:?}", finished.status, finished.stdout);
    let [_, job] = beside(board, case);
    let finished = qemu::run_image(board, &image, &[job])?;
    let said = "no usable model: these bytes are not a diffgp model";
    ensure!(finished.status.code() == Some(1) && finished.stdout.starts_with(said), "{:?}", finished.stdout);
    Ok(())
}

/// A model that arrives while the program runs, with a signature and without one; its prediction has the bits of the host.
fn update(pair: &Pair, board: &Board, target: &Target, library: &Path, signed: bool) -> Result<()> {
    let mut sent = UPDATE.to_vec();
    if signed {
        sent.extend(std::fs::read(command::root().join(SIGNATURE))?);
    }
    let file = command::root().join(format!("target/c/update-{}.bin", pair.name));
    std::fs::write(&file, [&(sent.len() as u32).to_le_bytes()[..], &sent].concat())?;
    let suffix = if signed { SIGNED } else { "" };
    let image = compile(pair, target, library, "update", suffix)?;
    let finished = qemu::run_image(board, &image, &[Loaded { file: &file, address: board.model_address }])?;
    let mut expected = vec![
        "open: done".to_owned(),
        "before: there is no model in the slots that can be used".to_owned(),
        "half a model: there are fewer bytes than the model says it has: copy the whole file".to_owned(),
        "the model: done".to_owned(),
        "on trial: done".to_owned(),
        "kept: done".to_owned(),
        "open: done".to_owned(),
        "predicts: done".to_owned(),
        format!("mean {:08x}", mean()?.to_bits()),
    ];
    if signed {
        expected.push("again: the model's counter is too small: it is the model in use, or an older one".to_owned());
    }
    let lines: Vec<&str> = finished.stdout.lines().collect();
    ensure!(finished.status.success() && lines == expected, "{}: {:?}", finished.status, finished.stdout);
    Ok(())
}

/// The host's prediction at the low ends of the ranges seen in training.
fn mean() -> Result<f32> {
    let model = Model::parse(UPDATE)?;
    let x: Vec<f32> = (0..).map_while(|index| model.blob().input(index)).map(|input| input.low).collect();
    Ok(model.predict(&x, &mut Workspace::<4, 50>::new())?.mean())
}

fn beside<'a>(board: &Board, case: &'a Case) -> [Loaded<'a>; 2] {
    [Loaded { file: &case.model, address: board.model_address }, Loaded { file: &case.job, address: board.job_address }]
}

fn compile(pair: &Pair, target: &Target, library: &Path, program: &str, suffix: &str) -> Result<PathBuf> {
    let folder = command::root().join("target/c");
    std::fs::create_dir_all(&folder)?;
    let image = folder.join(format!("{program}-{}{suffix}", pair.name));
    let mut gcc = gcc(pair, target, library, program);
    if suffix == SIGNED {
        gcc.arg("-DSIGNED");
    }
    command::run(gcc.arg("-o").arg(&image))?;
    // The library of signatures has panic paths; nothing else has.
    let panics = Elf::read(&image)?.symbols.iter().any(|symbol| symbol.contains("panic"));
    ensure!(!panics || suffix == SIGNED, "{} can panic", image.display());
    Ok(image)
}

/// With the C library that its users have: what both bring (memcpy, software floats) must not clash.
fn gcc(pair: &Pair, target: &Target, library: &Path, program: &str) -> Command {
    let riscv = target.name.starts_with("rv32");
    let (startup, specs) =
        if riscv { ("startup_riscv.c", "-specs=picolibc.specs") } else { ("startup_cortex_m.c", "-specs=nano.specs") };
    let mut gcc = Command::new(target.compiler);
    gcc.current_dir(command::root().join(SOURCES)).args(target.options);
    gcc.args([specs, "-nostartfiles", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Os"]);
    gcc.args([
        "-ffunction-sections",
        "-fdata-sections",
        "-Wl,--gc-sections",
        "-Wl,--no-warn-rwx-segments",
        "-Wl,--no-warn-execstack",
    ]);
    gcc.arg("-I").arg(archive::include()).args([&format!("{program}.c"), "board.c", startup]).arg(library);
    gcc.args([&format!("-T../boards/{}.x", pair.board), "-Tsections.ld"]);
    gcc
}

/// A program with softfp calls does not link the library of the hard-float calls: the linker says why.
fn softfp_needs_its_own_library() -> Result<()> {
    let pair = PAIRS.iter().find(|pair| pair.name == "m4f-softfp").context("no such board")?;
    let wrong = archive::build(archive::named("cortex-m4f-hard")?, false)?;
    let out = command::root().join("target/c/does-not-link");
    let linked = gcc(pair, archive::named(pair.target)?, &wrong, "minimal").arg("-o").arg(&out).output()?;
    let said = String::from_utf8_lossy(&linked.stderr);
    if linked.status.success() || !said.contains("uses VFP register arguments") {
        bail!("a softfp program should not link the hard-float library: {said}");
    }
    Ok(())
}
