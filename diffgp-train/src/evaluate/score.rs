//! The score of a model file on rows whose targets are known.

use std::f64::consts::PI;

use diffgp_infer::Model;

use super::class_figures::{ClassFigures, ClassTally};
use super::output_figures::{LEVELS, OutputFigures, OutputTally, PredictedOutput, log_mean_exp};
use super::{CHUNK, Evaluated, Row, RowError, RowProblem, Sampling, evaluate};
use crate::calibration::Distribution;
use crate::data::Dataset;
use crate::threads::Threads;

/// A row and its targets, both raw; of a classification, the index of its class.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The inputs.
    pub row: Row<'a>,
    /// As many as the model has real targets, or one class.
    pub targets: &'a [f32],
}

impl<'a> Known<'a> {
    /// Row `row` of `data`, which is row `number` of the file it came from.
    pub fn of(data: &'a Dataset, row: usize, number: usize) -> Self {
        Self { row: Row { number: number as u32, x: data.input_row(row) }, targets: data.target_row(row) }
    }
}

/// How good a model is on some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Rows.
    pub rows: usize,
    /// Mean log-likelihood per row: of all real targets together, or of the class.
    pub log_likelihood: f64,
    /// One for every real target; none for classes.
    pub outputs: Vec<OutputFigures>,
    /// Of a classification.
    pub classes: Option<ClassFigures>,
    /// Rows with an input outside the ranges seen in training.
    pub out_of_range: usize,
}

impl Figures {
    /// Of the only real target: several have units of their own.
    pub fn only_output(&self) -> Option<&OutputFigures> {
        if let [only] = self.outputs.as_slice() { Some(only) } else { None }
    }

    /// Area under the receiver operating curve; `None` for real targets, and if only one class occurs.
    pub fn auc(&self) -> Option<f64> {
        self.classes.as_ref().and_then(|classes| classes.auc)
    }
}

/// Scores rows with the runtime: means and probabilities as it gives them, densities of the calibrated distribution or, if
/// there is none, of the mixture over its paths.
pub fn score(
    model: &Model<'_>,
    rows: &[Known<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Figures, RowError> {
    let mut tally = Tally::new(model);
    for chunk in rows.chunks(CHUNK) {
        let inputs: Vec<Row<'_>> = chunk.iter().map(|known| known.row).collect();
        for (known, evaluated) in chunk.iter().zip(evaluate(model, &inputs, sampling, threads)?) {
            if !tally.add(known.targets, &evaluated) {
                return Err(RowError { number: known.row.number, problem: RowProblem::NoDensity });
            }
        }
    }
    Ok(tally.finish())
}

/// The log-likelihood of every row, as [`score`] averages it.
pub fn log_likelihoods(
    model: &Model<'_>,
    rows: &[Known<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Vec<f64>, RowError> {
    let mut all = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(CHUNK) {
        let inputs: Vec<Row<'_>> = chunk.iter().map(|known| known.row).collect();
        for (known, evaluated) in chunk.iter().zip(evaluate(model, &inputs, sampling, threads)?) {
            let mut alone = Tally::new(model);
            if !alone.add(known.targets, &evaluated) {
                return Err(RowError { number: known.row.number, problem: RowProblem::NoDensity });
            }
            all.push(alone.finish().log_likelihood);
        }
    }
    Ok(all)
}

/// Adds up rows.
struct Tally {
    /// Mean, deviation and noise, in units of the deviation squared, of every real target.
    targets: Vec<[f64; 3]>,
    outputs: Vec<OutputTally>,
    classes: Option<ClassTally>,
    rows: usize,
    /// Of all real targets together.
    log_likelihood: f64,
    out_of_range: usize,
}

impl Tally {
    fn new(model: &Model<'_>) -> Self {
        let real = if model.is_classifier() { 0 } else { model.outputs() };
        let target = |output: usize| {
            let target = model.blob().target(output);
            [target.mean, target.scale, target.noise].map(f64::from)
        };
        Self {
            targets: (0..real).map(target).collect(),
            outputs: vec![OutputTally::default(); real],
            classes: model.is_classifier().then(|| ClassTally::new(model.classes())),
            rows: 0,
            log_likelihood: 0.0,
            out_of_range: 0,
        }
    }

    /// Whether the sums are still numbers: a target may lie so many deviations from its prediction that its density is not.
    fn add(&mut self, targets: &[f32], Evaluated { answer, latents }: &Evaluated) -> bool {
        self.rows += 1;
        self.out_of_range += usize::from(!answer.in_range());
        if let Some(classes) = &mut self.classes {
            classes.add(targets[0] as usize, answer.probabilities().iter().map(|&p| p.into()));
            return true;
        }
        // Σ_o log N(y_o; mean, variance) of every path; of calibrated targets each for itself.
        let (mut calibrated, mut alone) = (false, 0.0);
        let mut together = vec![0.0; latents.len()];
        for (o, (&[mean, scale, noise], tally)) in self.targets.iter().zip(&mut self.outputs).enumerate() {
            let y = f64::from(targets[o]);
            let of_path = |path: &Vec<diffgp_infer::Latent>| {
                let latent = path[o];
                (mean + scale * f64::from(latent.mean), scale * scale * (f64::from(latent.variance) + noise))
            };
            let paths: Vec<(f64, f64)> = latents.iter().map(of_path).collect();
            for (sum, (mean, variance)) in together.iter_mut().zip(&paths) {
                *sum -= 0.5 * ((2.0 * PI * variance).ln() + (y - mean).powi(2) / variance);
            }
            let output = answer.outputs()[o];
            let interval = |level| output.interval(level).map_or((f64::NAN, f64::NAN), |(l, h)| (l.into(), h.into()));
            let mean = output.mean().into();
            let distribution = Distribution::of(&output);
            let predicted = PredictedOutput {
                mean,
                intervals: LEVELS.map(interval),
                paths: &paths,
                calibrated: distribution,
                in_range: answer.in_range(),
            };
            calibrated |= distribution.is_some();
            alone += predicted.log_density(y);
            tally.add(y, predicted);
        }
        self.log_likelihood += if calibrated { alone } else { log_mean_exp(&together) };
        self.log_likelihood.is_finite() && self.outputs.iter().all(OutputTally::is_finite)
    }

    fn finish(&self) -> Figures {
        let classes = self.classes.as_ref().map(ClassTally::finish);
        let real = self.log_likelihood / self.rows as f64;
        Figures {
            rows: self.rows,
            log_likelihood: classes.as_ref().map_or(real, |classes| classes.log_likelihood),
            outputs: self.outputs.iter().map(OutputTally::finish).collect(),
            classes,
            out_of_range: self.out_of_range,
        }
    }
}
