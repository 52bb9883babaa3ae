//! Held-out rows: line K of a text file lists them, counted from 0, separated by blanks or commas.

use std::path::Path;

use super::{DataError, Dataset};

/// Reads line `split` (counted from 0); the rows come back sorted.
pub fn read_test_rows(path: &Path, split: usize) -> Result<Vec<usize>, DataError> {
    let content = read(path)?;
    let error = |problem| DataError::TestRows { path: path.to_owned(), line: split, problem };
    let line = splits(&content)
        .nth(split)
        .ok_or_else(|| error(format!("no such split; the file has {}, counted from 0", splits(&content).count())))?;
    let mut rows = Vec::new();
    for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let row = word.parse().map_err(|_| error(format!("{word:?} is not a row number (0, 1, 2, …)")))?;
        rows.push(row);
    }
    rows.sort_unstable();
    if let Some(pair) = rows.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(error(format!("row {} is listed twice", pair[0])));
    }
    Ok(rows)
}

/// How many splits the file holds.
pub fn count_splits(path: &Path) -> Result<usize, DataError> {
    Ok(splits(&read(path)?).count())
}

fn read(path: &Path) -> Result<String, DataError> {
    std::fs::read_to_string(path).map_err(|source| DataError::Io { path: path.to_owned(), source })
}

/// The lines that are not empty, without a byte order mark.
fn splits(content: &str) -> impl Iterator<Item = &str> {
    content.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty())
}

impl Dataset {
    /// Takes out the given rows (sorted, counted from 0): (the others, those rows).
    ///
    /// The others keep their order and their memory: nothing but the rows taken out is copied.
    pub fn hold_out(mut self, rows: &[usize]) -> Result<(Self, Self), DataError> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.rows()) {
            return Err(DataError::RowOutOfRange { row, rows: self.rows() });
        }
        let (inputs, outputs) = (self.inputs, self.outputs);
        let mut taken = self.without_rows();
        let mut kept = 0;
        let mut held_out = rows.iter().copied().peekable();
        for row in 0..self.rows() {
            if held_out.next_if_eq(&row).is_some() {
                taken.x.extend_from_slice(self.input_row(row));
                taken.y.extend_from_slice(self.target_row(row));
                taken.groups.iter_mut().zip(&self.groups).for_each(|(taken, groups)| taken.push(groups[row]));
            } else {
                self.x.copy_within(row * inputs..(row + 1) * inputs, kept * inputs);
                self.y.copy_within(row * outputs..(row + 1) * outputs, kept * outputs);
                self.groups.iter_mut().for_each(|groups| groups[kept] = groups[row]);
                kept += 1;
            }
        }
        self.x.truncate(kept * inputs);
        self.y.truncate(kept * outputs);
        self.groups.iter_mut().for_each(|groups| groups.truncate(kept));
        Ok((self, taken))
    }

    /// The same columns and no rows.
    fn without_rows(&self) -> Self {
        Self {
            names: self.names.clone(),
            target_names: self.target_names.clone(),
            classes: self.classes.clone(),
            groups: self.groups.as_ref().map(|_| Vec::new()),
            ..Self::without_names(self.inputs, self.outputs)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn held_out_rows_leave_and_the_rest_keep_their_order() {
        let data = Dataset::new((0..10).map(|i| i as f32).collect(), (0..5).map(|i| i as f32).collect(), 2).unwrap();
        let (rest, taken) = data.clone().hold_out(&[0, 3]).unwrap();
        assert_eq!(rest.targets(), [1.0, 2.0, 4.0]);
        assert_eq!(rest.input_row(2), [8.0, 9.0]);
        assert_eq!(taken.targets(), [0.0, 3.0]);
        assert_eq!(taken.input_row(1), [6.0, 7.0]);
        let pairs = Dataset::with_outputs((0..3).map(|i| i as f32).collect(), (0..6).map(|i| i as f32).collect(), 1, 2);
        let (rest, taken) = pairs.unwrap().hold_out(&[1]).unwrap();
        assert_eq!((rest.targets(), taken.targets()), (&[0.0, 1.0, 4.0, 5.0][..], &[2.0, 3.0][..]));
        assert_eq!(rest.target_row(1), [4.0, 5.0]);
        let error = data.hold_out(&[5]).unwrap_err().to_string();
        assert_eq!(error, "held-out row 5 does not exist: the data has rows 0 to 4");
    }

    #[test]
    fn lines_of_the_split_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"3 1\n2, 5\r\n7 x\n4 4\n").unwrap();
        let read = |split| read_test_rows(file.path(), split);
        assert_eq!(read(0).unwrap(), [1, 3]);
        assert_eq!(read(1).unwrap(), [2, 5]);
        assert!(read(2).unwrap_err().to_string().ends_with("line 2: \"x\" is not a row number (0, 1, 2, …)"));
        assert!(read(3).unwrap_err().to_string().ends_with("row 4 is listed twice"));
        assert!(read(4).unwrap_err().to_string().ends_with("no such split; the file has 4, counted from 0"));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_split_file() {
        let counted = |content: &str| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            (count_splits(file.path()).unwrap(), read_test_rows(file.path(), 0).ok())
        };
        assert_eq!(counted("\u{feff}3 1\n\n2\n"), (2, Some(vec![1, 3])));
        assert_eq!(counted("\u{feff}"), (0, None));
        assert_eq!(counted("\n \n"), (0, None));
    }
}
