//! Rows that training never sees and `eval` is about: those of a file, a random share, whole groups, or the last.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use diffgp_train::data::{DataError, Missing, read_groups, read_test_rows};
use diffgp_train::permutation::Permutation;
use diffgp_train::philox::Purpose;

use super::console;
use super::failure::mistake;
use super::layout::LayoutArgs;

/// Of all rows, if only --test-groups is given.
const SHARE: f64 = 0.2;
/// The random choice that --test-share makes; 0 and 1 of this purpose choose validation rows and folds.
const CHOICE: u64 = 2;

/// Which rows are held out.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TestRowsArgs {
    /// Text file; line K lists the held-out rows of split K (from 0, header not counted).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["test_share", "test_last", "test_groups"])]
    pub(crate) test_rows: Option<PathBuf>,
    /// Hold out a share of the rows, chosen at random: 0.2 for a fifth. The same rows in every command with the same --split.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "test_last")]
    pub(crate) test_share: Option<f64>,
    /// Hold out the last rows, a share of all: for rows that follow each other in time.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "test_groups")]
    pub(crate) test_last: Option<f64>,
    /// Hold out whole groups of rows, those with the same value in this column, which is no input: for repeated
    /// measurements [default: a fifth of the rows, or --test-share].
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) test_groups: Option<String>,
    /// Which line of --test-rows, or which of the random choices, counted from 0 [default: 0].
    #[arg(long, value_name = "K")]
    pub(crate) split: Option<usize>,
}

/// Between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    let inside = |&share: &f64| share > 0.0 && share < 1.0;
    text.parse().ok().filter(inside).ok_or_else(|| "expected a share between 0 and 1, as in 0.2".to_owned())
}

impl TestRowsArgs {
    /// Whether rows are held out.
    pub(crate) fn holds_out(&self) -> bool {
        self.test_rows.is_some() || self.test_share.is_some() || self.test_last.is_some() || self.test_groups.is_some()
    }

    /// The held-out rows of a file with `rows` rows, sorted; `None` if nothing is held out.
    pub(crate) fn read(
        &self,
        data: &Path,
        rows: usize,
        layout: &LayoutArgs,
        target: &str,
    ) -> anyhow::Result<Option<Vec<usize>>> {
        if let Some(file) = &self.test_rows {
            check_numbers_hold(layout, file)?;
            let held_out = read_test_rows(file, self.split.unwrap_or(0))?;
            check_rows(file, &held_out, data, rows)?;
            return Ok(Some(held_out));
        }
        if !self.holds_out() {
            return match self.split {
                Some(split) => Err(mistake(format!(
                    "--split {split}: nothing is held out; expected --test-rows FILE, --test-share SHARE or --test-groups \
                     COLUMN too"
                ))),
                None => Ok(None),
            };
        }
        if rows < 2 {
            let data = data.display();
            return Err(mistake(format!("{data}: expected at least two rows to hold some out; it has {rows}")));
        }
        let some = |share: f64| ((share * rows as f64).round() as usize).clamp(1, rows - 1);
        if let Some(share) = self.test_last {
            return Ok(Some((rows - some(share)..rows).collect()));
        }
        let wanted = some(self.test_share.unwrap_or(SHARE));
        if let Some(column) = &self.test_groups {
            let groups = read_groups(data, layout.columns(target), layout.header(), column)?;
            if groups.len() != rows {
                return Err(mistake(format!(
                    "--missing drop: {} of {rows} rows have a group; expected --ignore for the columns that the model does not \
                     know",
                    groups.len()
                )));
            }
            return Ok(Some(whole_groups(&groups, wanted, self.seed()).ok_or_else(|| {
                mistake(format!("--test-groups {column}: {} is all of one group; expected several", data.display()))
            })?));
        }
        Ok(Some(random_rows(rows, wanted, self.seed())))
    }

    fn seed(&self) -> u64 {
        self.split.unwrap_or(0) as u64
    }

    /// The options as they were typed, for commands to copy.
    pub(crate) fn as_typed(&self) -> String {
        self.typed().into_iter().map(|(name, value)| format!(" --{name} {}", console::quoted(&value))).collect()
    }

    /// Names and values of the options that were given.
    pub(crate) fn typed(&self) -> Vec<(&'static str, String)> {
        let file = self.test_rows.as_ref().map(|file| file.to_string_lossy().into_owned());
        // The first line of a file is said, so that others are found.
        let split = self.split.or(file.as_ref().map(|_| 0));
        let given = [
            ("test-rows", file),
            ("test-share", self.test_share.map(|share| share.to_string())),
            ("test-last", self.test_last.map(|share| share.to_string())),
            ("test-groups", self.test_groups.clone()),
            ("split", split.map(|split| split.to_string())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Refuses to count rows of which some are left out.
pub(crate) fn check_numbers_hold(layout: &LayoutArgs, file: &Path) -> anyhow::Result<()> {
    match layout.missing() {
        Missing::Drop => Err(mistake(format!(
            "--missing drop: {} numbers the rows of the whole file; expected --missing mean, or --test-share or --folds \
             instead",
            file.display()
        ))),
        Missing::Refuse | Missing::Mean => Ok(()),
    }
}

/// So many rows, sorted.
pub(crate) fn random_rows(rows: usize, wanted: usize, seed: u64) -> Vec<usize> {
    let order = Permutation::new(rows.max(1), seed, Purpose::Split, CHOICE);
    let mut chosen: Vec<usize> = (0..wanted.min(rows)).map(|place| order.at(place)).collect();
    chosen.sort_unstable();
    chosen
}

/// The rows of groups in a random order, until there are about as many as wanted; `None` if nothing would be left.
pub(crate) fn whole_groups(groups: &[u32], wanted: usize, seed: u64) -> Option<Vec<usize>> {
    let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
    if count < 2 {
        return None;
    }
    let order = Permutation::new(count, seed, Purpose::Split, CHOICE);
    let mut sizes = vec![0_usize; count];
    groups.iter().for_each(|&group| sizes[group as usize] += 1);
    let (mut taken, mut chosen) = (0_usize, HashSet::new());
    for place in 0..count - 1 {
        let group = order.at(place);
        let with = taken + sizes[group];
        // One in any case, others if that comes closer.
        if taken > 0 && with.abs_diff(wanted) >= taken.abs_diff(wanted) {
            break;
        }
        taken = with;
        chosen.insert(group as u32);
    }
    Some((0..groups.len()).filter(|&row| chosen.contains(&groups[row])).collect())
}

/// Refuses rows that the data does not have.
pub(crate) fn check_rows(file: &Path, held_out: &[usize], data: &Path, rows: usize) -> anyhow::Result<()> {
    match held_out.last() {
        Some(&row) if row >= rows => {
            let error = DataError::RowOutOfRange { row, rows };
            Err(mistake(format!("{}: {error} ({})", file.display(), data.display())))
        }
        Some(_) => Ok(()),
        None => Err(mistake(format!("{}: the split holds no rows; expected row numbers from 0", file.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_chosen_anew_for_every_split() {
        let chosen = random_rows(1000, 200, 0);
        assert!(chosen.is_sorted() && chosen.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!((chosen.len(), random_rows(1000, 200, 0)), (200, chosen.clone()));
        let again = random_rows(1000, 200, 1);
        // 40 in both on the average of two random choices.
        let both = again.iter().filter(|row| chosen.contains(row)).count();
        assert!((15..70).contains(&both), "{both}");
    }

    #[test]
    fn groups_are_held_out_whole() {
        let groups: Vec<u32> = (0..300).map(|row| row % 60).collect();
        for split in 0..20 {
            let chosen = whole_groups(&groups, 60, split).unwrap();
            assert_eq!(chosen.len(), 60);
            let of_chosen: HashSet<u32> = chosen.iter().map(|&row| groups[row]).collect();
            assert_eq!(of_chosen.len(), 12);
        }
        // A group of most of the rows and a small one: never everything, never nothing.
        let uneven: Vec<u32> = (0..100).map(|row| u32::from(row >= 95)).collect();
        for split in 0..20 {
            assert!([5, 95].contains(&whole_groups(&uneven, 20, split).unwrap().len()));
        }
        assert_eq!(whole_groups(&[0; 5], 1, 0), None);
    }
}
