//! The score of a model file on rows whose target is known.

use diffgp_infer::Model;

use super::{CHUNK, Row, RowError, Sampling, evaluate};
use crate::data::Dataset;
use crate::params::Likelihood;
use crate::score::{Score, Scorer};
use crate::threads::Threads;

/// The intervals whose coverage is counted.
const LEVELS: [f32; 3] = [0.5, 0.9, 0.95];

/// A row and its target, both raw.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The inputs.
    pub row: Row<'a>,
    /// The target.
    pub y: f32,
}

impl<'a> Known<'a> {
    /// Row `row` of `data`, which is row `number` of the file it came from.
    pub fn of(data: &'a Dataset, row: usize, number: usize) -> Self {
        Self { row: Row { number: number as u32, x: data.input_row(row) }, y: data.targets()[row] }
    }
}

/// A score, and what else was counted on the way.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// In the target's own units.
    pub score: Score,
    /// Rows whose target lies in its interval, of 50, 90 and 95 %; none for a classification.
    pub covered: [usize; LEVELS.len()],
    /// Rows with an input outside the ranges seen in training.
    pub out_of_range: usize,
}

impl Figures {
    /// The share of the rows whose target lies in its interval of 50, 90 and 95 %; `None` for a classification.
    pub fn coverage(&self) -> Option<[f64; LEVELS.len()]> {
        self.score.rmse.map(|_| self.covered.map(|covered| covered as f64 / self.score.rows as f64))
    }
}

/// Scores rows with the runtime: mean of means, log-likelihood of the mixture over paths.
pub fn score(
    model: &Model<'_>,
    rows: &[Known<'_>],
    sampling: Sampling,
    threads: &Threads,
) -> Result<Figures, RowError> {
    let header = model.blob().header();
    let likelihood = if model.is_classifier() {
        Likelihood::Bernoulli { epsilon: header.epsilon.into() }
    } else {
        Likelihood::Gaussian { noise: vec![model.blob().target(0).noise.into()] }
    };
    let target = model.blob().target(0);
    let (mean, scale) = (f64::from(target.mean), f64::from(target.scale));
    let mut scorer = Scorer::new(&likelihood, 1, &[scale]);
    let (mut covered, mut out_of_range) = ([0; LEVELS.len()], 0);
    for chunk in rows.chunks(CHUNK) {
        let inputs: Vec<Row<'_>> = chunk.iter().map(|known| known.row).collect();
        for (known, evaluated) in chunk.iter().zip(evaluate(model, &inputs, sampling, threads)?) {
            let latents: Vec<(f64, f64)> =
                evaluated.latents.iter().map(|latent| (latent[0].mean.into(), latent[0].variance.into())).collect();
            scorer.add(&[(f64::from(known.y) - mean) / scale], &latents);
            for (covered, level) in covered.iter_mut().zip(LEVELS) {
                let interval = evaluated.answer.interval(level);
                *covered += usize::from(interval.is_some_and(|(low, high)| low <= known.y && known.y <= high));
            }
            out_of_range += usize::from(!evaluated.answer.in_range());
        }
    }
    Ok(Figures { score: scorer.finish(), covered, out_of_range })
}
