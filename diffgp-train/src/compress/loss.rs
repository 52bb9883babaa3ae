//! What a compressed model loses, in nats per row, measured with the device's own code.
//!
//! The loss is the mean Kullback–Leibler divergence of its predictions from the original's: the log-likelihood that is
//! lost on average if the original's error bars are right. It needs no targets, so that rows the model was trained on do
//! not flatter, and it has far less noise than a difference of likelihoods.
//!
//! Predictions are mixtures over sampled paths. With the same number of steps both models follow the same noise, and
//! what differs is the model. With fewer steps the noise differs too: then other paths are taken for both, and what two
//! sets of paths of the original itself differ by is subtracted.

use std::collections::HashMap;

use diffgp_infer::{Model, Output};

use super::choice::Choice;
use super::workshop::Workshop;
use super::{CompressError, LOSS_PATHS, STEP_PATHS};
use crate::aligned::AlignedBytes;
use crate::evaluate::{Answer, Evaluated, Sampling, evaluate};

/// Compares models with the original.
#[derive(Default)]
pub(super) struct Judge {
    /// By number of steps: what a model with these steps and all its numbers predicts, and what it loses.
    references: HashMap<usize, (Vec<Evaluated>, f64)>,
    /// Two sets of paths of the original.
    original: Option<[Vec<Evaluated>; 2]>,
}

impl Judge {
    /// What a choice loses whose file this is: by its steps, and by everything else.
    pub(super) fn loss(
        &mut self,
        workshop: &mut Workshop<'_>,
        choice: &Choice,
        bytes: &[u8],
    ) -> Result<f64, CompressError> {
        if !self.references.contains_key(&choice.steps) {
            let file = workshop.reference_file(choice.steps)?;
            let loss = self.loss_of_steps(workshop, choice.steps, &file)?;
            let predictions = predict(workshop, &file, LOSS_PATHS, 1)?;
            self.references.insert(choice.steps, (predictions, loss));
        }
        let (reference, loss) = &self.references[&choice.steps];
        Ok(loss + mean_divergence(reference, &predict(workshop, bytes, LOSS_PATHS, 1)?))
    }

    fn loss_of_steps(&mut self, workshop: &mut Workshop<'_>, steps: usize, file: &[u8]) -> Result<f64, CompressError> {
        let all = workshop.original_steps();
        if steps == all {
            // Nothing is lost, unless the variance was given up.
            let original = predict(workshop, workshop.original(), LOSS_PATHS, 1)?;
            return Ok(mean_divergence(&original, &predict(workshop, file, LOSS_PATHS, 1)?));
        }
        let given_up = self.references.get(&all).map_or(0.0, |(_, loss)| *loss);
        let [one, another] = match self.original.take() {
            Some(both) => both,
            None => {
                let file = workshop.reference_file(all)?;
                [predict(workshop, &file, STEP_PATHS, 2)?, predict(workshop, &file, STEP_PATHS, 3)?]
            }
        };
        let after = predict(workshop, file, STEP_PATHS, 3)?;
        let loss = mean_divergence(&one, &after) - mean_divergence(&one, &another);
        self.original = Some([one, another]);
        Ok(given_up + loss.max(0.0))
    }
}

fn predict(workshop: &Workshop<'_>, bytes: &[u8], count: u32, seed: u64) -> Result<Vec<Evaluated>, CompressError> {
    let aligned = AlignedBytes::new(bytes);
    let model = Model::parse(aligned.as_slice())?;
    let rows = workshop.rows();
    Ok(evaluate(&model, &rows.numbered(&rows.judging()), Sampling::Paths { count, seed }, workshop.threads())?)
}

fn mean_divergence(before: &[Evaluated], after: &[Evaluated]) -> f64 {
    let total: f64 = before.iter().zip(after).map(|(p, q)| divergence(&p.answer, &q.answer)).sum();
    total / before.len().max(1) as f64
}

/// Kullback–Leibler divergence of two predictions: of classes, or of Gaussians with their moments, whose targets count one
/// by one: the paths that targets have in common are left out.
fn divergence(p: &Answer, q: &Answer) -> f64 {
    if let (Some(p), Some(q)) = (p.probability(), q.probability()) {
        let (p, q) = (f64::from(p), f64::from(q));
        return p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
    }
    if !p.probabilities().is_empty() {
        // A probability that single precision cannot hold counts as the smallest that it can.
        let least = |probability: &f32| f64::from(probability.max(f32::MIN_POSITIVE));
        let classes = p.probabilities().iter().map(least).zip(q.probabilities().iter().map(least));
        return classes.map(|(p, q)| p * (p / q).ln()).sum();
    }
    let of_target = |(p, q): (&Output, &Output)| {
        let (v, w) = (f64::from(p.variance()), f64::from(q.variance()));
        let difference = f64::from(p.mean()) - f64::from(q.mean());
        0.5 * (v / w - 1.0 - (v / w).ln() + difference * difference / w)
    };
    p.outputs().iter().zip(q.outputs()).map(of_target).sum()
}
