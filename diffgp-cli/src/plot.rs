//! `diffgp plot`: pictures of a model and of how well it predicts.

mod calibration;
pub(super) mod canvas;
mod confusion;
mod decision_path;
mod flow_picture;
mod gallery;
mod paths;
mod predictions;
mod residuals;
mod trace;

use std::path::PathBuf;

use anyhow::Context;
use diffgp_train::compress::made_up_inputs;
use diffgp_train::evaluate::{Answer, Known, Row, Sampling};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use serde::Serialize;

use super::failure::mistake;
use super::file_options::FileOption;
use super::known_rows::{KnownRows, KnownRowsArgs};
use super::sampling::SamplingArgs;
use super::threads::ThreadsArgs;
use super::{model_file, output};
pub(super) use gallery::Gallery;

/// Draw a model and its predictions, as SVG and PNG.
///
/// predictions: means with 95 % bars against the truth (over the input itself if there is only one);
/// calibration: promised against observed coverage or probability; residuals: errors over the answer and the inputs; trace:
/// bound and validation log-likelihood of the run; flow: for one and two inputs, the flow itself; decision-path: for more, what the flow does to chosen rows.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp plot model.dgp data.csv --test-rows splits.txt --split 0
  diffgp plot model.dgp data.csv --rows 0,17 --run-dir model.run --out-dir pictures"
)]
pub(crate) struct Args {
    #[command(flatten)]
    known: KnownRowsArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Rows (from 0) whose decision path is drawn, up to four [default: the first, middle and last].
    #[arg(long, value_name = "ROW,ROW,...", value_delimiter = ',')]
    rows: Vec<usize>,
    /// Run directory whose trace is drawn [default: the model's name with .run, if it is there].
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Folder for the pictures.
    #[arg(long, value_name = "DIR", default_value = "plots")]
    out_dir: PathBuf,
    /// Print one JSON object: pictures, the names of the files.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    file: FileOption,
}

/// Rows whose flow is drawn where there are none of data.
const MADE_UP_ROWS: usize = 200;

/// What the flow of a model does, seen from made-up inputs within its ranges, as SVG; nothing without a flow.
pub(super) fn flow_of_model(file: &ModelFile, threads: &Threads) -> anyhow::Result<Option<String>> {
    let model = file.model();
    if model.steps() == 0 {
        return Ok(None);
    }
    let mut inputs = made_up_inputs(&model);
    inputs.truncate(MADE_UP_ROWS * model.inputs());
    // What the model itself says of them stands where their targets would.
    let answers = file.predict(&inputs, Sampling::Drift, threads)?;
    let answer = |answer: &Answer| [answer.class().map_or_else(|| answer.mean(), |class| class as f32)];
    let targets: Vec<[f32; 1]> = answers.iter().map(answer).collect();
    let rows: Vec<Known<'_>> = inputs
        .chunks_exact(model.inputs())
        .zip(&targets)
        .zip(0..)
        .map(|((x, targets), number)| Known { row: Row { number, x }, targets })
        .collect();
    let followed = rows.iter().take(3).copied().collect();
    let gallery = Gallery { file, model: &model, rows, followed, sampling: Sampling::Drift, threads, metrics: None };
    gallery.flow_svg().map(Some)
}

#[derive(Debug, Serialize)]
struct Report {
    pictures: Vec<String>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    let file = model_file::read(&args.known.model)?;
    let model = file.model();
    let known = args.known.read(&model)?;
    let row = |&number: &usize| known.row(number);
    let followed = chosen_rows(&args, &known)?;
    let default_run = args.known.model.with_extension("run");
    let run_dir = args.run_dir.clone().or_else(|| default_run.join("metrics.jsonl").exists().then_some(default_run));
    let gallery = Gallery {
        file: &file,
        model: &model,
        rows: known.numbers().iter().map(row).collect(),
        followed: followed.iter().map(row).collect(),
        sampling: args.sampling.sampling(),
        threads: &threads,
        metrics: run_dir.map(|directory| directory.join("metrics.jsonl")),
    };
    output::create_directory("--out-dir", &args.out_dir)?;
    let data = || args.known.data.display().to_string();
    let pictures: Vec<String> =
        gallery.write(&args.out_dir).with_context(data)?.iter().map(|path| path.display().to_string()).collect();
    if args.json {
        return output::print_json(&Report { pictures });
    }
    output::print(&pictures.iter().map(|path| format!("{path}\n")).collect::<String>())
}

fn chosen_rows(args: &Args, known: &KnownRows) -> anyhow::Result<Vec<usize>> {
    let (numbers, total) = (known.numbers(), known.total());
    if args.rows.len() > decision_path::MOST_ROWS {
        let most = decision_path::MOST_ROWS;
        return Err(mistake(format!(
            "--rows has {} rows; expected at most {most} to tell them apart",
            args.rows.len()
        )));
    }
    if let Some(row) = args.rows.iter().find(|&&row| row >= total) {
        let data = args.known.data.display();
        return Err(mistake(format!("--rows: no row {row}; expected 0 to {}, the rows of {data}", total - 1)));
    }
    if !args.rows.is_empty() {
        return Ok(args.rows.clone());
    }
    let mut default = vec![numbers[0], numbers[numbers.len() / 2], numbers[numbers.len() - 1]];
    default.dedup();
    Ok(default)
}
