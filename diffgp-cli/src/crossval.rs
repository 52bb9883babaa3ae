//! `diffgp crossval`: the same training on many splits and flow times, with means and standard errors.

mod bars;
mod journal;
mod splits;
mod summary;
mod work;

use std::path::PathBuf;

use diffgp_train::data::Dataset;

use self::journal::{Journal, Line};
use self::summary::Report;
use self::work::{Job, Work};
use super::console::tell;
use super::failure::mistake;
use super::file_options::FileOption;
use super::labelled::LabelledArgs;
use super::ranks::{self, Ranks};
use super::settings::Settings;
use super::{class_notes, console, dirt, interrupt, output};

/// Train and score on many splits, for several flow times.
///
/// Every split is trained on its training rows alone, exported, and scored on its held-out rows with the device's own
/// code. One line per finished split goes to --out; the same command started again goes on where it stopped. Splits
/// that an older recipe trained are trained anew; --finished shows them, and says so. Under mpirun or srun a diffgp built
/// with the feature mpi trains as many splits at a time as there are processes.
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

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    ranks::together(|ranks| run_rank(args, ranks))
}

/// What one of several processes does: splits are handed out in rounds, and the first keeps and shows what all have found.
fn run_rank(mut args: Args, ranks: &Ranks) -> anyhow::Result<()> {
    let prepared = prepare(&mut args, ranks.is_first());
    let Prepared { data, splits, mut journal } = ranks.agree(prepared)?;
    interrupt::listen()?;
    args.settings.options.threads = Some(ranks.thread_count(args.settings.options.threads));
    let threads = args.settings.threads()?;
    ranks.introduce(threads.count());
    let work = Work { args: &args, data: &data, threads: &threads };
    let jobs: Vec<Job<'_>> = splits
        .iter()
        .flat_map(|(split, held_out)| {
            args.flow_times.iter().map(|&time| Job { split: *split, held_out, flow_time: time })
        })
        .collect();
    let mut lines = ranks.agree(work.finished(&jobs, journal.as_ref()))?;
    // The first alone has looked.
    let known = lines.iter().map(|line| u8::from(line.as_ref().is_some_and(Line::is_current))).collect();
    let known = ranks.share_of_first(known)?;
    let mut left: Vec<usize> = (0..jobs.len()).filter(|&job| known[job] == 0 && !args.finished).collect();
    if !ranks.are_one() {
        // What is trained in the same round takes about as long.
        left.sort_by(|&a, &b| jobs[b].flow_time.total_cmp(&jobs[a].flow_time));
    }
    for round in left.chunks(ranks.size()) {
        let own = round.get(ranks.rank()).map(|&job| console::overheard(|| work.train(&jobs[job])));
        let (own, said) = own.map_or((Ok(None), Vec::new()), |(line, said)| (line.map(Some), said));
        let found = ranks.agree(work::shared(ranks, own.as_ref().ok().and_then(Option::as_ref), said))?;
        let kept = found.iter().try_for_each(|found| work::keep(found, journal.as_mut()));
        ranks.agree(own.and(kept))?;
        round.iter().zip(found).for_each(|(&job, found)| lines[job] = found.line);
    }
    let Some(journal) = journal else { return Ok(()) };
    let lines: Vec<Line> = lines.into_iter().flatten().collect();
    if lines.is_empty() {
        return Err(mistake(format!("{} holds no finished split of these settings", journal.path().display())));
    }
    let report = Report::new(args.settings.task(), &args.flow_times, &lines);
    for note in report.notes() {
        tell!("note: {note}");
    }
    if args.json { output::print_json(&report) } else { output::print(&report.text()) }
}

/// What the comparison begins with.
struct Prepared {
    data: Dataset,
    /// Number and held-out rows of each.
    splits: Vec<(usize, Vec<usize>)>,
    /// Of the process that writes.
    journal: Option<Journal>,
}

fn prepare(args: &mut Args, writes: bool) -> anyhow::Result<Prepared> {
    if args.settings.options.flow_time.is_some() {
        return Err(mistake("--flow-time is for train; expected --flow-times with a list, as in --flow-times 0,5"));
    }
    for (index, time) in args.flow_times.iter().enumerate() {
        if args.flow_times[..index].contains(time) {
            return Err(mistake(format!("--flow-times: {time} is there twice; expected every flow time once")));
        }
    }
    let data = args.rows.read(&mut args.settings)?;
    let splits = splits::held_out_rows(args, &data)?;
    dirt::tell_about(&data, splits.first().map_or(&[][..], |(_, held_out)| held_out.as_slice()));
    class_notes::tell_about_splits(&data, splits.iter().map(|(_, held_out)| held_out.as_slice()));
    let journal = if writes { Some(open_journal(args)?) } else { None };
    // All settings are checked before the first split is trained.
    let configs = args.flow_times.iter().map(|&time| args.settings.with_flow_time(time).config(data.rows()));
    configs.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Prepared { data, splits, journal })
}

impl Args {
    /// Where finished splits are kept.
    fn journal(&self) -> PathBuf {
        let beside = || self.rows.data.with_extension("crossval.jsonl").file_name().unwrap_or_default().into();
        self.out.clone().unwrap_or_else(beside)
    }
}

fn open_journal(args: &Args) -> anyhow::Result<Journal> {
    let path = args.journal();
    output::check_writable("--out", &path, &[Some(&args.rows.data), args.test_rows.as_deref(), args.file.path()])?;
    if output::is_special(&path) {
        let path = path.display();
        return Err(mistake(format!(
            "--out {path}: not a regular file; expected one, finished splits are read from it"
        )));
    }
    Journal::open(&path)
}
