//! Which rows are trained on, which validate, and which make up a batch; no index of the rows is stored.

use super::config::Config;
use super::observer::Phase;
use crate::permutation::Permutation;
use crate::philox::Purpose;

/// Fewer training rows than this leave none for validation.
const ROWS_TO_SPLIT: usize = 20;
/// Without a flow a row costs so little that an iteration takes so many batches.
const BATCHES_WITHOUT_FLOW: usize = 10;

/// The rows of a data set in an order chosen by the seed: validation rows first, training rows after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    order: Permutation,
    total: usize,
    validation: usize,
    batch: usize,
    seed: u64,
}

impl Rows {
    pub(super) fn new(total: usize, config: &Config, phase: Phase) -> Self {
        let share = (total as f64 * config.validation.fraction) as usize;
        let validates = total >= ROWS_TO_SPLIT && !phase.on_all_rows();
        let validation = if validates { share.min(config.validation.max_rows) } else { 0 };
        let order = Permutation::new(total, config.seed, Purpose::Split, 0);
        let batches = match phase {
            Phase::Trial | Phase::RivalTrial | Phase::Sparse | Phase::SparseAgain => BATCHES_WITHOUT_FLOW,
            // The warm start need not be better than the flow can keep it.
            Phase::WarmStart | Phase::Flow | Phase::FlowAgain => 1,
        };
        let batch = config.batch.saturating_mul(batches).min(total - validation);
        Self { order, total, validation, batch, seed: config.seed }
    }

    /// Whether an iteration takes all rows, or more than a batch of the configuration.
    pub(super) fn say_it_all(&self, config: &Config) -> bool {
        self.batch > config.batch || self.batch == self.training_count()
    }

    /// How many rows are trained on.
    pub(super) fn training_count(&self) -> usize {
        self.total - self.validation
    }

    /// The first `most` of the training rows, in their random order.
    pub(super) fn training(&self, most: usize) -> Vec<usize> {
        (0..self.training_count().min(most)).map(|place| self.order.at(self.validation + place)).collect()
    }

    /// The validation rows.
    pub(super) fn validation(&self) -> Vec<usize> {
        (0..self.validation).map(|index| self.order.at(index)).collect()
    }

    /// The rows of iteration `iteration`: every epoch runs through all training rows once, in an order of its own.
    pub(super) fn batch(&self, iteration: u64) -> Vec<usize> {
        let training = self.training_count() as u64;
        let row = |place| self.order.at(self.validation + place);
        if self.batch as u64 == training {
            return self.training(self.batch);
        }
        let start = iteration * self.batch as u64;
        let shuffled = |position: u64| {
            let epoch = Permutation::new(self.training_count(), self.seed, Purpose::Epoch, position / training);
            row(epoch.at((position % training) as usize))
        };
        (start..start + self.batch as u64).map(shuffled).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::config::Task;

    fn rows(total: usize, batch: usize) -> Rows {
        Rows::new(total, &Config { batch, ..Config::for_rows(total, Task::Regression) }, Phase::Flow)
    }

    #[test]
    fn an_epoch_sees_every_training_row_once_and_no_validation_row() {
        let rows = rows(100, 30);
        assert_eq!(rows.training_count(), 90);
        let mut seen: Vec<usize> = (0..3).flat_map(|iteration| rows.batch(iteration)).collect();
        assert_ne!(rows.batch(0), rows.batch(3));
        seen.extend(rows.validation());
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..100));
    }

    #[test]
    fn all_rows_are_the_validation_rows_and_the_others() {
        let config = Config { batch: 30, ..Config::for_rows(90, Task::Regression) };
        let all = Rows::new(90, &config, Phase::FlowAgain);
        assert_eq!((all.training_count(), all.validation().len()), (90, 0));
        let mut seen: Vec<usize> = (0..3).flat_map(|iteration| all.batch(iteration)).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..90));
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
    fn without_a_flow_an_iteration_takes_ten_batches_or_all_rows() {
        let config = Config { batch: 30, ..Config::for_rows(1000, Task::Regression) };
        let in_batches = |total: usize, phase: Phase| {
            let rows = Rows::new(total, &config, phase);
            (rows.batch(0).len(), rows.say_it_all(&config))
        };
        assert_eq!(in_batches(1000, Phase::Flow), (30, false));
        assert_eq!(in_batches(1000, Phase::WarmStart), (30, false));
        assert_eq!(in_batches(1000, Phase::Sparse), (300, true));
        assert_eq!(in_batches(100, Phase::Sparse), (90, true));
        assert_eq!(in_batches(20, Phase::Sparse), (18, true));
        assert_eq!(in_batches(20, Phase::Flow), (18, true));
    }

    #[test]
    fn full_batches_and_tiny_sets() {
        assert_eq!(rows(50, 1000).batch(7).len(), 45);
        assert_eq!(rows(2, 1000).validation().len(), 0);
        assert_eq!(rows(2, 1000).batch(0).len(), 2);
    }
}
