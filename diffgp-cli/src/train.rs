//! `diffgp train`: from a table to a model file.

mod limit;
mod relevant;
mod select;
mod summary;
mod training;
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use diffgp_infer::Model;
use diffgp_train::checkpoint::Checkpoint;
use diffgp_train::compress::{self, CompressError, Compressed, Goal};
use diffgp_train::data::{DataError, Dataset};
use diffgp_train::device_cost::Core;
use diffgp_train::evaluate::Known;
use diffgp_train::export::{Errors, Exported};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Config, TrainError, Trained};

use self::limit::TimeLimit;
use self::select::Selection;
use self::summary::{LeftOut, Summary, choices};
use self::training::Training;
use self::watch::Watch;
use super::calibrate::Calibrated;
use super::compress::{UNCALIBRATED, much_lost};
use super::console::tell;
use super::dirt::{self, Warned};
use super::explore::{Page, Rows};
use super::failure::{mistake, training_failed};
use super::file_options::FileOption;
use super::labelled::LabelledArgs;
use super::ranks::{self, Ranks};
use super::report::{self, Report};
use super::run_directory::{self, RunDirectory};
use super::settings::{self, Settings};
use super::test_rows::TestRowsArgs;
use super::{bytes, class_notes, console, interrupt, keep, model_file, output};

/// Train a model on a table: CSV, arrays of NumPy, or Parquet.
///
/// Good without flags: some of the training rows are kept aside, the iteration that predicts them best is kept, and
/// sizes follow from the number of rows. Rows held out (--test-share, --test-last, --test-groups, --test-rows) take no part in
/// anything.
///
/// The run directory holds the options (config.toml), metrics.jsonl, a checkpoint, the model, a page
/// about it (report.html) and one to play with it (explore.html). After Ctrl-C, which leaves the best model so far there as
/// stopped.dgp, or a crash, the same command with --resume goes on and gives the model of an undisturbed run, byte for byte
/// on the same kind of CPU (instruction set). So does a diffgp built with the feature mpi under mpirun or srun, with any
/// number of processes.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = "Examples:
  diffgp train data.csv --target strength
  diffgp train data.csv --target strength --test-share 0.2 --out strength.dgp      (a fifth of the rows to test it with)
  diffgp train data.csv --target strength --test-rows splits.txt --split 0 --out strength.dgp
  diffgp train log.csv --target load --test-last 0.2 --blocks 50       (rows that follow each other in time)
  diffgp train data.csv --target y --test-groups pump --groups pump   (repeated measurements)
  diffgp train data.csv --target heating,cooling            (two targets, one model)
  diffgp train data.csv --target fault                      (classes, if the column holds words)
  diffgp train data.csv --target fault --task classification
  diffgp train data.csv --target y --ignore date,comment
  diffgp train data.csv --target y --test-share 0.2 --select      (without inputs that tell nothing)
  diffgp train data.csv --target 8 --flow-time 0          (a plain sparse Gaussian process)
  diffgp train data.csv --target y --max-bytes 32K          (a model that fits)
  diffgp train data.csv --target y --time-limit 10m         (the best model of ten minutes)
  diffgp train data.csv --target y --integers               (for cores without floating-point hardware)
  diffgp train data.csv --target y --inducing 30            (a small model from the start)"
)]
pub(crate) struct Args {
    #[command(flatten)]
    rows: LabelledArgs,
    #[command(flatten)]
    test_rows: TestRowsArgs,
    /// Model file to write; kept as it is until the new one is complete.
    #[arg(long, value_name = "MODEL.dgp", default_value = "model.dgp")]
    out: PathBuf,
    /// Leave out inputs without which rows kept aside are predicted as well: those that cost less than 0.01 nats per row, or
    /// less than the standard error of that.
    /// More inputs than a model can have are first reduced to those that go most with the target.
    #[arg(long)]
    select: bool,
    /// Leave the names of the columns out of the model.
    #[arg(long)]
    strip_names: bool,
    /// The largest model file, as 32768 or 32K: a larger one is compressed, as `compress` does, and kept whole in the run
    /// directory.
    #[arg(long, value_name = "N", visible_alias = "budget", value_parser = bytes::parse)]
    max_bytes: Option<usize>,
    /// A model for devices without floating-point hardware: evaluated in integers, as of `compress`. The whole one is kept
    /// in the run directory.
    #[arg(long)]
    integers: bool,
    /// Run directory: a new or empty one, or one of an earlier run [default: the model's name with the extension .run].
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// Go on from the checkpoint in the run directory, if there is one.
    #[arg(long)]
    resume: bool,
    /// Replace the model and the run that are there already; nothing but a model is ever replaced by one.
    #[arg(long)]
    force: bool,
    /// Ends training after so long, as 90s, 10m or 1h30m, with the best model so far; the last fit, calibration and report
    /// come on top. The same command with --resume goes on. How far it gets, and so the model's bytes, depend on the machine.
    #[arg(long, value_name = "TIME", value_parser = limit::parse)]
    time_limit: Option<TimeLimit>,
    /// Iterations between checkpoints; the model does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: u64,
    /// Print one JSON object about the finished model.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    file: FileOption,
    #[command(flatten)]
    settings: Settings,
}

/// For checks of options that do not depend on the rows: with so few, sizes that follow from them are the smallest.
const LEAST_ROWS: usize = 1;

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    ranks::together(|ranks| run_rank(args, ranks))
}

/// What one of several processes does: all read the rows and train, the first writes.
fn run_rank(mut args: Args, ranks: &Ranks) -> anyhow::Result<()> {
    let start = Instant::now();
    let Prepared { mut data, mut test, config, warnings } = ranks.agree(prepare(&mut args, ranks.is_first()))?;
    let selection = if args.select { Some(ranks.agree(select(&mut args, &mut data, &mut test, ranks))?) } else { None };
    let kept = if ranks.is_first() { open(&args, &data, &config).map(Some) } else { Ok(None) };
    let (directory, checkpoint) =
        ranks.agree(kept)?.map_or((None, None), |kept| (Some(kept.directory), kept.checkpoint));
    let checkpoint = ranks.agree(checkpoint_of_first(ranks, checkpoint))?;
    interrupt::listen()?;
    let limit = args.time_limit.clone().map(|limit| (start, limit));
    let training = Training { args: &args, data: &data, config: &config, checkpoint };
    let threads = ranks.threads(args.settings.options.threads)?;
    let Some(directory) = directory else { return training.follow(&threads) };
    ranks.introduce(threads.count());
    let (trained, mut directory) = training.watched(&threads, Watch::new(directory, limit))?;
    drop(threads);
    let is_stopped = interrupt::asked() && trained.cut.is_some();
    tell!("{}", if is_stopped { "writing the best model so far" } else { "writing the model and its report" });
    let exported = if args.strip_names { trained.export_without_names(&data) } else { trained.export(&data) }?;
    if let Some(cut) = &trained.cut {
        directory.cut(&serde_json::to_value(summary::CutRow::of(cut))?)?;
    }
    if is_stopped {
        let path = directory.stopped(&exported.bytes)?;
        return Err(stopped(&path, &trained));
    }
    if let Some(warning) = model_file::export_warning(&exported.errors) {
        tell!("warning: {warning}");
    }
    directory.model(&exported.bytes)?;
    let threads = args.settings.threads()?;
    let (exported, compressed) = compressed(&args, &data, exported, &threads)?;
    output::write(&args.out, &exported.bytes)?;
    // The model is there; a page about it is not worth failing for.
    let page = write_report(&args, &config, &data, test.as_ref(), (&trained, &exported.bytes), &directory, &threads);
    if let Err(error) = &page {
        tell!("warning: {} is not written: {error:#}", directory.report_path().display());
        // One of an earlier run would be about another model.
        let _ = fs::remove_file(directory.report_path());
        let _ = fs::remove_file(directory.explore_path());
    }
    let relevance = relevance(&data, test.as_ref(), &exported.bytes, &threads)?;
    let summary = Summary {
        relevance,
        selection,
        model: args.out.display().to_string(),
        run_dir: run_dir(&args).display().to_string(),
        bytes: exported.bytes.len(),
        compression_loss: compressed.as_ref().and_then(|small| small.curve.last()).map(|point| point.loss),
        rows: data.rows(),
        inputs: data.inputs(),
        warnings,
        held_out: test.is_some(),
        flow_time: trained.params.flow_time(),
        iteration: trained.iteration,
        validation_log_likelihood: trained.validation_log_likelihood,
        steps: trained.params.flow.as_ref().map_or(0, |flow| flow.steps),
        scheme: trained.params.flow.as_ref().map(|flow| flow.scheme.id()),
        discretisation_error: trained.discretisation.map(|of| of.error),
        compaction: LeftOut::of(&trained),
        calibration: Calibrated::of(&ModelFile::new(&exported.bytes)?.model()),
        cut: trained.cut.as_ref().map(summary::CutRow::of),
        kernel: format!("{:?}", trained.params.predictor.kernel(0).kind).to_lowercase(),
        flow_gain: trained.flow_gain.map(|gain| gain.mean),
        flow_gain_se: trained.flow_gain.map(|gain| gain.standard_error),
        kernel_gain: trained.kernel_gain.map(|gain| gain.mean),
        kernel_gain_se: trained.kernel_gain.map(|gain| gain.standard_error),
        noise_gain: trained.noise_gain.map(|gain| gain.mean),
        noise_gain_se: trained.noise_gain.map(|gain| gain.standard_error),
        mean_error: exported.errors.mean,
        variance_error: exported.errors.variance,
        seconds: start.elapsed().as_secs_f64(),
    };
    if args.json {
        return output::print_json(&summary);
    }
    let page = page.is_ok().then(|| directory.report_path());
    output::print(&summary.text(&args, &trained, exported.errors.rows, page.as_deref()))
}

/// What a run begins with.
struct Prepared {
    data: Dataset,
    test: Option<HeldOut>,
    config: Config,
    warnings: Vec<Warned>,
}

/// Where a run is kept, and what was there.
struct Kept {
    directory: RunDirectory,
    checkpoint: Option<Checkpoint>,
}

fn prepare(args: &mut Args, writes: bool) -> anyhow::Result<Prepared> {
    // What no number of rows can mend is refused before anything is read or said.
    if writes {
        check_out(args, &run_dir(args))?;
    }
    args.settings.config(LEAST_ROWS)?;
    let (data, test, warnings) = read_rows(args)?;
    let config = Config { checkpoint_every: args.checkpoint_every, ..args.settings.config(data.rows())? };
    if let (true, Some(name)) = (args.strip_names, args.rows.words.first()) {
        return Err(mistake(format!(
            "--strip-names: column {name:?} holds words, which only the names of its inputs tell; expected the names in the \
             model, or --ignore {}",
            console::quoted(name)
        )));
    }
    if !args.strip_names {
        data.check_name_lengths().with_context(|| args.rows.data.display().to_string())?;
    }
    if let Some(note) = args.settings.note_short_run(data.rows()) {
        tell!("note: {note}");
    }
    if writes {
        let test_rows = args.test_rows.test_rows.as_deref();
        output::check_writable("--out", &args.out, &[Some(&args.rows.data), test_rows, args.file.path()])?;
        run_directory::check_out(&args.out, &run_dir(args), args.max_bytes.is_some() || args.integers)?;
    }
    Ok(Prepared { data, test, config, warnings })
}

/// Leaves out what `--select` finds to be worth nothing: the same in all processes, which train for it together.
fn select(args: &mut Args, data: &mut Dataset, test: &mut Option<HeldOut>, ranks: &Ranks) -> anyhow::Result<Selection> {
    let (selection, inputs) = select::select(data, args, &ranks.threads(args.settings.options.threads)?)?;
    *data = data.without_inputs(&inputs);
    test.iter_mut().for_each(|test| test.rows = test.rows.without_inputs(&inputs));
    args.rows.layout.ignore.extend(selection.dropped.iter().cloned());
    Ok(selection)
}

/// The run directory, described, and the checkpoint to go on from.
fn open(args: &Args, data: &Dataset, config: &Config) -> anyhow::Result<Kept> {
    let run_dir = run_dir(args);
    let lock = RunDirectory::lock(&run_dir)?;
    if !args.force {
        run_directory::check_kept(&run_dir, args.resume)?;
    }
    let checkpoint = if args.resume { run_directory::read_checkpoint(&run_dir)? } else { None };
    if let Some(checkpoint) = &checkpoint {
        let refused =
            |error| mistake(format!("--resume: {}: {error}", run_directory::checkpoint_path(&run_dir).display()));
        checkpoint.check(data, config).map_err(refused)?;
    } else if args.resume {
        tell!("note: no checkpoint in {}; starting from the beginning", run_dir.display());
    }
    let directory = RunDirectory::open(&run_dir, lock, checkpoint.as_ref())?;
    directory.describe(options(args, config)?, config, data, checkpoint.is_some())?;
    Ok(Kept { directory, checkpoint })
}

fn run_dir(args: &Args) -> PathBuf {
    args.run_dir.clone().unwrap_or_else(|| args.out.with_extension("run"))
}

/// The checkpoint that the first process has read: others may not see its files.
fn checkpoint_of_first(ranks: &Ranks, own: Option<Checkpoint>) -> anyhow::Result<Option<Checkpoint>> {
    if ranks.are_one() {
        return Ok(own);
    }
    let bytes = ranks.share_of_first(own.as_ref().map_or(Vec::new(), Checkpoint::to_bytes))?;
    match own {
        None if !bytes.is_empty() => Checkpoint::from_bytes(&bytes).map(Some).map_err(anyhow::Error::msg),
        own => Ok(own),
    }
}

/// Refuses a model file that cannot be written, or would replace what is to be kept.
fn check_out(args: &Args, run_dir: &Path) -> anyhow::Result<()> {
    let test_rows = args.test_rows.test_rows.as_deref();
    output::check_writable("--out", &args.out, &[Some(&args.rows.data), test_rows, args.file.path()])?;
    run_directory::check_out(&args.out, run_dir, args.max_bytes.is_some() || args.integers)?;
    // A run that goes on replaces what it has left itself.
    let is_own = args.resume && run_directory::left(run_dir, &args.out);
    keep::check_model("--out", &args.out, args.force || is_own)
}

/// The model within --max-bytes, and what was said about it if it had to be compressed.
fn compressed(
    args: &Args,
    data: &Dataset,
    exported: Exported,
    threads: &Threads,
) -> anyhow::Result<(Exported, Option<Compressed>)> {
    let too_large = args.max_bytes.filter(|&most| exported.bytes.len() > most);
    let size = console::bytes(exported.bytes.len());
    match (too_large, args.integers) {
        (None, false) => return Ok((exported, None)),
        (Some(most), false) => tell!("compressing {size} to at most {}", console::bytes(most)),
        (_, true) => tell!("rounding {size} to integers"),
    }
    let goal = Goal { max_bytes: args.max_bytes, integers: args.integers, ..Goal::default() };
    let inputs: Vec<f32> = (0..data.rows()).flat_map(|row| data.input_row(row)).copied().collect();
    let work = |model: &Model<'_>| Core::M4f.work(model).instructions_per_sampled_path;
    let most = args.max_bytes.unwrap_or_default();
    let refused = |error| match error {
        CompressError::NotFixed(_) => mistake(format!("--integers: {error}; the model itself is in the run directory")),
        CompressError::OutOfReach { .. } => mistake(format!(
            "--max-bytes {most}: {error}; the whole model is in the run directory, allow more or train with fewer \
             --inducing points"
        )),
        error => error.into(),
    };
    let small = compress::compress(&exported.bytes, &inputs, &goal, &work, &mut |_| (), threads).map_err(refused)?;
    if ModelFile::new(&exported.bytes)?.model().blob().calibration().is_some() {
        tell!("{UNCALIBRATED}");
    }
    if let Some(warning) = small.curve.last().and_then(|point| much_lost(point.loss)) {
        tell!("warning: {warning}");
    }
    // Of a compressed model the file says how far it is from the whole one.
    let file = ModelFile::new(&small.bytes)?;
    let header = *file.model().blob().header();
    let errors = Errors {
        mean: header.mean_error.into(),
        variance: header.variance_error.into(),
        rows: header.checked_rows as usize,
    };
    Ok((Exported { bytes: small.bytes.clone(), errors }, Some(small)))
}

/// The training rows, the held-out rows with their numbers, and what looks wrong in them.
fn read_rows(args: &mut Args) -> anyhow::Result<(Dataset, Option<HeldOut>, Vec<Warned>)> {
    args.rows.layout.leave_out(args.test_rows.test_groups.as_deref());
    let data = match args.rows.read(&mut args.settings) {
        Err(error) if args.select => {
            let kept = by_rank_correlation(args, error)?;
            tell!("note: the {kept} inputs that go most with the target are kept, by the rank correlation in all rows");
            args.rows.read(&mut args.settings)?
        }
        read => read?,
    };
    let target = args.rows.target.as_deref().unwrap_or_default();
    let numbers = args.test_rows.read(&args.rows.data, data.rows(), &args.rows.layout, target)?;
    let warnings = dirt::tell_about(&data, numbers.as_deref().unwrap_or_default());
    let (data, test) = match numbers {
        Some(numbers) => {
            let (data, rows) = data.hold_out(&numbers)?;
            (data, Some(HeldOut { rows, numbers }))
        }
        None => (data, None),
    };
    class_notes::tell_about(&data, test.as_ref().map(|test| &test.rows));
    // Before anything is written.
    if data.rows() < 2 {
        return Err(training_failed(&args.rows.data, TrainError::TooFewRows { rows: data.rows() }));
    }
    Ok((data, test, warnings))
}

/// Leaves out the columns that a model has no room for, if that is what was wrong; how many stay.
fn by_rank_correlation(args: &mut Args, error: anyhow::Error) -> anyhow::Result<usize> {
    match error.downcast_ref() {
        Some(DataError::ManyInputs { kept, leave_out, .. }) if !kept.is_empty() => {
            args.rows.layout.ignore.extend(leave_out.iter().cloned());
            Ok(kept.len())
        }
        _ => Err(error),
    }
}

/// Held-out rows: no part of training, shown in the report.
struct HeldOut {
    rows: Dataset,
    numbers: Vec<usize>,
}

/// What the inputs are to the model; nothing if it overflows on rows with an input of another row.
fn relevance(
    data: &Dataset,
    test: Option<&HeldOut>,
    blob: &[u8],
    threads: &Threads,
) -> anyhow::Result<Vec<relevant::Relevant>> {
    let rows = test.map_or(data, |test| &test.rows);
    let known: Vec<Known<'_>> = (0..rows.rows()).map(|row| Known::of(rows, row, row)).collect();
    Ok(relevant::measure(&ModelFile::new(blob)?.model(), &known, threads).unwrap_or_default())
}

/// The page about the model and the one to play with it, on the held-out rows if there are some.
fn write_report(
    args: &Args,
    config: &Config,
    data: &Dataset,
    test: Option<&HeldOut>,
    (trained, blob): (&Trained, &[u8]),
    directory: &RunDirectory,
    threads: &Threads,
) -> anyhow::Result<()> {
    let numbers: Vec<usize> = (0..data.rows()).collect();
    let (rows, numbers, described) = match test {
        Some(test) => (&test.rows, &test.numbers, "Held-out rows"),
        None => {
            (data, &numbers, "Training rows, which flatter; hold rows out with --test-share 0.2 for an honest picture")
        }
    };
    let (model, name) = (ModelFile::new(blob)?, report::file_name(&args.out));
    let known: Vec<Known<'_>> = (0..rows.rows()).map(|row| Known::of(rows, row, numbers[row])).collect();
    let shown = Rows { known: &known, described: &format!("{described}.") };
    directory.explore(&Page { file: &model, name: &name, rows: Some(shown) }.html()?)?;
    let html = Report {
        model: &model,
        name: &name,
        rows: &known,
        described,
        metrics: Some(directory.metrics_path()),
        choices: &choices(trained),
        threads,
        options: Some(&options(args, config)?.to_string()),
        beside_explore: true,
    }
    .html()?;
    directory.report(&html)
}

/// The user has interrupted the run.
fn stopped(path: &Path, trained: &Trained) -> anyhow::Error {
    let at = trained.cut.map_or(0, |cut| cut.iteration);
    let bars = if trained.calibration.is_some() { "" } else { ", error bars not calibrated" };
    anyhow::anyhow!(
        "stopped at iteration {at}; {} is the best model so far{bars}; a checkpoint was left, go on with: {} --resume",
        console::quoted(&path.to_string_lossy()),
        training::this_command()
    )
}

/// The options of this run, for `--config`.
fn options(args: &Args, config: &Config) -> anyhow::Result<toml::Table> {
    let mut table = settings::to_toml(config)?;
    let mut put = |key: &str, value: String| table.insert(key.to_owned(), value.into());
    put("target", args.rows.target.clone().unwrap_or_default());
    if !args.rows.layout.ignore.is_empty() {
        put("ignore", args.rows.layout.ignore.join(","));
    }
    if let Some(answer) = args.rows.layout.answer() {
        put("header", answer.to_owned());
    }
    if let Some(how) = args.rows.layout.missing_typed() {
        put("missing", how.to_owned());
    }
    put("out", args.out.display().to_string());
    args.test_rows.typed().into_iter().for_each(|(name, value)| drop(put(name, value)));
    if let Some(column) = &args.rows.groups {
        put("groups", column.clone());
    }
    if let Some(blocks) = args.rows.blocks {
        put("blocks", blocks.to_string());
    }
    table.insert("strip-names".to_owned(), args.strip_names.into());
    if let Some(most) = args.max_bytes {
        table.insert("max-bytes".to_owned(), settings::whole_number(most as u64));
    }
    if args.integers {
        table.insert("integers".to_owned(), true.into());
    }
    if let Some(limit) = &args.time_limit {
        table.insert("time-limit".to_owned(), limit.typed.clone().into());
    }
    table.insert("checkpoint-every".to_owned(), settings::whole_number(args.checkpoint_every));
    Ok(table)
}
