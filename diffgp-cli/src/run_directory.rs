//! The run directory: everything that a run leaves beside the model.
//!
//! ```text
//! config.toml     the options, for `diffgp train DATA.csv --config config.toml`
//! run.json        the whole configuration, the data, and the programs and processors that took part
//! metrics.jsonl   one object per iteration and per look at the validation rows
//! checkpoint      from which `--resume` goes on
//! lock            held by the process that trains here
//! model.dgp       the model
//! stopped.dgp     the best model so far, of a run that was interrupted
//! report.html     figures and pictures in one page
//! explore.html    a page to play with the model
//! ```

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use diffgp_train::checkpoint::{Checkpoint, CheckpointError};
use diffgp_train::data::Dataset;
use diffgp_train::own_file;
use diffgp_train::provenance::Provenance;
use diffgp_train::train::{Config, Progress, Validated};
use serde_json::{Value, json};

use super::failure::mistake;
use super::output;
use super::run_lock::RunLock;

const MODEL: &str = "model.dgp";
const LOCK: &str = "lock";
/// The best model of a run that was interrupted.
const STOPPED: &str = "stopped.dgp";
const OPTIONS: &str = "config.toml";
/// The page to play with; the report links to it.
pub(crate) const EXPLORE: &str = "explore.html";
/// Everything in it.
const FILES: [&str; 9] =
    [OPTIONS, "run.json", "metrics.jsonl", "checkpoint", LOCK, MODEL, STOPPED, "report.html", EXPLORE];

/// A run directory that is being written.
pub(crate) struct RunDirectory {
    path: PathBuf,
    metrics: BufWriter<File>,
    _lock: RunLock,
}

impl RunDirectory {
    /// Creates the directory, or takes over an empty one or an earlier run's that no other process writes to.
    pub(crate) fn lock(path: &Path) -> anyhow::Result<RunLock> {
        fs::create_dir_all(path).map_err(|error| refused(path, &error))?;
        check_own(path)?;
        let lock = RunLock::take(path)?;
        remove_partial_files(path);
        output::check_writable("--run-dir", &path.join(MODEL), &[])?;
        Ok(lock)
    }

    /// Begins to record a run. Going on after `resumed`, the metrics up to there stay.
    pub(crate) fn open(path: &Path, lock: RunLock, resumed: Option<&Checkpoint>) -> anyhow::Result<Self> {
        let metrics = path.join("metrics.jsonl");
        let kept = match resumed {
            Some(checkpoint) => lines_before(&metrics, checkpoint),
            None => {
                // A checkpoint of an earlier run must not be taken for one of this run.
                let _ = fs::remove_file(checkpoint_path(path));
                String::new()
            }
        };
        // What is going on now will have a better one.
        let _ = fs::remove_file(path.join(STOPPED));
        let file = output::replace(&metrics, kept.as_bytes())?;
        Ok(Self { path: path.to_owned(), metrics: BufWriter::new(file), _lock: lock })
    }

    /// Records what is being done, before it is done. A run that goes on stays one of all the machines that it was on.
    pub(crate) fn describe(
        &self,
        options: toml::Table,
        config: &Config,
        data: &Dataset,
        resumed: bool,
    ) -> anyhow::Result<()> {
        output::replace(&self.path.join(OPTIONS), options.to_string().as_bytes())?;
        let path = self.path.join("run.json");
        let mut provenance = if resumed { provenance_before(&path) } else { Vec::new() };
        let here = Provenance::here();
        if !provenance.contains(&here) {
            provenance.push(here);
        }
        let run = json!({
            "provenance": provenance,
            "data": {
                "rows": data.rows(), "inputs": data.names(),
                "target": data.target_names().map(|names| names.join(",")), "classes": data.classes(),
                "fingerprint": format!("{:016x}", data.fingerprint()),
            },
            "config": config,
        });
        output::replace(&path, (serde_json::to_string_pretty(&run)? + "\n").as_bytes()).map(drop)
    }

    /// Records an iteration.
    pub(crate) fn iteration(&mut self, progress: &Progress) -> io::Result<()> {
        let line = json!({
            "stage": progress.stage.index, "name": progress.stage.name.id(), "fold": progress.stage.fold, "iteration": progress.iteration, "elbo": progress.elbo,
            "expected_log_likelihood": progress.expected_log_likelihood, "kl_predictor": progress.kl_predictor,
            "kl_flow": progress.kl_flow, "noise": progress.noise, "learning_rate": progress.learning_rate,
        });
        writeln!(self.metrics, "{line}").map_err(|error| self.named("metrics.jsonl", &error))
    }

    /// Records a look at the validation rows, and makes sure that everything so far is in the file.
    pub(crate) fn validation(&mut self, validated: &Validated) -> io::Result<()> {
        let score = validated.score;
        let line = json!({
            "stage": validated.stage.index, "name": validated.stage.name.id(), "fold": validated.stage.fold, "iteration": validated.iteration, "validation": {
                "n": score.rows, "log_likelihood": score.log_likelihood, "rmse": score.rmse, "auc": score.auc,
                "accuracy": score.accuracy, "best": validated.best,
            },
        });
        writeln!(self.metrics, "{line}").map_err(|error| self.named("metrics.jsonl", &error))?;
        self.flush()
    }

    /// Keeps a checkpoint; the metrics up to it are in their file first.
    pub(crate) fn checkpoint(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        self.flush()?;
        checkpoint.write(&checkpoint_path(&self.path)).map_err(|error| self.named("checkpoint", &error))
    }

    /// Keeps the page about the finished model.
    pub(crate) fn report(&self, html: &str) -> anyhow::Result<()> {
        output::replace(&self.report_path(), html.as_bytes()).map(drop)
    }

    /// Keeps the page to play with.
    pub(crate) fn explore(&self, html: &str) -> anyhow::Result<()> {
        output::write(&self.explore_path(), html.as_bytes())
    }

    /// Where that is.
    pub(crate) fn explore_path(&self) -> PathBuf {
        self.path.join(EXPLORE)
    }

    /// Where the page about the model is.
    pub(crate) fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Where the metrics are.
    pub(crate) fn metrics_path(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// Records that the run ended before its plan did.
    pub(crate) fn cut(&self, cut: &Value) -> anyhow::Result<()> {
        let path = self.path.join("run.json");
        let text = own_file::read(&path)?;
        let mut run: Value = serde_json::from_slice(&text)?;
        run["cut"] = cut.clone();
        output::replace(&path, (serde_json::to_string_pretty(&run)? + "\n").as_bytes()).map(drop)
    }

    /// Keeps the best model of a run that was interrupted; where it is.
    pub(crate) fn stopped(&mut self, bytes: &[u8]) -> anyhow::Result<PathBuf> {
        self.flush()?;
        let path = self.path.join(STOPPED);
        output::replace(&path, bytes)?;
        Ok(path)
    }

    /// Keeps the finished model.
    pub(crate) fn model(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.flush()?;
        output::replace(&self.path.join(MODEL), bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.metrics.flush().map_err(|error| self.named("metrics.jsonl", &error))
    }

    /// The error with the file that it is about.
    fn named(&self, file: &str, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", self.path.join(file).display()))
    }
}

/// Refuses a model file that is the directory, or one of its files that the model would replace.
pub(crate) fn check_out(out: &Path, directory: &Path, compressed: bool) -> anyhow::Result<()> {
    let shown = out.display();
    if output::same_place(out, directory) {
        return Err(mistake(format!(
            "--out {shown}: the run directory has that name; expected another name, or another --run-dir"
        )));
    }
    // Where nothing is compressed, both models are the same.
    let taken = FILES.iter().filter(|&&name| compressed || name != MODEL);
    match taken.into_iter().find(|name| output::same_place(out, &directory.join(name))) {
        Some(name) => Err(mistake(format!(
            "--out {shown}: the run directory keeps its own {name} there; expected another name or place"
        ))),
        None => Ok(()),
    }
}

/// Refuses to begin anew where a run has ended, or was left to be gone on with.
pub(crate) fn check_kept(directory: &Path, resume: bool) -> anyhow::Result<()> {
    let shown = directory.display();
    let can_go_on = checkpoint_path(directory).exists();
    let ended = directory.join(MODEL).exists();
    match (ended, can_go_on) {
        (false, false) => Ok(()),
        (_, true) if resume => Ok(()),
        (true, _) => Err(mistake(format!(
            "--run-dir {shown}: a finished run is there, and is kept; expected another directory, or --force to replace it"
        ))),
        (false, true) => Err(mistake(format!(
            "--run-dir {shown}: an unfinished run is there; expected --resume to go on with it, --force to begin anew, or \
             another directory"
        ))),
    }
}

/// Whether the run in this directory, which can be gone on with, is one that writes its model there.
pub(crate) fn left(directory: &Path, out: &Path) -> bool {
    let options = own_file::read(&directory.join(OPTIONS)).ok().and_then(|text| String::from_utf8(text).ok());
    let options: Option<toml::Table> = options.and_then(|text| text.parse().ok());
    let written = options.as_ref().and_then(|options| options.get("out")?.as_str());
    checkpoint_path(directory).exists() && written.is_some_and(|written| output::same_place(Path::new(written), out))
}

/// Refuses a directory with files that are not a run's: some of them have names that a run writes to. A link is not a
/// run's either, nor a pipe.
fn check_own(directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    if let Some(name) = FILES.iter().find(|name| own_file::is_foreign(&directory.join(name))) {
        return Err(mistake(format!(
            "--run-dir {shown}: {name} is a link, a pipe or a folder there, where a run keeps a file; remove it, or choose \
             another directory"
        )));
    }
    let is_run = [LOCK, "run.json"].iter().any(|name| directory.join(name).exists());
    let mut entries = fs::read_dir(directory).map_err(|error| refused(directory, &error))?;
    if is_run || entries.next().is_none() {
        return Ok(());
    }
    Err(mistake(format!("--run-dir {shown}: files are there and it is not a run directory; choose an empty one")))
}

/// Removes what a run leaves that was killed while it wrote a file.
fn remove_partial_files(directory: &Path) {
    let is_own = |name: &OsStr| name == "checkpoint.partial" || FILES.iter().any(|file| output::is_partial(name, file));
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_own(&entry.file_name())) {
        let _ = fs::remove_file(entry.path());
    }
}

fn refused(path: &Path, error: &io::Error) -> anyhow::Error {
    mistake(format!("--run-dir {}: {error}; expected a directory that can be written to", path.display()))
}

/// Where a run directory keeps its checkpoint.
pub(crate) fn checkpoint_path(directory: &Path) -> PathBuf {
    directory.join("checkpoint")
}

/// The checkpoint to go on from; `None` if the run was killed before its first.
pub(crate) fn read_checkpoint(directory: &Path) -> anyhow::Result<Option<Checkpoint>> {
    match Checkpoint::read(&checkpoint_path(directory)) {
        Err(CheckpointError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        read => Ok(Some(read.with_context(|| format!("--resume {}", directory.display()))?)),
    }
}

/// The machines that a run was on until now.
fn provenance_before(run: &Path) -> Vec<Provenance> {
    let text = own_file::read(run).unwrap_or_default();
    let run: Value = serde_json::from_slice(&text).unwrap_or_default();
    serde_json::from_value(run["provenance"].clone()).unwrap_or_default()
}

/// The lines of iterations that will not be done again. A last line that a crash cut short is not one of them.
fn lines_before(metrics: &Path, checkpoint: &Checkpoint) -> String {
    let is_before = |line: &&str| {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return false };
        let place = value["stage"].as_u64().zip(value["iteration"].as_u64());
        place.is_some_and(|(stage, iteration)| (stage as usize, iteration) < checkpoint.place())
    };
    let text = String::from_utf8(own_file::read(metrics).unwrap_or_default()).unwrap_or_default();
    text.lines().filter(is_before).map(|line| format!("{line}\n")).collect()
}
