//! `--select`: inputs without which rows that were kept aside are predicted as well.
//!
//! A model without a flow is trained on four fifths of the training rows; the others tell what is lost if an input comes from
//! another row. Copies of others, and those that cost less than 0.01 nats per row or than the standard error of that, go, if a model trained
//! without them costs no more on the same rows; if it does, the half of them that cost least is tried, and so on. Then the same
//! with the inputs that are left, until every one is worth keeping.

use anyhow::Context;
use diffgp_train::Dataset;
use diffgp_train::calibration::CalibrationMode;
use diffgp_train::comparison::Gain;
use diffgp_train::dirt::copies;
use diffgp_train::evaluate::{Known, Sampling, log_likelihoods};
use diffgp_train::model_file::ModelFile;
use diffgp_train::relevance::{self, LEAST_LOSS};
use diffgp_train::threads::Threads;
use diffgp_train::train::train_on;
use serde::Serialize;

use crate::console::tell;
use crate::failure::{mistake, training_failed};
use crate::test_rows::{random_rows, whole_groups};

use super::Args;

/// Of the training rows, to judge by.
const SHARE: f64 = 0.2;
/// Rows that it takes.
const FEW_ROWS: usize = 50;
/// Rows that are asked at most.
const MOST_ROWS: usize = 1000;

/// What was dropped.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Selection {
    /// The columns.
    pub(super) dropped: Vec<String>,
    /// Nats per row that a model without a flow loses without them; null if none was dropped.
    pub(super) cost: Option<f64>,
    pub(super) cost_se: Option<f64>,
    /// Rows that it was measured on.
    pub(super) rows: usize,
}

/// What `--select` leaves out of the training rows: the columns, and the places of their inputs.
pub(super) fn select(data: &Dataset, args: &Args, threads: &Threads) -> anyhow::Result<(Selection, Vec<usize>)> {
    let path = args.rows.data.display();
    if data.names().is_none() {
        return Err(mistake(format!("--select: {path} has no header; expected names, by which inputs are dropped")));
    }
    if data.rows() < FEW_ROWS {
        let rows = data.rows();
        return Err(mistake(format!("--select: {path} has {rows} rows to train on; expected {FEW_ROWS} at least")));
    }
    let wanted = (SHARE * data.rows() as f64) as usize;
    let apart = match data.groups() {
        Some(groups) => whole_groups(groups, wanted, 0).context("--select: all rows are of one group")?,
        None => random_rows(data.rows(), wanted, 0),
    };
    let (training, apart) = data.clone().hold_out(&apart)?;
    let judged: Vec<usize> = (0..apart.rows()).step_by(apart.rows().div_ceil(MOST_ROWS).max(1)).collect();
    tell!("selecting inputs by a model without a flow of {} rows, on {} others", training.rows(), judged.len());
    let mut best = Candidate::new(training, apart, &judged, args, threads)?;
    let (whole, mut dropped) = (best.log_likelihoods.clone(), Vec::new());
    while let Some((columns, smaller)) = best.smaller(&judged, args, threads)? {
        dropped.extend(columns);
        best = smaller;
    }
    if dropped.is_empty() {
        tell!("note: every input is worth {LEAST_LOSS} nats per row or more; none is left out");
    }
    // What the whole model has over the smaller one.
    let cost = Gain::paired(&whole, &best.log_likelihoods).filter(|_| !dropped.is_empty());
    let kept = best.training.names().unwrap_or_default();
    let names = data.names().unwrap_or_default();
    let inputs = (0..names.len()).filter(|&input| !kept.contains(&names[input])).collect();
    let selection = Selection {
        dropped,
        cost: cost.map(|cost| cost.mean),
        cost_se: cost.map(|cost| cost.standard_error),
        rows: judged.len(),
    };
    Ok((selection, inputs))
}

/// Rows with some of the inputs, and the model of them.
struct Candidate {
    training: Dataset,
    apart: Dataset,
    file: ModelFile,
    /// Of the rows that are asked.
    log_likelihoods: Vec<f64>,
}

impl Candidate {
    fn new(
        training: Dataset,
        apart: Dataset,
        judged: &[usize],
        args: &Args,
        threads: &Threads,
    ) -> anyhow::Result<Self> {
        let file = fit(&training, args, threads)?;
        let log_likelihoods = log_likelihoods(&file.model(), &known(&apart, judged), Sampling::Drift, threads)?;
        Ok(Self { training, apart, file, log_likelihoods })
    }

    /// As many columns less as cost nothing; nothing if all are worth keeping.
    fn smaller(&self, judged: &[usize], args: &Args, threads: &Threads) -> anyhow::Result<Option<(Vec<String>, Self)>> {
        let columns = relevance::of_names(self.training.names().unwrap_or_default());
        let losses = relevance::losses(&self.file.model(), &known(&self.apart, judged), MOST_ROWS, threads)?;
        let mut weak: Vec<(f64, usize)> = (losses.iter().enumerate())
            .filter_map(|(column, loss)| loss.filter(|loss| !loss.is_worth(LEAST_LOSS)).map(|loss| (loss.mean, column)))
            .collect();
        // Of two that say the same, neither does without the other in a model that has both.
        let copies = copies(&self.training).into_iter().filter_map(|finding| finding.columns().first()?.name.clone());
        for name in copies {
            if let Some(column) = columns.iter().position(|(column, _)| *column == name) {
                weak.retain(|&(_, other)| other != column);
                weak.push((f64::NEG_INFINITY, column));
            }
        }
        weak.sort_by(|a, b| a.0.total_cmp(&b.0));
        // One stays.
        weak.truncate(columns.len() - 1);
        while !weak.is_empty() {
            let mut places: Vec<usize> = weak.iter().map(|&(_, column)| column).collect();
            places.sort_unstable();
            let inputs: Vec<usize> = places.iter().flat_map(|&column| columns[column].1.clone()).collect();
            let dropped: Vec<String> = places.into_iter().map(|column| columns[column].0.clone()).collect();
            let [training, apart] = [&self.training, &self.apart].map(|rows| rows.without_inputs(&inputs));
            let smaller = Self::new(training, apart, judged, args, threads)?;
            if let Some(cost) = Gain::paired(&self.log_likelihoods, &smaller.log_likelihoods) {
                tell!("without {}: {cost} nats per row lost, on {} rows", dropped.join(", "), cost.rows);
                if !cost.is_worth(LEAST_LOSS) {
                    return Ok(Some((dropped, smaller)));
                }
            }
            weak.truncate(weak.len() / 2);
        }
        Ok(None)
    }
}

/// A model without a flow, with the names of its inputs.
fn fit(data: &Dataset, args: &Args, threads: &Threads) -> anyhow::Result<ModelFile> {
    let mut config = args.settings.with_flow_time(0.0).config(data.rows())?;
    config.calibration.mode = CalibrationMode::None;
    let trained = train_on(threads, data, &config, &mut ()).map_err(|error| training_failed(&args.rows.data, error))?;
    Ok(ModelFile::new(&trained.export(data)?.bytes)?)
}

fn known<'a>(data: &'a Dataset, rows: &[usize]) -> Vec<Known<'a>> {
    rows.iter().map(|&row| Known::of(data, row, row)).collect()
}
