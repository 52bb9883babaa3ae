//! `diffgp export`: a model as a folder that a firmware project can compile.

use std::path::PathBuf;

use diffgp_train::model_file::ModelFile;

use super::c_source::CSource;
use super::file_options::FileOption;
use super::{model_file, output};

/// The interface of the runtime for C; `cargo xtask header` writes this copy too.
const HEADER: &str = include_str!("export/diffgp.h");

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
    /// Folder to write the C files to; it is created, and files of the same names are replaced.
    #[arg(long, value_name = "DIR", required = true)]
    c: PathBuf,
    #[command(flatten)]
    file: FileOption,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    output::create_directory("--c", &args.c)?;
    for (name, text) in files(&file, &name) {
        let path = args.c.join(name);
        output::write(&path, text.as_bytes())?;
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// Names of the files and what is in them, for a model file of that name.
pub(crate) fn files(file: &ModelFile, name: &str) -> Vec<(String, String)> {
    let source = CSource::new(name, file.bytes(), file.model());
    let stem = source.stem();
    vec![
        (format!("{stem}.c"), source.array()),
        (format!("{stem}.h"), source.header()),
        ("main.c".to_owned(), source.program()),
        ("diffgp.h".to_owned(), HEADER.to_owned()),
    ]
}
