//! Two models of one field, predicting the same rows with the same noise.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use diffgp_infer::{Keyed, Model, Prediction, Workspace};

use super::rows::{Row, held_out};

/// Of a sampled prediction.
pub(super) const PATHS: u32 = 16;
/// Rows of a set.
pub(super) const MOST_ROWS: usize = 1000;

type Memory = Workspace<64, 1024, 32>;

/// What is compared.
pub(super) struct Held {
    /// In words, because a model's file begins at a multiple of four bytes.
    single: Vec<u32>,
    fixed: Vec<u32>,
    pub(super) rows: Vec<Row>,
    /// Held-out rows before some were left out.
    pub(super) of: usize,
    pub(super) steps: usize,
}

/// Of all rows; the root of the mean square and the largest.
#[derive(Default)]
pub(super) struct Difference {
    /// In deviations of the training targets.
    pub(super) mean: Option<[f64; 2]>,
    /// Relative to the variance in f32, with noise.
    pub(super) variance: Option<[f64; 2]>,
    pub(super) probability: Option<[f64; 2]>,
    /// Nats per row.
    pub(super) loss: f64,
}

impl Difference {
    /// What misses its bar, by the roots of mean squares (0) or by the largest of all rows (1).
    pub(super) fn above(&self, [mean, variance, loss]: [f64; 3], reading: usize) -> impl Iterator<Item = &'static str> {
        let of = |found: Option<[f64; 2]>| found.map_or(0.0, |both| both[reading]);
        let missed =
            [("mean", of(self.mean) > mean), ("variance", of(self.variance) > variance), ("loss", self.loss >= loss)];
        missed.into_iter().filter(|(_, is_above)| *is_above).map(|(what, _)| what)
    }
}

impl Held {
    pub(super) fn read(single: &Path, fixed: &Path, data: &Path, list: &Path) -> Result<Self> {
        let (single, fixed) = (words(single)?, words(fixed)?);
        let (one, other) = (parse(&single)?, parse(&fixed)?);
        ensure!(!one.is_fixed() && other.is_fixed(), "one model in f32 and one in integers are expected");
        let steps = one.steps();
        let all = held_out(data, list, one.inputs())?;
        let of = all.len();
        Ok(Self { single, fixed, rows: all.into_iter().take(MOST_ROWS).collect(), of, steps })
    }
}

fn words(path: &Path) -> Result<Vec<u32>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect())
}

fn parse(words: &[u32]) -> Result<Model<'_>> {
    Model::parse(zerocopy::IntoBytes::as_bytes(words)).map_err(|error| anyhow::anyhow!("{error}"))
}

pub(super) fn compare(held: &Held, sampled: bool) -> Result<Difference> {
    let (one, other) = (parse(&held.single)?, parse(&held.fixed)?);
    let (mut means, mut variances, mut probabilities) = (Spread::default(), Spread::default(), Spread::default());
    let mut lost = 0.0;
    for (index, row) in (0_u32..).zip(&held.rows) {
        let [before, after] = [answer(&one, row, index, sampled)?, answer(&other, row, index, sampled)?];
        lost += before.log_likelihood - after.log_likelihood;
        if one.is_classifier() {
            let both = before.probabilities.iter().zip(&after.probabilities);
            both.for_each(|(before, after)| probabilities.add(after - before));
        } else {
            means.add(after.mean - before.mean);
            variances.add(after.variance / before.variance - 1.0);
        }
    }
    Ok(Difference {
        mean: means.shown(),
        variance: variances.shown(),
        probability: probabilities.shown(),
        loss: lost / held.rows.len() as f64,
    })
}

#[derive(Default)]
struct Spread {
    count: usize,
    squares: f64,
    largest: f64,
}

impl Spread {
    fn add(&mut self, difference: f64) {
        self.count += 1;
        self.squares += difference * difference;
        self.largest = self.largest.max(difference.abs());
    }

    fn shown(&self) -> Option<[f64; 2]> {
        (self.count > 0).then(|| [(self.squares / self.count as f64).sqrt(), self.largest])
    }
}

/// What a model says of a row.
struct Answer {
    /// Standardised.
    mean: f64,
    variance: f64,
    probabilities: Vec<f64>,
    log_likelihood: f64,
}

fn answer(model: &Model<'_>, row: &Row, index: u32, sampled: bool) -> Result<Answer> {
    let mut memory = Memory::new();
    let prediction = if sampled {
        model.predict_sampled(&row.inputs, PATHS, &mut Keyed::new(0, index), &mut memory)
    } else {
        model.predict(&row.inputs, &mut memory)
    };
    let prediction = prediction.map_err(|error| anyhow::anyhow!("{error}"))?;
    if model.is_classifier() { of_classes(model, row, &prediction) } else { of_target(model, row, &prediction) }
}

fn of_classes(model: &Model<'_>, row: &Row, prediction: &Prediction<'_>) -> Result<Answer> {
    let class = model.blob().classes().position(|name| name == row.target);
    let class = class.with_context(|| format!("no class {}", row.target))?;
    let probabilities: Vec<f64> = prediction.probabilities().map(f64::from).collect();
    let log_likelihood = probabilities.get(class).context("no probability of a class")?.ln();
    Ok(Answer { mean: 0.0, variance: 0.0, probabilities, log_likelihood })
}

fn of_target(model: &Model<'_>, row: &Row, prediction: &Prediction<'_>) -> Result<Answer> {
    let scale = f64::from(model.blob().target(0).scale);
    let (mean, variance) = (f64::from(prediction.mean()), f64::from(prediction.variance()));
    let off = row.target.parse::<f64>()? - mean;
    let log_likelihood = -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + off * off / variance);
    Ok(Answer { mean: mean / scale, variance, probabilities: Vec::new(), log_likelihood })
}
