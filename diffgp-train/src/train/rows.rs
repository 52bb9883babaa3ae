//! The rows of a stage: which are trained on, which validate, and which make up a batch; no index of the rows is stored.

use std::ops::Range;

use super::order::Order;
use super::plan::Stage;
use crate::data::Dataset;
use crate::permutation::Permutation;
use crate::philox::Purpose;

/// The rows of a data set in an order chosen by the seed; the validation rows are a range of places in it.
#[derive(Clone, Debug)]
pub(super) struct StageRows {
    order: Order,
    total: usize,
    validation: Range<usize>,
    batch: usize,
    seed: u64,
}

impl StageRows {
    pub(super) fn new(data: &Dataset, seed: u64, stage: &Stage) -> Self {
        let (order, total) = (Order::new(data, seed), data.rows());
        Self { order, total, validation: stage.validation.clone(), batch: stage.batch, seed }
    }

    /// How many rows are trained on.
    pub(super) fn training_count(&self) -> usize {
        self.total - self.validation.len()
    }

    /// The first `most` of the training rows, in their random order.
    pub(super) fn training(&self, most: usize) -> Vec<usize> {
        (0..self.training_count().min(most)).map(|place| self.training_row(place)).collect()
    }

    /// The validation rows.
    pub(super) fn validation(&self) -> Vec<usize> {
        self.validation.clone().map(|place| self.order.at(place)).collect()
    }

    /// The rows of iteration `iteration`: every epoch runs through all training rows once, in an order of its own.
    pub(super) fn batch(&self, iteration: u64) -> Vec<usize> {
        let training = self.training_count() as u64;
        if self.batch as u64 == training {
            return self.training(self.batch);
        }
        let start = iteration * self.batch as u64;
        let shuffled = |position: u64| {
            let epoch = Permutation::new(self.training_count(), self.seed, Purpose::Epoch, position / training);
            self.training_row(epoch.at((position % training) as usize))
        };
        (start..start + self.batch as u64).map(shuffled).collect()
    }

    fn training_row(&self, place: usize) -> usize {
        let before = place < self.validation.start;
        self.order.at(if before { place } else { place + self.validation.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::config::{Config, Task};
    use crate::train::plan::plan;

    /// The rows of the first stage.
    fn rows(total: usize, batch: usize) -> StageRows {
        let mut config = Config { batch, ..Config::for_rows(total, Task::Regression) };
        config.flow.optional = false;
        let data = Dataset::new(vec![0.0; total], vec![0.0; total], 1).unwrap();
        StageRows::new(&data, 0, &plan(total, &config).stages[0])
    }

    #[test]
    fn an_epoch_sees_every_training_row_once_and_no_validation_row() {
        let first = rows(100, 30);
        let mut later = first.clone();
        later.validation = 20..30;
        for rows in [first, later] {
            assert_eq!(rows.training_count(), 90);
            let mut seen: Vec<usize> = (0..3).flat_map(|iteration| rows.batch(iteration)).collect();
            assert_ne!(rows.batch(0), rows.batch(3));
            seen.extend(rows.validation());
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..100));
        }
    }

    #[test]
    fn batches_cross_epochs_without_losing_rows() {
        let rows = rows(100, 40);
        let mut seen: Vec<usize> = (0..9).flat_map(|iteration| rows.batch(iteration)).collect();
        seen.sort_unstable();
        // 9·40 = 4 epochs of 90.
        assert!(seen.chunk_by(|a, b| a == b).all(|equal| equal.len() == 4));
    }

    #[test]
    fn full_batches_and_tiny_sets() {
        assert_eq!(rows(50, 1000).batch(7).len(), 45);
        assert_eq!(rows(2, 1000).validation().len(), 0);
        assert_eq!(rows(2, 1000).batch(0).len(), 2);
    }
}
