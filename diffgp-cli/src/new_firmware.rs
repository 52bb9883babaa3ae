//! `diffgp new-firmware`: a project that predicts with a model on a board, or under QEMU.

mod board;
mod program;
mod project;

use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use diffgp_train::model_file::ModelFile;

use self::board::{BOARDS, Board};
use self::project::Project;
use super::failure::mistake;
use super::file_options::FileOption;
use super::{console, model_file, output};

/// Start a firmware project that predicts with a model.
///
/// A Cargo project of a few short files: it builds, and predicts one row of inputs, which is printed. For m4f, m0, m3 and
/// rv32 `cargo run` does so under QEMU, with the bits of `diffgp predict`; for the others it flashes a chip.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp new-firmware pump --board m4f --model model.dgp
  cd pump && cargo run --release"
)]
pub(crate) struct Args {
    /// Folder of the project, a new or an empty one.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What it is for: a core that QEMU emulates, or a chip.
    #[arg(long, value_name = "BOARD", value_parser = board_parser())]
    board: &'static Board,
    /// Model file written by `train`; it is copied into the project.
    #[arg(long, value_name = "MODEL.dgp", default_value = "model.dgp")]
    model: PathBuf,
    /// Where the runtime is: the folder diffgp-infer of a clone of the project [default: that of the clone that this command
    /// was built from].
    #[arg(long, value_name = "DIR")]
    crate_path: Option<PathBuf>,
    #[command(flatten)]
    file: FileOption,
}

/// Flash that the program takes beside the model, at most.
const CODE: usize = 64 << 10;

fn board_parser() -> impl TypedValueParser<Value = &'static Board> {
    PossibleValuesParser::new(BOARDS.iter().map(|board| board.name))
        .try_map(|name| Board::named(&name).ok_or("not a board"))
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let board = args.board;
    check_size(&args, &file)?;
    let crate_path = crate_path(args.crate_path.as_deref())?;
    let name = name_of(&args.dir);
    let project = Project::new(board, &file, &name, &crate_path)?;
    create(&args.dir)?;
    for (name, content) in project.files() {
        let path = args.dir.join(name);
        fs::create_dir_all(output::parent(&path))?;
        output::write(&path, &content)?;
    }
    let (dir, typed) = (args.dir.display(), console::quoted(&args.dir.to_string_lossy()));
    let note = project.note().map_or_else(String::new, |note| format!("note: {note}\n"));
    output::print(&format!(
        "{dir}: a project for {}, with {} ({})\n\
         it takes the runtime from {} (--crate-path takes another)\n{note}\n\
         next:\n  rustup target add {}\n  cd {typed} && cargo run --release\n",
        board.what,
        args.model.display(),
        console::bytes(file.bytes().len()),
        crate_path.display(),
        board.target
    ))
}

/// Refuses a model that the board's flash does not hold.
fn check_size(args: &Args, file: &ModelFile) -> anyhow::Result<()> {
    let (board, bytes, most) = (args.board, file.bytes().len(), args.board.flash - CODE);
    if bytes <= most {
        return Ok(());
    }
    Err(mistake(format!(
        "--board {}: {} has {}, and its flash has room for {}; expected a smaller model, as of `diffgp compress {} --max-bytes \
         {most} --out small.dgp`",
        board.name,
        args.model.display(),
        console::bytes(bytes),
        console::bytes(most),
        console::quoted(&args.model.to_string_lossy())
    )))
}

/// The folder of the runtime.
fn crate_path(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("diffgp-infer");
    let path = given.map_or(built_from, Path::to_owned);
    let text = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
    let manifest: Option<toml::Table> = text.parse().ok();
    let name = manifest.as_ref().and_then(|manifest| manifest.get("package")?.get("name")?.as_str());
    match name {
        Some("diffgp-infer") => Ok(path.canonicalize()?),
        _ => Err(mistake(format!(
            "{}{}: the runtime is not there; expected --crate-path with the folder diffgp-infer of a clone of diffgp",
            if given.is_some() { "--crate-path " } else { "" },
            path.display()
        ))),
    }
}

/// Creates the folder, which must hold nothing.
fn create(dir: &Path) -> anyhow::Result<()> {
    let refused = |reason: &str| mistake(format!("{}: {reason}; expected a new or an empty folder", dir.display()));
    match fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(refused("files are there already, and are kept")),
        Ok(false) => Ok(()),
        Err(_) => fs::create_dir_all(dir).map_err(|error| refused(&error.to_string())),
    }
}

/// A name for the package, after its folder.
fn name_of(dir: &Path) -> String {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = absolute.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_ascii_lowercase());
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    // What Rust has a use for is no name; a suffix makes one of every word.
    match plain.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && plain.contains('-') => plain.to_owned(),
        Some(first) if first.is_ascii_alphabetic() => format!("{plain}-firmware"),
        _ => "firmware".to_owned(),
    }
}
