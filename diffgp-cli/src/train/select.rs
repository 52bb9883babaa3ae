//! `--select`: inputs without which rows that were kept aside are predicted as well.
//!
//! A model without a flow is trained on four fifths of the training rows; the others tell what is lost if an input comes from
//! another row. Those that cost less than 0.01 nats per row go, if a model trained without them costs no more than that on the
//! same rows; if it does, the half of them that cost least is tried, and so on.

use anyhow::Context;
use diffgp_train::Dataset;
use diffgp_train::calibration::CalibrationMode;
use diffgp_train::comparison::Gain;
use diffgp_train::evaluate::{Known, Sampling, log_likelihoods};
use diffgp_train::model_file::ModelFile;
use diffgp_train::relevance::{self, LEAST_LOSS};
use diffgp_train::threads::Threads;
use diffgp_train::train::train;
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
    let Some(names) = data.names() else {
        return Err(mistake(format!("--select: {path} has no header; expected names, by which inputs are dropped")));
    };
    if data.rows() < FEW_ROWS {
        let rows = data.rows();
        return Err(mistake(format!("--select: {path} has {rows} rows to train on; expected {FEW_ROWS} at least")));
    }
    let columns = relevance::of_names(names);
    let wanted = (SHARE * data.rows() as f64) as usize;
    let apart = match data.groups() {
        Some(groups) => whole_groups(groups, wanted, 0).context("--select: all rows are of one group")?,
        None => random_rows(data.rows(), wanted, 0),
    };
    let (training, apart) = data.clone().hold_out(&apart)?;
    tell!(
        "selecting inputs by a model without a flow of {} rows, on {} others",
        training.rows(),
        apart.rows().min(MOST_ROWS)
    );
    let whole = fit(&training, args)?;
    let judged = judged(&apart);
    let losses = relevance::losses(&whole.model(), &known(&apart, &judged), MOST_ROWS, threads)?;
    let before = of_rows(&whole, &apart, &judged, threads)?;
    let mut weak: Vec<(f64, usize)> = (losses.iter().enumerate())
        .filter_map(|(column, loss)| loss.filter(|loss| !loss.is_worth(LEAST_LOSS)).map(|loss| (loss.mean, column)))
        .collect();
    weak.sort_by(|a, b| a.0.total_cmp(&b.0));
    // One stays.
    weak.truncate(columns.len() - 1);
    while !weak.is_empty() {
        let mut dropped: Vec<usize> = weak.iter().map(|&(_, column)| column).collect();
        dropped.sort_unstable();
        let inputs: Vec<usize> = dropped.iter().flat_map(|&column| columns[column].1.clone()).collect();
        let dropped: Vec<String> = dropped.into_iter().map(|column| columns[column].0.clone()).collect();
        let smaller = fit(&training.without_inputs(&inputs), args)?;
        let after = of_rows(&smaller, &apart.without_inputs(&inputs), &judged, threads)?;
        if let Some(cost) = Gain::paired(&before, &after) {
            tell!("without {}: {cost} nats per row lost, on {} rows", dropped.join(", "), cost.rows);
            if !cost.is_worth(LEAST_LOSS) {
                let selection =
                    Selection { dropped, cost: Some(cost.mean), cost_se: Some(cost.standard_error), rows: cost.rows };
                return Ok((selection, inputs));
            }
        }
        weak.truncate(weak.len() / 2);
    }
    tell!("note: every input is worth more than {LEAST_LOSS} nats per row; none is left out");
    Ok((Selection { dropped: Vec::new(), cost: None, cost_se: None, rows: judged.len() }, Vec::new()))
}

/// A model without a flow, with the names of its inputs.
fn fit(data: &Dataset, args: &Args) -> anyhow::Result<ModelFile> {
    let mut config = args.settings.with_flow_time(0.0).config(data.rows())?;
    config.calibration.mode = CalibrationMode::None;
    let trained = train(data, &config, &mut ()).map_err(|error| training_failed(&args.rows.data, error))?;
    Ok(ModelFile::new(&trained.export(data)?.bytes)?)
}

/// The rows that are asked.
fn judged(apart: &Dataset) -> Vec<usize> {
    (0..apart.rows()).step_by(apart.rows().div_ceil(MOST_ROWS).max(1)).collect()
}

fn known<'a>(data: &'a Dataset, rows: &[usize]) -> Vec<Known<'a>> {
    rows.iter().map(|&row| Known::of(data, row, row)).collect()
}

fn of_rows(file: &ModelFile, data: &Dataset, rows: &[usize], threads: &Threads) -> anyhow::Result<Vec<f64>> {
    Ok(log_likelihoods(&file.model(), &known(data, rows), Sampling::Drift, threads)?)
}
