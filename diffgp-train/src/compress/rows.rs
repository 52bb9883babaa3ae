//! Raw input rows, and which of them do what.

use super::states::spread;
use super::{ADAPT_ROWS, LOSS_ROWS};
use crate::evaluate::Row;

/// Rows of D raw inputs each.
#[derive(Clone, Copy)]
pub(super) struct InputRows<'a> {
    pub(super) inputs: &'a [f32],
    pub(super) dimensions: usize,
}

impl<'a> InputRows<'a> {
    /// How many there are.
    pub(super) fn total(&self) -> usize {
        self.inputs.len() / self.dimensions
    }

    /// Those that predictors are adapted to: of four fifths; the others judge.
    pub(super) fn adapted_to(&self) -> Vec<usize> {
        self.some_of(|number| number % 5 != 2, ADAPT_ROWS)
    }

    /// Those that losses are measured on: of those that predictors are not adapted to, if there are enough.
    pub(super) fn judging(&self) -> Vec<usize> {
        self.some_of(|number| number % 5 == 2 || self.total() < 5, LOSS_ROWS)
    }

    fn some_of(&self, wanted: impl Fn(usize) -> bool, count: usize) -> Vec<usize> {
        let wanted: Vec<usize> = (0..self.total()).filter(|&number| wanted(number)).collect();
        spread(wanted.len(), count).iter().map(|&index| wanted[index]).collect()
    }

    /// Rows as the evaluation wants them.
    pub(super) fn numbered(&self, numbers: &[usize]) -> Vec<Row<'a>> {
        let (inputs, width) = (self.inputs, self.dimensions);
        let row = |&number: &usize| Row { number: number as u32, x: &inputs[number * width..(number + 1) * width] };
        numbers.iter().map(row).collect()
    }
}
