//! One split after the other: trained, exported, and scored on its held-out rows with the device's own code.

use std::time::{Duration, Instant, SystemTime};

use diffgp_infer::Model;
use diffgp_train::data::Dataset;
use diffgp_train::device_cost::Core;
use diffgp_train::evaluate::{Figures, Known, OutputFigures, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::provenance::Provenance;
use diffgp_train::threads::Threads;
use diffgp_train::train::{self, Config, Observer, Plan, Progress, TrainError, Trained, Validated, Warning};
use serde::{Deserialize, Serialize};

use super::Args;
use super::bars::Bars;
use super::journal::{self, Experiment, Journal, Line, SplitFigures};
use crate::console::{self, tell};
use crate::eval::NamedOutput;
use crate::failure::training_failed;
use crate::interrupt;
use crate::progress::Reporter;
use crate::ranks::Ranks;

/// Training rows that are scored at most, evenly spread: enough to see how closely they are fitted.
const TRAINING_ROWS_SCORED: usize = 2000;

/// A split with one of the flow times.
pub(super) struct Job<'a> {
    pub(super) split: usize,
    pub(super) held_out: &'a [usize],
    pub(super) flow_time: f64,
}

/// What all splits are trained with.
pub(super) struct Work<'a> {
    pub(super) args: &'a Args,
    pub(super) data: &'a Dataset,
    pub(super) threads: &'a Threads,
}

/// A split that is about to be trained, or was.
struct Prepared {
    training: Dataset,
    test: Dataset,
    config: Config,
    key: Experiment,
}

impl Work<'_> {
    fn prepare(&self, job: &Job<'_>) -> anyhow::Result<Prepared> {
        let (training, test) = self.data.clone().hold_out(job.held_out)?;
        let settings = self.args.settings.with_flow_time(job.flow_time);
        let config = settings.config(training.rows())?;
        let key = Experiment::new(&settings.options, &training, &test, self.args.test_paths)?;
        Ok(Prepared { training, test, config, key })
    }

    /// What the journal holds of every job.
    pub(super) fn finished(&self, jobs: &[Job<'_>], journal: Option<&Journal>) -> anyhow::Result<Vec<Option<Line>>> {
        let Some(journal) = journal else { return Ok(vec![None; jobs.len()]) };
        jobs.iter().map(|job| Ok(journal.find(&self.prepare(job)?.key, job.split))).collect()
    }

    /// The figures of one split, computed now.
    pub(super) fn train(&self, job: &Job<'_>) -> anyhow::Result<Line> {
        let (start, processor) = (Instant::now(), journal::processor_seconds());
        let Prepared { training, test, config, key } = self.prepare(job)?;
        let (trained, bound) = self.train_rows(job.split, &training, &config)?;
        let exported = trained.export_without_names(&training)?;
        let file = ModelFile::new(&exported.bytes)?;
        let known = |(row, &number): (usize, &usize)| Known::of(&test, row, number);
        let rows: Vec<_> = job.held_out.iter().enumerate().map(known).collect();
        let stride = training.rows().div_ceil(TRAINING_ROWS_SCORED);
        let training_rows: Vec<_> =
            (0..training.rows()).step_by(stride).map(|row| Known::of(&training, row, row)).collect();
        let model = file.model();
        let sampling = Sampling::Paths { count: self.args.test_paths, seed: 0 };
        let sampled = score(&model, &rows, sampling, self.threads)?;
        let calibration_rows = trained.calibration.as_ref().map_or(0, |calibration| calibration.rows);
        let work = Core::M4f.work(&model);
        let flow = trained.params.flow.as_ref();
        Ok(Line {
            key,
            split: job.split,
            flow_time: job.flow_time,
            training_steps: flow.map_or(0, |_| config.flow.training_steps()),
            steps: flow.map_or(0, |flow| flow.steps),
            discretisation_error: trained.discretisation.map(|of| of.error),
            n: sampled.rows,
            figures: figures(&sampled),
            coverage: sampled.only_output().map(OutputFigures::coverage_50_90_95),
            outputs: NamedOutput::several(&self.target_names(), &sampled),
            bars: Bars::of(&file, calibration_rows, &rows, sampling, self.threads)?,
            ten_paths: scored(&model, &rows, Sampling::Paths { count: 10, seed: 0 }, self.threads)?,
            drift: scored(&model, &rows, Sampling::Drift, self.threads)?,
            training: scored(&model, &training_rows, Sampling::Paths { count: 10, seed: 0 }, self.threads)?,
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
        })
    }

    fn train_rows(&self, split: usize, rows: &Dataset, config: &Config) -> anyhow::Result<(Trained, Option<f64>)> {
        let mut watch = Watch { reporter: Reporter::of_split(split), bound: None };
        let outcome = train::train(rows, config, &mut watch);
        watch.reporter.finish();
        match outcome {
            Ok(trained) => Ok((trained, watch.bound)),
            Err(TrainError::Stopped { .. }) => Err(anyhow::anyhow!(
                "stopped; finished splits are in {}, and the same command goes on from there",
                self.args.journal().display()
            )),
            Err(error) => Err(training_failed(&self.args.rows.data, error)),
        }
    }

    /// As the data has them, or as they were asked for.
    fn target_names(&self) -> Vec<String> {
        let asked = || self.args.rows.target.iter().flat_map(|targets| targets.split(',').map(str::to_owned)).collect();
        self.data.target_names().map_or_else(asked, <[String]>::to_vec)
    }
}

/// What a process has found in a round, for the one that writes.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) line: Option<Line>,
    /// What it would have told people.
    said: Vec<String>,
}

/// What all processes have found.
pub(super) fn shared(ranks: &Ranks, line: Option<&Line>, said: Vec<String>) -> anyhow::Result<Vec<Found>> {
    let own = Found { line: line.cloned(), said };
    if ranks.are_one() {
        return Ok(vec![own]);
    }
    let texts = ranks.share_texts(&serde_json::to_string(&own)?)?;
    texts.iter().map(|text| Ok(serde_json::from_str(text)?)).collect()
}

/// Keeps and shows what one of them has found, where that is written.
pub(super) fn keep(found: &Found, journal: Option<&mut Journal>) -> anyhow::Result<()> {
    found.said.iter().for_each(|said| tell!("{said}"));
    if let Some((journal, line)) = journal.zip(found.line.as_ref()) {
        journal.append(line)?;
        tell!("{line}  {}", console::duration(Duration::from_secs_f64(line.seconds)));
    }
    Ok(())
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
