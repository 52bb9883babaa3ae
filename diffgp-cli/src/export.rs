//! `diffgp export`: a model as a folder that a firmware project can compile.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use diffgp_train::model_file::ModelFile;

use super::c_source::CSource;
use super::file_options::FileOption;
use super::keep::ForceArg;
use super::{model_file, output};

/// The interface of the runtime for C; `cargo xtask header` writes this copy too.
const HEADER: &str = include_str!("export/diffgp.h");
/// The one file that is there to be changed.
const PROGRAM: &str = "main.c";
/// What the first line of the others says.
const MADE: &str = "Made by `diffgp`";

/// Write a model as C that compiles as it is: array, sizes as macros, diffgp.h and a program.
///
/// The program needs the runtime, libdiffgp.a, to be linked: docs/c.md says how to get it.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp export model.dgp --c firmware/model
  gcc firmware/model/*.c -L . -ldiffgp -o predict"
)]
pub(crate) struct Args {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// Folder to write the C files to; it is created. A main.c that is there stays, and files of an earlier export are
    /// replaced.
    #[arg(long, value_name = "DIR", required = true)]
    c: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    file: FileOption,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    output::create_directory("--c", &args.c)?;
    let files: Vec<(PathBuf, String)> =
        files(&file, &name).into_iter().map(|(name, text)| (args.c.join(name), text)).collect();
    let is_program = |path: &Path| path.ends_with(PROGRAM);
    for (path, _) in files.iter().filter(|(path, _)| !is_program(path) && !is_exported(path)) {
        args.force.check("--c", path)?;
    }
    for (path, text) in files {
        // The program is there to be changed.
        let kept = is_program(&path) && path.exists() && !args.force.force;
        if !kept {
            output::write(&path, text.as_bytes())?;
        }
        output::print(&format!("{}{}\n", path.display(), if kept { ": kept as it was" } else { "" }))?;
    }
    Ok(())
}

/// Whether an earlier export has left it.
fn is_exported(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    text == HEADER.as_bytes() || text.lines().next().is_some_and(|line| line.is_ok_and(|line| line.contains(MADE)))
}

/// Names of the files and what is in them, for a model file of that name.
pub(crate) fn files(file: &ModelFile, name: &str) -> Vec<(String, String)> {
    let source = CSource::new(name, file.bytes(), file.model());
    let stem = source.stem();
    vec![
        (format!("{stem}.c"), source.array()),
        (format!("{stem}.h"), source.header()),
        (PROGRAM.to_owned(), source.program()),
        ("diffgp.h".to_owned(), HEADER.to_owned()),
    ]
}
