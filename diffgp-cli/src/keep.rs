//! What is there already stays, unless its owner says otherwise.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use diffgp_core::blob::MAGIC;

use super::failure::mistake;
use super::output;

/// Endings of names that hold data, as people have them: a model of that name is a slip.
const DATA: [&str; 11] = ["csv", "tsv", "tab", "txt", "dat", "gz", "xls", "xlsx", "ods", "npy", "parquet"];

/// `--force`, of every command that writes a file of the user's choice.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ForceArg {
    /// Replace what is there already.
    #[arg(long)]
    pub(crate) force: bool,
}

impl ForceArg {
    /// For a file of results.
    pub(crate) fn check(self, option: &str, path: &Path) -> anyhow::Result<()> {
        check_result(option, path, self.force)
    }

    /// For a model file.
    pub(crate) fn check_model(self, option: &str, path: &Path) -> anyhow::Result<()> {
        check_model(option, path, self.force)
    }
}

/// Refuses to replace a file, unless that was asked for. What is no file (a device, a pipe) is written to, and an empty file
/// holds nothing to keep.
pub(crate) fn check_result(option: &str, path: &Path, force: bool) -> anyhow::Result<()> {
    match force || !holds_something(path) {
        true => Ok(()),
        false => Err(mistake(format!(
            "{option} {}: this file is there already, and is kept; expected another name, or --force to replace it",
            path.display()
        ))),
    }
}

/// The same for a model, which never replaces anything but a model.
pub(crate) fn check_model(option: &str, path: &Path, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    if let Some(ending) = path.extension().and_then(|ending| ending.to_str()).filter(|ending| is_of_data(ending)) {
        return Err(mistake(format!(
            "{option} {shown}: .{ending} is of a data file, and this will be a model; expected a name such as {}",
            path.with_extension("dgp").display()
        )));
    }
    // A pipe is not read from.
    let there = holds_something(path).then(|| is_model(path));
    match there {
        None => Ok(()),
        Some(false) => Err(mistake(format!(
            "{option} {shown}: this file is there already and is no model; it is never replaced by one, expected another name"
        ))),
        Some(true) if force => Ok(()),
        Some(true) => Err(mistake(format!(
            "{option} {shown}: a model is there already, and is kept; expected another name, or --force to replace it"
        ))),
    }
}

fn is_of_data(ending: &str) -> bool {
    DATA.iter().any(|of_data| ending.eq_ignore_ascii_case(of_data))
}

fn holds_something(path: &Path) -> bool {
    !output::is_special(path) && path.metadata().is_ok_and(|known| known.len() > 0)
}

fn is_model(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == MAGIC
}
