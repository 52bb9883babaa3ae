//! Rows in the order of time, where rows at random are held out or kept aside: such rows lie between neighbours that have
//! nearly the same target, and figures on them say nothing about the time to come.
//!
//! Told by the target's correlation r from one row to the next, r ≥ 0.5, together with either of two: an input that counts on
//! in steps that are mostly the same, or targets that are closer to those of the next row than to those of the row with the
//! nearest inputs (half the squared difference, in a stretch of up to 10,000 rows). Files that are sorted by their target are
//! left alone.

use super::column::Column;
use super::finding::{Finding, Label};
use crate::data::Dataset;

/// Rows of the stretch, and those of them whose nearest neighbours are looked for.
const STRETCH: usize = 10_000;
const ASKED: usize = 200;
/// Rows that it takes to tell.
const FEW: usize = 50;
/// Correlation from one row to the next.
const FOLLOWS: f64 = 0.5;
/// Squared difference to the next row as a share of that to the nearest.
const CLOSER: f64 = 0.5;

pub(super) fn find(data: &Dataset, held_out: &[usize]) -> Option<Finding> {
    let stretches = held_out.windows(2).filter(|pair| pair[1] != pair[0] + 1).count() + 1;
    // Whole stretches of rows are what should be held out.
    let scattered = !held_out.is_empty() && 4 * stretches > held_out.len();
    if data.rows() < FEW || !(scattered || data.groups().is_none()) {
        return None;
    }
    let rows = data.rows();
    let start = (rows - rows.min(STRETCH)) / 2;
    let targets = Targets::of(data, (start..rows).take(STRETCH).collect())?;
    let correlation = targets.correlation();
    if correlation < FOLLOWS || targets.are_sorted() {
        return None;
    }
    let column = (data.inputs() > 1).then(|| (0..data.inputs()).find(|&input| counts_on(data, input))).flatten();
    if column.is_none() && !targets.follow_the_row_before(data) {
        return None;
    }
    let column = column.map(|input| Label::input(data, input));
    Some(Finding::InOrder { column, correlation, held_out: scattered })
}

/// Whether an input grows, or falls, from row to row, mostly by the same step.
fn counts_on(data: &Dataset, input: usize) -> bool {
    let at = |row: usize| f64::from(data.input_row(row)[input]);
    let steps = || (1..data.rows()).map(|row| at(row) - at(row - 1));
    let [up, down] = [steps().filter(|&step| step > 0.0).count(), steps().filter(|&step| step < 0.0).count()];
    let count = data.rows() - 1;
    if up.min(down) > 0 || 10 * up.max(down) < 9 * count {
        return false;
    }
    let mut sizes: Vec<f64> = steps().map(f64::abs).collect();
    let (_, &mut median, _) = sizes.select_nth_unstable_by(count / 2, f64::total_cmp);
    // Seconds since 1970 are rounded to steps of 128.
    2 * sizes.iter().filter(|&&step| (step - median).abs() <= 0.01 * median).count() > count
}

/// The targets of a stretch of rows, and how far two of them are apart.
struct Targets {
    rows: Vec<usize>,
    /// Standardised; of classes their numbers.
    values: Vec<Vec<f64>>,
    are_classes: bool,
    /// Mean squared difference of two rows at random.
    apart: f64,
}

impl Targets {
    /// `None` if none varies.
    fn of(data: &Dataset, rows: Vec<usize>) -> Option<Self> {
        let are_classes = data.classes().is_some();
        if are_classes {
            let values: Vec<f64> = rows.iter().map(|&row| data.target_row(row)[0].into()).collect();
            let share = |class: usize| {
                values.iter().filter(|&&value| value == class as f64).count() as f64 / values.len() as f64
            };
            let apart = 1.0 - (0..data.classes().map_or(0, <[String]>::len)).map(|c| share(c).powi(2)).sum::<f64>();
            return (apart > 0.0).then_some(Self { rows, values: vec![values], are_classes, apart });
        }
        let values: Vec<Vec<f64>> =
            (0..data.outputs()).filter_map(|output| Column::Target(output).standardised(data, &rows)).collect();
        let apart = 2.0 * values.len() as f64;
        (apart > 0.0).then_some(Self { rows, values, are_classes, apart })
    }

    fn squared(&self, a: usize, b: usize) -> f64 {
        match self.are_classes {
            true => f64::from(u8::from(self.values[0][a] != self.values[0][b])),
            false => self.values.iter().map(|values| (values[a] - values[b]).powi(2)).sum(),
        }
    }

    /// From one row to the next.
    fn correlation(&self) -> f64 {
        let pairs = self.rows.len() - 1;
        1.0 - (0..pairs).map(|place| self.squared(place, place + 1)).sum::<f64>() / pairs as f64 / self.apart
    }

    /// Whether rows of one target stand together.
    fn are_sorted(&self) -> bool {
        self.values.iter().any(|values| {
            let runs = values.chunk_by(|a, b| a == b).count();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let distinct = sorted.chunk_by(|a, b| a == b).count();
            2 * runs <= 3 * distinct && distinct < values.len() / 2
                || values.is_sorted()
                || values.iter().rev().is_sorted()
        })
    }

    /// Whether the next row's target is closer than that of the row with the nearest inputs.
    fn follow_the_row_before(&self, data: &Dataset) -> bool {
        let inputs: Vec<Vec<f64>> =
            (0..data.inputs()).filter_map(|input| Column::Input(input).standardised(data, &self.rows)).collect();
        let count = self.rows.len();
        let asked: Vec<usize> = (0..count.min(ASKED)).map(|place| place * (count - 1) / count.min(ASKED)).collect();
        let nearest = |place: usize| {
            let mut distances = vec![0.0; count];
            for input in &inputs {
                let here = input[place];
                distances.iter_mut().zip(input).for_each(|(sum, other)| *sum += (other - here).powi(2));
            }
            (0..count).filter(|&other| other != place).min_by(|&a, &b| distances[a].total_cmp(&distances[b]))
        };
        let next: f64 = asked.iter().map(|&place| self.squared(place, place + 1)).sum();
        let near: f64 = asked.iter().filter_map(|&place| Some(self.squared(place, nearest(place)?))).sum();
        next < CLOSER * near
    }
}
