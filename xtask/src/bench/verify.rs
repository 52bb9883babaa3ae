//! `cargo xtask bench verify`: what the verification of a signed model costs on a device, the table of docs/security.md.

use crate::command;
use crate::qemu::{self, Board, Elf, Loaded};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

const MODELS: [&str; 3] =
    ["diffgp-slots/models/steps.dgp", "diffgp-infer/models/v2-iris.dgp", "tests/blobs/v2-power.dgp"];

/// The secret key that the image knows the public key of: 000102…1f.
fn secret_key() -> String {
    let digits: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    format!("diffgp-secret-key {digits}\n")
}

pub(super) fn run() -> Result<()> {
    let folder = command::root().join("target/signed");
    fs::create_dir_all(&folder)?;
    let files = signed(&folder)?;
    let sizes: Vec<_> = files.iter().map(|(_, bytes)| format!("{bytes} bytes")).collect();
    println!("| compiled for size | flash | stack | instructions: {} |\n|---|---|---|---|---|---|", sizes.join(" | "));
    for name in ["m0", "m4f"] {
        let board = qemu::board(name).map_err(anyhow::Error::msg)?;
        let row = on_board(board, &files).with_context(|| format!("board {name}"))?;
        println!("{row}");
    }
    Ok(())
}

/// The models with their blocks behind them, and the bytes of the models alone.
fn signed(folder: &Path) -> Result<Vec<(PathBuf, usize)>> {
    let key = folder.join("known.key");
    command::run(&mut command::cargo(".", ["build", "--locked", "-p", "diffgp-cli"]))?;
    fs::write(&key, secret_key())?;
    let sign = |model: &&str| -> Result<(PathBuf, usize)> {
        let model = command::root().join(model);
        let name = model.file_name().context("a file name")?;
        let (block, whole) = (folder.join("block"), folder.join(name).with_extension("signed"));
        let mut diffgp = qemu::diffgp();
        diffgp.arg("sign").arg(&model).arg("--key").arg(&key).args(["--counter", "1", "--force", "--out"]).arg(&block);
        command::capture(&mut diffgp)?;
        let bytes = fs::read(&model)?;
        fs::write(&whole, [&bytes[..], &fs::read(&block)?].concat())?;
        Ok((whole, bytes.len()))
    };
    MODELS.iter().map(sign).collect()
}

fn on_board(board: &Board, files: &[(PathBuf, usize)]) -> Result<String> {
    let (image, without) = (qemu::image_in(board, "verify", "size")?, qemu::image_in(board, "unverified", "size")?);
    let flash = Elf::read(&image)?.flash_bytes() - Elf::read(&without)?.flash_bytes();
    let (mut stack, mut counts) = (0, String::new());
    for (file, _) in files {
        let beside = Loaded { file, address: board.model_address };
        let finished = qemu::run_image(board, &image, &[beside])?;
        let two = |name| -> Result<[u32; 2]> {
            let numbers = qemu::numbers(&finished.stdout, name)?;
            numbers.try_into().map_err(|numbers| anyhow::anyhow!("{name}: two numbers expected, not {numbers:?}"))
        };
        let ([ticks, valid], [depth, again]) = (two("ticks-verify")?, two("stack-verify")?);
        ensure!([valid, again] == [1, 1], "the device does not know the signature of {}", file.display());
        let calibration = *qemu::numbers(&finished.stdout, "calibration")?.first().context("no number")?;
        let instructions = f64::from(ticks) / (f64::from(calibration) / qemu::CALIBRATION_INSTRUCTIONS);
        stack = stack.max(depth);
        counts += &format!(" {} |", qemu::grouped(instructions.round() as u64));
    }
    Ok(format!("| {} | {flash} | {stack} |{counts}", board.core))
}
