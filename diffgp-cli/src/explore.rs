//! `diffgp explore`: a page to play with a model.

mod facts;
mod page;

use std::path::PathBuf;

use diffgp_train::evaluate::Known;

use super::failure::mistake;
use super::file_options::FileOption;
use super::keep::ForceArg;
use super::known_rows::KnownRows;
use super::layout::LayoutArgs;
use super::report::file_name;
use super::test_rows::TestRowsArgs;
use super::{model_file, output};
pub(crate) use page::{Page, Rows};

/// Make a page to play with a model, for any browser.
///
/// One file with the model, some rows and the device's own code as WebAssembly: sliders for every input, the answer with
/// its error bars, what it depends on, the flow, errors and costs. It opens from the disk and makes no request.
/// With rows whose targets are known it shows how right the model is; held-out ones are honest.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp explore model.dgp --out page.html
  diffgp explore model.dgp test.csv --out page.html
  diffgp explore model.dgp data.csv --test-rows splits.txt --split 0"
)]
pub(crate) struct Args {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// File (CSV, .npy, .npz, Parquet) with the model's inputs and its targets; columns are matched by name if both sides have names.
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    /// Target columns, if they are not those that the model names.
    #[arg(long, value_name = "NAME|INDEX,...", requires = "data")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    test_rows: TestRowsArgs,
    /// Where to write the page.
    #[arg(long, value_name = "FILE.html", default_value = "page.html")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    file: FileOption,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let test_rows = args.test_rows.test_rows.as_deref();
    output::check_writable(
        "--out",
        &args.out,
        &[Some(&args.model), args.data.as_deref(), test_rows, args.file.path()],
    )?;
    args.force.check("--out", &args.out)?;
    let known = match &args.data {
        Some(data) => {
            Some(KnownRows::read(data, &args.layout, args.target.as_deref(), &args.test_rows, &file.model())?)
        }
        None if args.test_rows.holds_out() => {
            return Err(mistake("held-out rows: without DATA there are no rows; expected the data file too"));
        }
        None => None,
    };
    let numbers = known.as_ref().map(KnownRows::numbers).unwrap_or_default();
    let shown: Vec<Known<'_>> =
        known.iter().flat_map(|known| numbers.iter().map(|&number| known.row(number))).collect();
    let described = match (&args.data, args.test_rows.holds_out()) {
        (Some(data), true) => format!("Held-out rows of {}.", file_name(data)),
        (Some(data), false) => {
            format!("Rows of {}; if the model has learned from them, they flatter it.", file_name(data))
        }
        (None, _) => String::new(),
    };
    let rows = known.is_some().then_some(Rows { known: &shown, described: &described });
    let page = Page { file: &file, name: &file_name(&args.model), rows };
    output::write(&args.out, page.html()?.as_bytes())?;
    output::print(&format!("{}\n", args.out.display()))
}
