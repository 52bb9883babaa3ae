//! Which rows every split holds out.

use std::ops::Range;
use std::path::Path;

use diffgp_train::data::{Dataset, count_splits, read_test_rows};
use diffgp_train::permutation::Permutation;
use diffgp_train::philox::Purpose;

use super::Args;
use crate::failure::mistake;
use crate::test_rows::{check_numbers_hold, check_rows};

/// Number and held-out rows of every split.
pub(super) fn held_out_rows(args: &Args, data: &Dataset) -> anyhow::Result<Vec<(usize, Vec<usize>)>> {
    let groups = data.groups().map(|groups| groups.iter().max().map_or(1, |&last| last as usize + 1));
    let most = groups.unwrap_or(data.rows());
    match (&args.test_rows, args.folds) {
        (Some(file), _) => {
            check_numbers_hold(&args.rows.layout, file)?;
            let chosen = match &args.splits {
                Some(asked) => range(asked)?,
                None => all_splits(file)?,
            };
            let read = |split| {
                let rows = read_test_rows(file, split)?;
                check_rows(file, &rows, &args.rows.data, data.rows())?;
                Ok((split, rows))
            };
            chosen.map(read).collect()
        }
        (None, Some(folds)) if (2..=most).contains(&folds) => {
            let chosen = args.splits.as_deref().map_or(Ok(0..folds), range)?;
            if chosen.end > folds {
                let asked = format!("{}..{}", chosen.start, chosen.end);
                return Err(mistake(format!("--splits is {asked}; there are only {folds} folds, 0..{folds}")));
            }
            Ok(fold_rows(data, folds, args.settings.options.seed.unwrap_or(0)).drain(chosen).collect())
        }
        (None, Some(folds)) => Err(mistake(format!(
            "--folds is {folds}; expected 2 to {most}, the {} of {}",
            if groups.is_some() { "groups" } else { "rows" },
            args.rows.data.display()
        ))),
        (None, None) => Err(mistake("expected --folds N, or --test-rows FILE with the rows to hold out")),
    }
}

/// Every row in one fold, in an order chosen by the seed; the rows of a group in the same one.
fn fold_rows(data: &Dataset, folds: usize, seed: u64) -> Vec<(usize, Vec<usize>)> {
    let rows = data.rows();
    if let Some(groups) = data.groups() {
        let count = groups.iter().max().map_or(1, |&last| last as usize + 1);
        let order = Permutation::new(count, seed, Purpose::Split, 1);
        let is_in = |fold: usize, row: &usize| order.at(groups[*row] as usize) * folds / count == fold;
        return (0..folds).map(|fold| (fold, (0..rows).filter(|row| is_in(fold, row)).collect())).collect();
    }
    // Order 0 of this purpose chooses validation rows.
    let order = Permutation::new(rows, seed, Purpose::Split, 1);
    let fold = |fold: usize| {
        let mut held_out: Vec<usize> =
            (fold * rows / folds..(fold + 1) * rows / folds).map(|place| order.at(place)).collect();
        held_out.sort_unstable();
        (fold, held_out)
    };
    (0..folds).map(fold).collect()
}

/// All lines of the file.
fn all_splits(file: &Path) -> anyhow::Result<Range<usize>> {
    match count_splits(file)? {
        0 => Err(mistake(format!(
            "{}: no splits; expected lines with the numbers of the rows to hold out, from 0",
            file.display()
        ))),
        splits => Ok(0..splits),
    }
}

/// FIRST..END.
fn range(asked: &str) -> anyhow::Result<Range<usize>> {
    let wrong = || mistake(format!("--splits is {asked}; expected FIRST..END, as in 0..20"));
    let (first, end) = asked.split_once("..").ok_or_else(wrong)?;
    let range = first.parse().map_err(|_| wrong())?..end.parse().map_err(|_| wrong())?;
    if range.is_empty() { Err(wrong()) } else { Ok(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_hold_every_row_out_once() {
        let data = |rows: usize| Dataset::new(vec![0.0; rows], vec![0.0; rows], 1).unwrap();
        let folds = fold_rows(&data(23), 5, 7);
        let mut all: Vec<usize> = folds.iter().flat_map(|(_, rows)| rows.clone()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..23));
        assert!(folds.iter().all(|(_, rows)| (4..=5).contains(&rows.len())));
        assert_ne!(fold_rows(&data(23), 5, 8), folds);

        let groups: Vec<u32> = (0..24).map(|row| row % 6).collect();
        let grouped = fold_rows(&data(24).with_groups(groups.clone()).unwrap(), 3, 7);
        for group in 0..6 {
            let holds = |rows: &[usize]| rows.iter().filter(|&&row| groups[row] == group).count();
            assert_eq!(grouped.iter().filter(|(_, rows)| holds(rows) == 4).count(), 1);
        }
    }
}
