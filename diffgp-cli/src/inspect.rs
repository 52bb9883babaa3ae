//! `diffgp inspect`: what an embedded engineer asks before flashing.

mod categories;
mod compression;
mod sizes;
pub(crate) mod source;
mod summary;

use diffgp_train::model_file::ModelFile;
use std::path::PathBuf;

use super::c_source::CSource;
use super::file_options::FileOption;
use super::{model_file, output};
pub(crate) use summary::STACK_BYTES;

/// Show what a model needs and expects, before flashing it.
///
/// Bytes by part, workspace, stack, work per prediction, inputs with their ranges, what was compressed and what that
/// can have changed, and code to paste.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp inspect model.dgp
  diffgp inspect model.dgp --json
  diffgp inspect model.dgp --c-array > model.c
  diffgp inspect model.dgp --c-header > model.h
  diffgp inspect model.dgp --rust-static > model.rs"
)]
pub(crate) struct Args {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// Print one JSON object.
    #[arg(long, group = "form")]
    json: bool,
    /// Print the model as an aligned C array, for those who compile it in; it includes what --c-header prints.
    #[arg(long, group = "form")]
    c_array: bool,
    /// Print the array's header: its declaration, and sizes as macros.
    #[arg(long, group = "form")]
    c_header: bool,
    /// Print the model as an aligned Rust static.
    #[arg(long, group = "form")]
    rust_static: bool,
    #[command(flatten)]
    file: FileOption,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let summary = summary::Summary::new(&file.model(), file.bytes());
    match () {
        () if args.c_array => output::print(&CSource::new(&name, file.bytes(), file.model()).array()),
        () if args.c_header => output::print(&CSource::new(&name, file.bytes(), file.model()).header()),
        () if args.rust_static => output::print(&source::rust_static(&name, file.bytes())),
        () if args.json => output::print_json(&summary),
        () => output::print(&format!("{}\n{}", summary.text(&name), source::snippet(&name, &summary))),
    }
}

/// The summary as one JSON object.
pub(crate) fn json(file: &ModelFile) -> serde_json::Result<String> {
    serde_json::to_string(&summary::Summary::new(&file.model(), file.bytes()))
}

/// The summary for people, without the code.
pub(crate) fn summary_text(file: &ModelFile, name: &str) -> String {
    summary::Summary::new(&file.model(), file.bytes()).text(name)
}
