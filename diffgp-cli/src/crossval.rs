//! `diffgp crossval`: the same training on many splits and flow times, with means and standard errors.

mod bars;
mod journal;
mod splits;
mod summary;

use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use diffgp_infer::Model;
use diffgp_train::data::Dataset;
use diffgp_train::device_cost::Core;
use diffgp_train::evaluate::{Figures, Known, OutputFigures, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::provenance::Provenance;
use diffgp_train::threads::Threads;
use diffgp_train::train::{self, Config, Observer, Plan, Progress, TrainError, Trained, Validated, Warning};

use self::bars::Bars;
use self::journal::{Experiment, Journal, Line, SplitFigures};
use self::summary::Report;
use super::console::tell;
use super::eval::NamedOutput;
use super::failure::{mistake, training_failed};
use super::file_options::FileOption;
use super::labelled::LabelledArgs;
use super::progress::Reporter;
use super::settings::Settings;
use super::{class_notes, console, dirt, interrupt, output};

/// Training rows that are scored at most, evenly spread: enough to see how closely they are fitted.
const TRAINING_ROWS_SCORED: usize = 2000;

/// Train and score on many splits, for several flow times.
///
/// Every split is trained on its training rows alone, exported, and scored on its held-out rows with the device's own
/// code. One line per finished split goes to --out; the same command started again goes on where it stopped. Splits
/// that an older recipe trained are trained anew; --finished shows them, and says so.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("flow_time", |flow_time| flow_time.hide(true)),
    after_help = "Examples:
  diffgp crossval data.csv --target y --folds 10 --flow-times 0,5
  diffgp crossval data.csv --target y --test-rows splits.txt --splits 0..20"
)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: LabelledArgs,
    /// Text file; line K lists the held-out rows of split K (from 0, header not counted).
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    test_rows: Option<PathBuf>,
    /// Which lines of --test-rows, or which folds, as FIRST..END (END not included) [default: all].
    #[arg(long, value_name = "FIRST..END")]
    splits: Option<String>,
    /// Parts of the rows, each held out once; chosen by --seed.
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    /// Flow times to compare.
    #[arg(long, value_name = "T,T,...", value_delimiter = ',', default_value = "0,1,2,3,4,5")]
    flow_times: Vec<f64>,
    /// Sample paths per held-out row.
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    test_paths: u32,
    /// Where finished splits are kept, one JSON object per line [default: the data's name with .crossval.jsonl].
    #[arg(long, value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Train nothing: summarise the splits that are finished.
    #[arg(long)]
    finished: bool,
    /// Print one JSON object: recipe, and results, an array with one object per flow time.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    file: FileOption,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    if args.settings.options.flow_time.is_some() {
        return Err(mistake("--flow-time is for train; expected --flow-times with a list, as in --flow-times 0,5"));
    }
    for (index, time) in args.flow_times.iter().enumerate() {
        if args.flow_times[..index].contains(time) {
            return Err(mistake(format!("--flow-times: {time} is there twice; expected every flow time once")));
        }
    }
    let data = args.rows.read(&mut args.settings)?;
    let splits = splits::held_out_rows(&args, &data)?;
    dirt::tell_about(&data, splits.first().map_or(&[][..], |(_, held_out)| held_out.as_slice()));
    class_notes::tell_about_splits(&data, splits.iter().map(|(_, held_out)| held_out.as_slice()));
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| args.rows.data.with_extension("crossval.jsonl").file_name().unwrap_or_default().into());
    output::check_writable("--out", &path, &[Some(&args.rows.data), args.test_rows.as_deref(), args.file.path()])?;
    if output::is_special(&path) {
        let path = path.display();
        return Err(mistake(format!(
            "--out {path}: not a regular file; expected one, finished splits are read from it"
        )));
    }
    // All settings are checked before the first split is trained.
    let configs = args.flow_times.iter().map(|&time| args.settings.with_flow_time(time).config(data.rows()));
    configs.collect::<anyhow::Result<Vec<_>>>()?;
    let mut journal = Journal::open(&path)?;
    interrupt::listen()?;
    let threads = args.settings.threads()?;
    let mut lines = Vec::new();
    for (split, held_out) in &splits {
        for &flow_time in &args.flow_times {
            lines.extend(split_line(&args, &data, (*split, held_out), flow_time, &mut journal, &threads)?);
        }
    }
    if lines.is_empty() {
        return Err(mistake(format!("{} holds no finished split of these settings", path.display())));
    }
    let report = Report::new(args.settings.task(), &args.flow_times, &lines);
    for note in report.notes() {
        tell!("note: {note}");
    }
    if args.json { output::print_json(&report) } else { output::print(&report.text()) }
}

/// The figures of one split, from the journal or computed now; none if it is not finished and is to be left so.
fn split_line(
    args: &Args,
    data: &Dataset,
    (split, held_out): (usize, &[usize]),
    flow_time: f64,
    journal: &mut Journal,
    threads: &Threads,
) -> anyhow::Result<Option<Line>> {
    let (start, processor) = (Instant::now(), journal::processor_seconds());
    let (training, test) = data.clone().hold_out(held_out)?;
    let settings = args.settings.with_flow_time(flow_time);
    let config = settings.config(training.rows())?;
    let key = Experiment::new(&settings.options, &training, &test, args.test_paths)?;
    let known = journal.find(&key, split);
    if args.finished || known.as_ref().is_some_and(Line::is_current) {
        return Ok(known);
    }
    let (trained, bound) = train_split(args, split, &training, &config, journal)?;
    let exported = trained.export_without_names(&training)?;
    let file = ModelFile::new(&exported.bytes)?;
    let rows: Vec<_> = held_out.iter().enumerate().map(|(row, &number)| Known::of(&test, row, number)).collect();
    let stride = training.rows().div_ceil(TRAINING_ROWS_SCORED);
    let training_rows: Vec<_> =
        (0..training.rows()).step_by(stride).map(|row| Known::of(&training, row, row)).collect();
    let model = file.model();
    let sampling = Sampling::Paths { count: args.test_paths, seed: 0 };
    let sampled = score(&model, &rows, sampling, threads)?;
    let calibration_rows = trained.calibration.as_ref().map_or(0, |calibration| calibration.rows);
    let work = Core::M4f.work(&model);
    let flow = trained.params.flow.as_ref();
    let line = Line {
        key,
        split,
        flow_time,
        training_steps: flow.map_or(0, |_| config.flow.training_steps()),
        steps: flow.map_or(0, |flow| flow.steps),
        discretisation_error: trained.discretisation.map(|of| of.error),
        n: sampled.rows,
        figures: figures(&sampled),
        coverage: sampled.only_output().map(OutputFigures::coverage_50_90_95),
        outputs: NamedOutput::several(&target_names(args, data), &sampled),
        bars: Bars::of(&file, calibration_rows, &rows, sampling, threads)?,
        ten_paths: scored(&model, &rows, Sampling::Paths { count: 10, seed: 0 }, threads)?,
        drift: scored(&model, &rows, Sampling::Drift, threads)?,
        training: scored(&model, &training_rows, Sampling::Paths { count: 10, seed: 0 }, threads)?,
        bound,
        iteration: trained.iteration,
        validation_log_likelihood: trained.validation_log_likelihood,
        kernel_gain: trained.kernel_gain.map(|gain| gain.mean),
        kernel: Some(format!("{:?}", trained.params.predictor.kernel(0).kind).to_lowercase()),
        inducing: Some(trained.params.predictor.inducing.nrows()),
        bytes: exported.bytes.len(),
        m4f_instructions: Some([work.instructions_per_prediction, work.instructions_per_sampled_path]),
        mean_error: exported.errors.mean,
        variance_error: exported.errors.variance,
        seconds: start.elapsed().as_secs_f64(),
        processor_seconds: processor.zip(journal::processor_seconds()).map(|(before, after)| after - before),
        provenance: Provenance::here(),
        machine: journal::machine(),
        date: journal::date(SystemTime::now()),
    };
    journal.append(&line)?;
    tell!("{line}  {}", console::duration(start.elapsed()));
    Ok(Some(line))
}

/// Shows progress and warnings, and notes the last bound per row.
struct Watch {
    reporter: Reporter,
    bound: Option<f64>,
}

impl Observer for Watch {
    fn plan(&mut self, plan: &Plan) {
        self.reporter.plan(plan);
    }

    fn iteration(&mut self, progress: &Progress) {
        self.bound = Some(progress.elbo / progress.rows as f64);
        self.reporter.iteration(progress);
    }

    fn validation(&mut self, validated: &Validated) {
        self.reporter.validation(validated);
    }

    fn warning(&mut self, warning: &Warning) {
        self.reporter.warning(warning);
    }

    fn should_stop(&mut self) -> bool {
        interrupt::asked()
    }
}

fn scored(
    model: &Model<'_>,
    rows: &[Known<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> anyhow::Result<SplitFigures> {
    Ok(figures(&score(model, rows, sampling, threads)?))
}

fn figures(figures: &Figures) -> SplitFigures {
    SplitFigures {
        rmse: figures.only_output().map(|output| output.rmse),
        auc: figures.auc(),
        accuracy: figures.classes.as_ref().map(|classes| classes.accuracy),
        calibration_error: figures.classes.as_ref().map(|classes| classes.calibration_error),
        log_likelihood: figures.log_likelihood,
    }
}

/// As the data has them, or as they were asked for.
fn target_names(args: &Args, data: &Dataset) -> Vec<String> {
    let asked = || args.rows.target.iter().flat_map(|targets| targets.split(',').map(str::to_owned)).collect();
    data.target_names().map_or_else(asked, <[String]>::to_vec)
}

fn train_split(
    args: &Args,
    split: usize,
    training: &Dataset,
    config: &Config,
    journal: &Journal,
) -> anyhow::Result<(Trained, Option<f64>)> {
    let mut watch = Watch { reporter: Reporter::of_split(split), bound: None };
    let outcome = train::train(training, config, &mut watch);
    watch.reporter.finish();
    match outcome {
        Ok(trained) => Ok((trained, watch.bound)),
        Err(TrainError::Stopped { .. }) => Err(anyhow::anyhow!(
            "stopped; finished splits are in {}, and the same command goes on from there",
            journal.path().display()
        )),
        Err(error) => Err(training_failed(&args.rows.data, error)),
    }
}
