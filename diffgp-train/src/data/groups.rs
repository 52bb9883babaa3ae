//! Rows that belong together: repeated measurements of one thing, or stretches of a time series.

use std::collections::HashMap;
use std::path::Path;

use super::{Columns, DataError, Dataset, Header, Rows, Watched};

/// The group of every row of a file, numbered as they first appear: rows with the same words in this column.
pub fn read_groups<'a>(
    path: &Path,
    columns: impl Into<Columns<'a>>,
    header: Header,
    column: &str,
) -> Result<Vec<u32>, DataError> {
    let columns = columns.into();
    let mut rows = Rows::open(path, header, columns)?;
    let column = rows.find_column(column)?;
    // The rows that a data set of these columns leaves out.
    let ignored = rows.find_columns(columns.ignored)?;
    let mut inputs: Vec<usize> =
        (0..rows.columns()).filter(|other| !ignored.contains(other) && *other != column).collect();
    let class = rows.find_targets(columns.targets).ok().and_then(|targets| match targets.as_slice() {
        &[target] if rows.begins_with_word(target) => Some(target),
        _ => None,
    });
    inputs.retain(|&input| Some(input) != class);
    let words: Vec<usize> = inputs.extract_if(.., |input| rows.holds_words(*input)).collect();
    rows.watch(Watched { inputs, class, words, group: Some(column), ..Watched::default() });
    let (mut numbers, mut groups) = (HashMap::new(), Vec::new());
    while rows.next_cells(&[], &mut Vec::new())? {
        let next = numbers.len() as u32;
        groups.push(*numbers.entry(rows.cell(column).text()).or_insert(next));
    }
    Ok(groups)
}

impl Dataset {
    /// Rows with the same number stay together wherever rows are kept aside: for validation, and to calibrate error bars.
    pub fn with_groups(mut self, groups: Vec<u32>) -> Result<Self, DataError> {
        if groups.len() != self.rows() {
            return Err(DataError::Groups { groups: groups.len(), rows: self.rows() });
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// The rows in so many stretches of the same length, in their order, each a group: for rows that follow each other in
    /// time.
    pub fn in_blocks(self, blocks: usize) -> Result<Self, DataError> {
        let rows = self.rows();
        if !(2..=rows).contains(&blocks) {
            return Err(DataError::Blocks { blocks, rows });
        }
        self.with_groups((0..rows).map(|row| (row * blocks / rows) as u32).collect())
    }

    /// The group of every row, if there are groups.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Missing;
    use super::*;

    #[test]
    fn groups_are_numbered_as_they_appear_and_stay_with_their_rows() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x,pump,y\n1,b,0\n2,a,1\n3,b,2\n4,,3\n").unwrap();
        let ignored = ["pump".to_owned()];
        let columns = Columns { targets: "y", ignored: &ignored, missing: Missing::Refuse };
        let groups = read_groups(file.path(), columns, Header::Detect, "pump").unwrap();
        assert_eq!(groups, [0, 1, 0, 2]);
        let data = Dataset::new(vec![1.0, 2.0, 3.0, 4.0], vec![0.0; 4], 1).unwrap().with_groups(groups).unwrap();
        let (rest, taken) = data.hold_out(&[0]).unwrap();
        assert_eq!((rest.groups(), taken.groups()), (Some(&[1, 0, 2][..]), Some(&[0][..])));
        assert_ne!(rest.fingerprint(), rest.clone().with_groups(vec![0, 0, 1]).unwrap().fingerprint());
        let unknown = read_groups(file.path(), columns, Header::Detect, "valve").unwrap_err().to_string();
        assert!(unknown.contains("valve"), "{unknown}");
    }

    #[test]
    fn groups_are_of_the_rows_that_are_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // `none` is a class, and a missing number.
        std::fs::write(file.path(), "x,pump,y\n1,a,up\nnone,b,up\n3,c,none\n4,d,\n5,c,up\n").unwrap();
        let ignored = ["pump".to_owned()];
        let columns = Columns { targets: "y", ignored: &ignored, missing: Missing::Drop };
        let groups = read_groups(file.path(), columns, Header::Detect, "pump").unwrap();
        let data = Dataset::read_file(file.path(), columns, Header::Detect, super::super::TargetKind::Detect).unwrap();
        assert_eq!((groups.as_slice(), data.rows()), (&[0, 1, 1][..], 3));
    }

    #[test]
    fn blocks_are_stretches_of_the_same_length() {
        let data = || Dataset::new(vec![1.0; 7], vec![0.0; 7], 1).unwrap();
        assert_eq!(data().in_blocks(3).unwrap().groups().unwrap(), [0, 0, 0, 1, 1, 2, 2]);
        for blocks in [0, 1, 8] {
            let refused = data().in_blocks(blocks).unwrap_err().to_string();
            assert_eq!(refused, format!("7 rows cannot be cut into {blocks} blocks; expected 2 to 7"));
        }
        let refused = data().with_groups(vec![0; 6]).unwrap_err().to_string();
        assert_eq!(refused, "6 groups do not go with 7 rows; expected one for every row");
    }
}
