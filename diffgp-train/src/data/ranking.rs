//! Which of too many columns go most with the target: by the absolute rank correlation (Spearman's) over a sample of rows.
//!
//! It sees what rises or falls with the target, and misses what matters in both directions or together with others: a
//! proposal for a file that would be refused otherwise. Of classes, the largest correlation with being one of them. A column
//! with a cell that is no number has none.

use std::collections::BTreeMap;

use diffgp_core::blob::limits::MAX_INPUTS;

use super::{DataError, Rows};

/// Rows that are kept, and twice as many in between.
const ROWS: usize = 500;

/// Reads the file to its end: the error, with the columns to keep.
pub(super) fn too_many(rows: &mut Rows, inputs: &[usize], targets: &[usize]) -> DataError {
    let sample = sample(rows, inputs, targets);
    let wanted = sample.wanted(targets.len());
    let strength = |place: usize| {
        let Some(ranks) = ranks(&sample.rows.iter().map(|row| row[place]).collect::<Vec<_>>()) else { return 0.0 };
        wanted.iter().map(|of| correlation(&ranks, of).abs()).fold(0.0, f64::max)
    };
    let mut order: Vec<(f64, usize)> = (0..inputs.len()).map(|place| (strength(place), place)).collect();
    // Of equals the first.
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let name = |column: usize| rows.names().map_or_else(|| column.to_string(), |names| names[column].clone());
    // Nothing is proposed where nothing is known.
    let (kept, left) = if order[0].0 > 0.0 { order.split_at(MAX_INPUTS) } else { (&[][..], &[][..]) };
    let mut left: Vec<usize> = left.iter().map(|&(_, place)| inputs[place]).collect();
    left.sort_unstable();
    DataError::ManyInputs {
        path: rows.path().to_owned(),
        inputs: inputs.len(),
        kept: kept.iter().map(|&(_, place)| name(inputs[place])).collect(),
        leave_out: left.into_iter().map(name).collect(),
    }
}

/// Some rows, evenly spaced: inputs and targets, NaN where there is no number.
struct Sample {
    rows: Vec<Vec<f32>>,
    /// The cell of a single target.
    words: Vec<String>,
}

fn sample(file: &mut Rows, inputs: &[usize], targets: &[usize]) -> Sample {
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    let (mut number, mut stride) = (0_usize, 1_usize);
    // What is wrong further on is said when fewer columns are asked for.
    while let Ok(true) = file.next_cells(&[], &mut Vec::new()) {
        if number.is_multiple_of(stride) {
            let cells = inputs.iter().chain(targets);
            rows.push(cells.map(|&column| file.cell(column).number().map_or(f32::NAN, |of| of.rounded)).collect());
            words.push(targets.first().map_or_else(String::new, |&target| file.cell(target).text()));
        }
        number += 1;
        if rows.len() == 2 * ROWS {
            let mut keeps = (0..2 * ROWS).map(|place| place % 2 == 0);
            rows.retain(|_: &Vec<f32>| keeps.next() == Some(true));
            let mut keeps = (0..2 * ROWS).map(|place| place % 2 == 0);
            words.retain(|_| keeps.next() == Some(true));
            stride *= 2;
        }
    }
    Sample { rows, words }
}

impl Sample {
    /// The ranks of the targets; of words whether they are one of them.
    fn wanted(&self, targets: usize) -> Vec<Vec<f64>> {
        let column = |place: usize| self.rows.iter().map(|row| row[row.len() - targets + place]).collect::<Vec<f32>>();
        let numbers: Option<Vec<Vec<f64>>> = (0..targets).map(|place| ranks(&column(place))).collect();
        numbers.unwrap_or_else(|| {
            let counts = self.words.iter().fold(BTreeMap::new(), |mut counts: BTreeMap<&str, usize>, word| {
                *counts.entry(word).or_default() += 1;
                counts
            });
            let is_one = |word: &str| self.words.iter().map(|of| f32::from(u8::from(of == word))).collect::<Vec<f32>>();
            counts.into_keys().filter_map(|word| ranks(&is_one(word))).collect()
        })
    }
}

/// The ranks of values, of equal ones their mean; `None` if one is no number, or all are the same.
fn ranks(values: &[f32]) -> Option<Vec<f64>> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut start) = (vec![0.0; values.len()], 0);
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = start as f64 + 0.5 * (equal.len() - 1) as f64;
        equal.iter().for_each(|&row| ranks[row] = mean);
        start += equal.len();
    }
    let all_equal = ranks.windows(2).all(|pair| pair[0] == pair[1]);
    (!all_equal).then_some(ranks)
}

/// Precondition: both vary.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let middle = 0.5 * (a.len() - 1) as f64;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    sum(a, b) / (sum(a, a) * sum(b, b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_by_hand() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]).unwrap(), [1.5, 0.0, 1.5, 3.0]);
        assert_eq!((ranks(&[2.0, 2.0]), ranks(&[1.0, f32::NAN])), (None, None));
        let rising: Vec<f32> = (0..9).map(|value| (value as f32).exp()).collect();
        let falling: Vec<f32> = rising.iter().map(|value| 1.0 / value).collect();
        assert_eq!(correlation(&ranks(&rising).unwrap(), &ranks(&falling).unwrap()), -1.0);
        // Kendall's example of two judges: 1 − 6 Σd²/(n³ − n).
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 5.0, 3.0]);
        let expected = 1.0 - 6.0 * 8.0 / 120.0;
        assert!((correlation(&ranks(&a).unwrap(), &ranks(&b).unwrap()) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_columns_that_go_with_the_target_are_proposed() {
        let chance = |row: usize, column: usize| (row * 7919 + column * column * 31 + row * column * 17) % 997;
        let table = |target: &dyn Fn(usize) -> String| {
            let names: Vec<String> = (0..80).map(|column| format!("s{column}")).collect();
            let rows = (0..1300).map(|row| {
                let cell = |column: usize| match column {
                    70 => (row % 10).to_string(),
                    71 => format!("n{row}"),
                    column => chance(row, column).to_string(),
                };
                (0..80).map(cell).collect::<Vec<_>>().join(",") + &format!(",{}\n", target(row))
            });
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), names.join(",") + ",y\n" + &rows.collect::<String>()).unwrap();
            file
        };
        for target in [&(|row: usize| (row % 10 * 5).to_string()) as &dyn Fn(usize) -> String, &|row| {
            if row % 10 > 6 { "high".to_owned() } else { "low".to_owned() }
        }] {
            let file = table(target);
            let error = super::super::Dataset::read_file(
                file.path(),
                "y",
                super::super::Header::Detect,
                super::super::TargetKind::Detect,
            );
            let message = error.as_ref().unwrap_err().to_string();
            let Err(DataError::ManyInputs { inputs: 80, kept, leave_out, .. }) = error else { panic!("{message}") };
            assert_eq!((kept.len(), leave_out.len(), kept[0].as_str()), (64, 16, "s70"));
            assert!(leave_out.contains(&"s71".to_owned()), "{leave_out:?}");
            assert!(message.contains("80 inputs; expected at most 64") && message.contains("s70, "), "{message}");
        }
    }
}
