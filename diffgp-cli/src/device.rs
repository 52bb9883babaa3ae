//! `diffgp device`: whether a device computes the bits that the workstation computes.

mod tally;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use diffgp_infer::Model;
use diffgp_link::{Refusal, Request, Response, model_checksum};
use diffgp_train::data::DataError;
use diffgp_train::evaluate::{Row, Sampling, evaluate};
use diffgp_train::threads::Threads;
use indicatif::ProgressBar;

use super::failure::mistake;
use super::file_options::FileOption;
use super::layout::LayoutArgs;
use super::model_rows::{ModelRows, Target};
use super::serial::LineArgs;
use super::{interrupt, model_file, output};
use tally::Tally;

/// Compare a device with the workstation, bit for bit.
///
/// Sends the rows of a file to a device that runs the serial firmware (firmware-example/src/bin/serial.rs), on a
/// board or under QEMU, and compares every answer with the device's own code run here. Prints one line: rows, how many
/// were equal and different, what a prediction cost in ticks of the device's counter (cycles on a board), and rows per
/// second. Exit code 0 says that every bit of every row was equal.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp device model.dgp test.csv --port /dev/ttyACM0
  diffgp device model.dgp test.csv --port /dev/ttyUSB0 --baud 921600 --limit 100
  diffgp device model.dgp test.csv --port tcp:localhost:4444 --paths 4 --seed 1 --json
      for QEMU started with -serial tcp:localhost:4444,server=on"
)]
pub(crate) struct Args {
    /// Model file that the device has in its flash.
    #[arg(value_name = "MODEL.dgp")]
    model: PathBuf,
    /// File (CSV, .npy, .npz, Parquet) with the model's inputs; columns are matched by name if both sides have names.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    line: LineArgs,
    /// Only the first rows of the file.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Sample paths per row [default: none, along the drift alone].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    paths: Option<u32>,
    /// Decides the paths; noise is keyed by seed, row and path, as in `predict`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Columns to skip because they hold targets, if either side lacks names.
    #[arg(long, value_name = "NAME|INDEX,...")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Print one JSON object: n, equal, different, first_different, retries, ticks_min, ticks_median, ticks_max and
    /// rows_per_second.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    file: FileOption,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let file = model_file::read(&args.model)?;
    let model = file.model();
    let port = args.line.port()?;
    let (cells, width) = (read_rows(&args, &model)?, model.inputs());
    interrupt::listen()?;
    let mut questions = args.line.open(&port)?;
    let checksum = model_checksum(file.bytes()).context("a model without a checksum")?;

    // Rows are computed one by one, between question and answer.
    let threads = Threads::new(1).context("cannot start a worker thread")?;
    let total = cells.len() / width;
    let bar = ProgressBar::new(total as u64);
    let mut tally = Tally::default();
    let start = Instant::now();
    for (number, x) in (0..).zip(cells.chunks_exact(width)) {
        let row = Row { number, x };
        let Some(response) = questions.ask(&request(&args, &row))? else { break };
        check_model(&args, &model, checksum, &response)?;
        let [host] = &evaluate(&model, &[row], sampling(&args), &threads)?[..] else {
            bail!("one row is one prediction")
        };
        tally.add(number, &host.answer, response.outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();

    let report = tally.report(questions.retries(), start.elapsed());
    if args.json {
        output::print_json(&report)?
    } else {
        output::print(&report.text())?
    }
    if let Some(difference) = tally.first_difference() {
        bail!("{} of {} rows differ from the host; the first is {difference}", report.different, report.n);
    }
    if report.n < total {
        bail!("interrupted after {} of {total} rows", report.n);
    }
    Ok(())
}

/// All rows that will be asked for, so that a bad cell is found before the device is bothered.
fn read_rows(args: &Args, model: &Model<'_>) -> anyhow::Result<Vec<f32>> {
    let mut rows = ModelRows::open(&args.data, &args.layout, model, args.target.as_deref(), Target::Skipped)?;
    let limit = args.limit.map_or(usize::MAX, |limit| limit as usize).saturating_mul(rows.width());
    let mut cells = Vec::new();
    while cells.len() < limit
        && let Some(row) = rows.next()?
    {
        cells.extend_from_slice(row);
    }
    if cells.is_empty() { Err(DataError::NoRows { path: Some(args.data.clone()) }.into()) } else { Ok(cells) }
}

fn request(args: &Args, row: &Row<'_>) -> Request {
    let x = row.x.iter().copied().collect();
    Request { id: row.number, paths: args.paths.unwrap_or(0), seed: args.seed, row: row.number, x }
}

fn sampling(args: &Args) -> Sampling {
    args.paths.map_or(Sampling::Drift, |count| Sampling::Paths { count, seed: args.seed })
}

/// Refuses a device that cannot compute this model at all.
fn check_model(args: &Args, model: &Model<'_>, checksum: u32, response: &Response) -> anyhow::Result<()> {
    let (port, file) = (&args.line.port, args.model.display());
    match (response.model, &response.outcome) {
        (None, _) => bail!("{port}: the device has no usable model in its flash; expected {file} there"),
        (Some(found), _) if found != checksum => Err(mistake(format!(
            "{port}: the device runs another model (checksum {found:08x}) than {file} (checksum {checksum:08x}); \
             flash that file, or name the one that the device has"
        ))),
        (_, Err(Refusal::Capacity)) => bail!(
            "{port}: the device's firmware has too little memory for {file}; build it with a {}",
            workspace(model)
        ),
        (_, Err(Refusal::TooMuchWork { most_paths })) => Err(mistake(format!(
            "{port}: {} paths of {file} are more work than this device does at a time; at most {most_paths} are not",
            args.paths.unwrap_or(1)
        ))),
        _ => Ok(()),
    }
}

/// The type that a model needs, without the outputs where one is all.
fn workspace(model: &Model<'_>) -> String {
    let outputs = if model.outputs() > 1 { format!(", {}", model.outputs()) } else { String::new() };
    format!("Workspace::<{}, {}{outputs}>", model.inputs(), model.features())
}
