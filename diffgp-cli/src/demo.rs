//! `diffgp demo`: the whole way in one command, on the signal with steps that stationary kernels cannot follow.

mod step_signal;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diffgp_core::scheme::Scheme;
use diffgp_train::data::{Dataset, Header, TargetKind};
use diffgp_train::evaluate::{Figures, Known, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::own_file;
use diffgp_train::threads::Threads;
use diffgp_train::train::{self, ClimbConfig, Config, Task};
use serde::Serialize;

use super::console::tell;
use super::failure::mistake;
use super::plot::Gallery;
use super::progress::Reporter;
use super::threads::ThreadsArgs;
use super::{console, interrupt, model_file, output};

const TRAINING_ROWS: usize = 300;
const TEST_ROWS: usize = 600;
const FLOW_TIME: f64 = 5.0;
/// Inducing points of flow and predictor.
const INDUCING: usize = 30;
/// Sample paths per test row.
const PATHS: u32 = 100;

/// The models, and everything else that is written beside the tables.
const NO_FLOW: &str = "no-flow.dgp";
const FLOW: &str = "flow.dgp";
const FILES: [&str; 7] = [NO_FLOW, FLOW, "test.csv", "comparison.svg", "comparison.png", "flow.svg", "flow.png"];

/// Train with and without a flow on a signal with steps, and compare.
///
/// Makes the data, trains a plain sparse Gaussian process (T = 0) and a flow, runs both through the device's code, and
/// leaves the data, the models and a picture to try the other commands on.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// Folder for data, models and pictures.
    #[arg(long, value_name = "DIR", default_value = "diffgp-demo")]
    dir: PathBuf,
    /// Decides the data and the training.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Iterations of the flow; fewer are faster and worse.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    iterations: u64,
    #[command(flatten)]
    threads: ThreadsArgs,
    /// Print one JSON object: models, an array with the figures of both.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    models: [Compared; 2],
    pictures: Vec<String>,
}

/// One of the two models.
#[derive(Debug, Serialize)]
struct Compared {
    flow_time: f64,
    #[serde(serialize_with = "output::lossy_path")]
    file: PathBuf,
    bytes: usize,
    n: usize,
    rmse: Option<f64>,
    log_likelihood: f64,
    coverage_95: f64,
    seconds: f64,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let threads = args.threads.start()?;
    output::create_directory("--dir", &args.dir)?;
    let (train, test) = (args.dir.join("train.csv"), args.dir.join("test.csv"));
    // Beside the tables of a demo, models are a demo's too.
    if !train.exists() {
        FILES.iter().map(|name| args.dir.join(name)).try_for_each(|file| refuse_if(file.exists(), &file))?;
    }
    let training = make_table(&train, TRAINING_ROWS, args.seed, 0)?;
    let test = make_table(&test, TEST_ROWS, args.seed, 1)?;
    interrupt::listen()?;
    let without = compare(&args, (&training, &test), 0.0, NO_FLOW, &threads)?;
    let with = compare(&args, (&training, &test), FLOW_TIME, FLOW, &threads)?;
    let pictures = draw(&args, &training, [&without.file, &with.file], &threads)?;
    let pictures = pictures.iter().map(|path| path.display().to_string()).collect();
    let report = Report { models: [without, with], pictures };
    if args.json { output::print_json(&report) } else { output::print(&text(&args, &report)) }
}

/// Trains one model, writes it, and scores what was written with the runtime.
fn compare(
    args: &Args,
    (training, test): (&Dataset, &Dataset),
    flow_time: f64,
    name: &str,
    threads: &Threads,
) -> anyhow::Result<Compared> {
    let start = Instant::now();
    let config = config(args, flow_time);
    tell!("training on {} rows, T = {flow_time}", training.rows());
    let mut reporter = Reporter::new();
    let trained = train::train(training, &config, &mut reporter);
    reporter.finish();
    let exported = trained?.export(training)?;
    let file = args.dir.join(name);
    output::replace(&file, &exported.bytes)?;
    let seconds = start.elapsed().as_secs_f64();
    let figures = score_file(&file, test, threads)?;
    Ok(Compared {
        flow_time,
        file,
        bytes: exported.bytes.len(),
        n: figures.rows,
        rmse: figures.only_output().map(|output| output.rmse),
        log_likelihood: figures.log_likelihood,
        coverage_95: figures.only_output().map_or(f64::NAN, |output| output.coverage_95),
        seconds,
    })
}

/// The same predictor of few points for both models, started alike, and as many iterations in all. A demonstration, not a
/// benchmark: the settings were tried on this data until the flow found the steps (a field with shorter length-scales than
/// the default's, and patience), and `train` would give a model without a flow as many points as the steps ask for.
fn config(args: &Args, flow_time: f64) -> Config {
    let mut config = Config::for_rows(TRAINING_ROWS, Task::Regression);
    (config.seed, config.threads) = (args.seed, args.threads.count());
    config.paths = 2;
    (config.flow.time, config.flow.optional, config.flow.length_scale) = (flow_time, false, 0.5_f64.sqrt());
    (config.flow.training_steps, config.flow.steps, config.flow.scheme) = (Some(10), 20, Scheme::EulerMaruyama);
    (config.flow.inducing, config.predictor.inducing, config.predictor.search_rows) = (INDUCING, INDUCING, 0);
    let climb = ClimbConfig { iterations: args.iterations, learning_rate: 0.02, patience: 0, ..config.with_flow };
    // As many iterations as the flow has in all.
    let no_flow = ClimbConfig { iterations: climb.iterations.saturating_add(config.warm_start.iterations), ..climb };
    (config.with_flow, config.no_flow, config.warm_start.patience) = (climb, no_flow, 0);
    (config.validation.every, config.validation.again_rows) = (100, 0);
    config
}

fn score_file(path: &Path, test: &Dataset, threads: &Threads) -> anyhow::Result<Figures> {
    let file = model_file::read(path)?;
    Ok(score(&file.model(), &all_rows(test), Sampling::Paths { count: PATHS, seed: 0 }, threads)?)
}

fn all_rows(data: &Dataset) -> Vec<Known<'_>> {
    (0..data.rows()).map(|row| Known::of(data, row, row)).collect()
}

/// Both predictions side by side, and the flow.
fn draw(args: &Args, training: &Dataset, files: [&Path; 2], threads: &Threads) -> anyhow::Result<Vec<PathBuf>> {
    let files = [model_file::read(files[0])?, model_file::read(files[1])?];
    let models = files.each_ref().map(ModelFile::model);
    let gallery = |index: usize| {
        let (file, model) = (&files[index], &models[index]);
        let sampling = Sampling::Paths { count: PATHS, seed: 0 };
        Gallery { file, model, rows: all_rows(training), followed: Vec::new(), sampling, threads, metrics: None }
    };
    let (without, with) = (gallery(0), gallery(1));
    let titles = ["No flow, T = 0", "Flow, T = 5"];
    let mut pictures = without.write_beside(&with, titles, -1.8..1.8, (&args.dir, "comparison"))?.to_vec();
    pictures.extend(with.write_flow(&args.dir)?);
    Ok(pictures)
}

/// Writes rows of the signal as CSV and reads them as `train` would. A table of another shape is not a demo's.
fn make_table(path: &Path, rows: usize, seed: u64, set: u32) -> anyhow::Result<Dataset> {
    let signal = step_signal::rows(rows, seed, set);
    let lines: String = signal.into_iter().map(|(x, y)| format!("{x:?},{y:?}\n")).collect();
    let of_a_demo =
        |text: &[u8]| text.starts_with(b"x,y\n") && text.iter().filter(|&&b| b == b'\n').count() == rows + 1;
    refuse_if(own_file::read(path).is_ok_and(|text| !of_a_demo(&text)), path)?;
    output::replace(path, format!("x,y\n{lines}").as_bytes())?;
    Ok(Dataset::read_file(path, "y", Header::Detect, TargetKind::Real)?)
}

fn refuse_if(foreign: bool, path: &Path) -> anyhow::Result<()> {
    match foreign {
        true => {
            Err(mistake(format!("{} is there and not of a demo; choose another folder with --dir", path.display())))
        }
        false => Ok(()),
    }
}

fn text(args: &Args, report: &Report) -> String {
    let mut text = format!(
        "{:<14} {:>8} {:>15} {:>16} {:>12} {:>10}\n",
        "", "RMSE", "log-likelihood", "in 95 % bars", "model", "training"
    );
    for (label, model) in ["no flow, T = 0", "flow, T = 5"].into_iter().zip(&report.models) {
        text += &format!(
            "{label:<14} {:>8.4} {:>15.4} {:>14.1} % {:>12} {:>10}\n",
            model.rmse.unwrap_or(f64::NAN),
            model.log_likelihood,
            100.0 * model.coverage_95,
            console::bytes(model.bytes),
            console::duration(Duration::from_secs_f64(model.seconds))
        );
    }
    let dir = args.dir.display();
    text += &format!(
        "(on {TEST_ROWS} new rows, computed by the device's own code from the model files)\n\
         pictures: {dir}/comparison.png (both predictions), {dir}/flow.png (what the flow does), both also as SVG\n\n\
         next:\n\
         \x20 diffgp inspect {dir}/flow.dgp\n\
         \x20 diffgp predict {dir}/flow.dgp {dir}/test.csv | head\n\
         \x20 diffgp eval {dir}/flow.dgp {dir}/test.csv --deterministic\n\
         \x20 diffgp plot {dir}/flow.dgp {dir}/test.csv --out-dir {dir}/plots\n\
         \x20 diffgp train {dir}/train.csv --target y --out my.dgp\n"
    );
    text
}
