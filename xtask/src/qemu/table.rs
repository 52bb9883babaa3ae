//! The figures as tables for people: printed after a run, and part of the project's README.

use super::board;
use super::figures::Figures;
use crate::command;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

const BEGIN: &str = "<!-- written by `cargo xtask qemu --overwrite` -->\n";
const END: &str = "<!-- end -->\n";
/// The compressed model that is counted.
const COMPRESSED: &str = "tests/blobs/v2-kin8nm-32k.dgp";

/// Two tables in Markdown.
pub(crate) fn tables(boards: &[Figures]) -> Result<String> {
    let mut text = String::from(
        "D = 4, M = 50, K = 20, one kernel per dimension:\n\n\
         | core | clock | prediction along the drift | | per sampled path | | parse |\n|---|---|---|---|---|---|---|\n",
    );
    for f in boards {
        let timed = timed(f, f.instructions_small_prediction, f.instructions_small_sampled_path);
        text += &format!("{timed} {} |\n", grouped(f.instructions_small_parse));
    }
    text += "\nThe same with Matérn 3/2 kernels, which need a square root per inducing point:\n\n\
             | core | clock | prediction along the drift | | per sampled path | |\n|---|---|---|---|---|---|\n";
    for f in boards {
        text += &timed(f, f.instructions_small_matern32_prediction, f.instructions_small_matern32_sampled_path);
        text += "\n";
    }
    text += "\nD = 8, M = 100, K = 20, one kernel per dimension; memory in bytes:\n\n\
             | core | RBF sum | per multiply-add | step | prediction | sampled path | flash | RAM | stack |\n\
             |---|---|---|---|---|---|---|---|---|\n";
    for f in boards {
        text += &format!(
            "| {} | {} | {:.2} | {} | {} | {} | {} | {} | {} |\n",
            core_and_clock(f).0,
            grouped(f.instructions_rbf_sum),
            f.instructions_per_mac,
            grouped(f.instructions_per_step),
            grouped(f.instructions_per_prediction),
            f.instructions_per_sampled_path.map_or("does not fit".to_owned(), grouped),
            grouped(f.flash_bytes.into()),
            f.ram_bytes,
            f.stack_bytes
        );
    }
    text += &format!(
        "\nA trained model of that shape (kin8nm), compressed to {:.1} KiB, in integers of 8 and 16 bits:\n\n\
         | core | clock | prediction along the drift | | per sampled path | |\n|---|---|---|---|---|---|\n",
        fs::metadata(command::root().join(COMPRESSED))?.len() as f64 / 1024.0
    );
    for f in boards {
        text += &timed(f, f.instructions_compressed_prediction, f.instructions_compressed_sampled_path);
        text += "\n";
    }
    if boards.iter().any(|f| !f.integers.is_empty()) {
        text += "\nThe same model in f32 and in [integers](docs/integers.md), instructions along the drift and of a sampled \
                 path:\n\n";
        text += &in_integers(boards);
    }
    Ok(text)
}

/// Models that are counted in both arithmetics, and what they are.
const MODELS: [(&str, &str); 3] = [
    ("small-midpoint", "D = 4, M = 50, five midpoint steps, as by default"),
    ("v2-power", "power, D = 4, M = 50, ten steps"),
    ("v2-kin8nm-32k", "kin8nm in 32 KB, D = 8, M = 100, 20 steps"),
];

fn in_integers(boards: &[Figures]) -> String {
    let mut text = String::from(
        "| model | core | drift, f32 | integers | times fewer | path, f32 | integers | times fewer |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (model, shown) in MODELS {
        for f in boards {
            let Some(pair) = f.integers.iter().find(|pair| pair.model == model) else { continue };
            text += &format!("| {shown} | {} |", core_and_clock(f).0);
            for (i, gain) in pair.gains().into_iter().enumerate() {
                text += &format!(" {} | {} | {gain:.1} |", grouped(pair.single[i]), grouped(pair.fixed[i]));
            }
            text += "\n";
        }
    }
    for f in boards {
        let Some(raw) = &f.raw else { continue };
        text += &format!(
            "\nThe smallest image, which takes what a sensor counts and has no float in it (`firmware-example/src/bin/raw.rs`), \
             takes {} bytes of flash and {} of stack on the {}; with kin8nm in 32 KB {} instructions along the drift and {} \
             on a sampled path.\n",
            grouped(raw.flash_bytes.into()),
            grouped(raw.stack_bytes.into()),
            core_and_clock(f).0,
            grouped(raw.instructions_prediction),
            grouped(raw.instructions_sampled_path)
        );
    }
    text
}

/// The beginning of a row: a core, its clock, and two counts with the milliseconds they take.
fn timed(figures: &Figures, prediction: u64, sampled_path: u64) -> String {
    let (core, megahertz) = core_and_clock(figures);
    let mut row = format!("| {core} | {megahertz} MHz |");
    for count in [prediction, sampled_path] {
        row += &format!(" {} | {} ms |", grouped(count), shown(count as f64 / megahertz / 1000.0));
    }
    row
}

/// Puts the tables into the README, between its two marks.
pub(crate) fn write(boards: &[Figures]) -> Result<()> {
    let readme = fs::read_to_string(path())?;
    let (before, after) = split(&readme)?;
    fs::write(path(), format!("{before}{BEGIN}\n{}\n{END}{after}", tables(boards)?))?;
    Ok(())
}

fn split(readme: &str) -> Result<(&str, &str)> {
    let (before, rest) = readme.split_once(BEGIN).context("the README has no place for the figures")?;
    let (_, after) = rest.split_once(END).context("the place for the figures in the README has no end")?;
    Ok((before, after))
}

fn path() -> PathBuf {
    command::root().join("README.md")
}

/// A clock at which this core is typically sold.
fn core_and_clock(figures: &Figures) -> (&'static str, f64) {
    let core = board::named(&figures.board).map_or("", |board| board.core);
    let megahertz = match figures.board.as_str() {
        "m0" => 16.0,
        "m3" => 72.0,
        "m7" => 400.0,
        _ => 100.0,
    };
    (core, megahertz)
}

/// Three digits that count.
fn shown(milliseconds: f64) -> String {
    let decimals = if milliseconds < 10.0 { 2 } else { 0 };
    format!("{milliseconds:.decimals$}")
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::{grouped, path, split, tables};
    use crate::qemu::figures;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn the_readme_shows_the_checked_in_figures() {
        let readme = std::fs::read_to_string(path()).expect("the project has a README");
        split(&readme).expect("the README has a place for the figures");
        let boards = figures::checked_in().expect("figures are checked in");
        assert!(
            readme.contains(&tables(&boards).expect("the compressed model is there")),
            "`cargo xtask qemu --overwrite` writes the tables"
        );
    }
}
