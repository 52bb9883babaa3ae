//! Classes: what a target column of words or whole numbers holds.
//!
//! Classes of numbers are ordered by value, all others by their text. A row's target is the index of its class.

use std::collections::HashMap;

use super::cell::quoted;
use super::error::CellProblem;
use super::{DataError, Dataset};

/// Classes at most; the model file has the same limit.
pub const MAX_CLASSES: usize = 32;

/// Whole numbers beyond this are not exact in f64.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// The name of the class in a cell: the text in it, or a whole number in its shortest form (`1` for `1.0`).
pub(super) fn name(cell: &[u8]) -> Result<String, CellProblem> {
    let cell = std::str::from_utf8(cell).map_err(|_| CellProblem::NotUtf8)?.trim();
    match cell.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() <= LARGEST => Ok(format!("{}", value + 0.0)),
        Ok(_) => Err(CellProblem::NotAClass),
        // `none` is a class: no fault, for one.
        Err(_) if matches!(cell.to_ascii_lowercase().as_str(), "" | "na" | "n/a" | "null" | "?" | "-") => {
            Err(CellProblem::Missing)
        }
        Err(_) => Ok(cell.to_owned()),
    }
}

/// Whether a class has a number for a name.
pub(super) fn is_number(name: &str) -> bool {
    name.parse::<f64>().is_ok()
}

/// Classes as they come, row by row.
#[derive(Debug, Default)]
pub(super) struct Classes {
    found: HashMap<String, usize>,
    /// For every row, which of the classes found it has.
    rows: Vec<f32>,
}

impl Classes {
    /// One row; an error for one class too many.
    pub(super) fn add(&mut self, name: &str) -> Result<(), CellProblem> {
        let index = match self.found.get(name) {
            Some(&index) => index,
            None if self.found.len() == MAX_CLASSES => return Err(CellProblem::TooManyClasses),
            None => {
                self.found.insert(name.to_owned(), self.found.len());
                self.found.len() - 1
            }
        };
        self.rows.push(index as f32);
        Ok(())
    }

    /// The targets and the names of the classes, in order.
    pub(super) fn finish(mut self) -> (Vec<f32>, Vec<String>) {
        let mut names: Vec<(String, usize)> = self.found.into_iter().collect();
        if names.iter().all(|(name, _)| is_number(name)) {
            names.sort_by(|a, b| value(&a.0).total_cmp(&value(&b.0)));
        } else {
            names.sort();
        }
        let mut place = vec![0.0; names.len()];
        for (index, (_, found)) in names.iter().enumerate() {
            place[*found] = index as f32;
        }
        self.rows.iter_mut().for_each(|class| *class = place[*class as usize]);
        (self.rows, names.into_iter().map(|(name, _)| name).collect())
    }
}

fn value(name: &str) -> f64 {
    name.parse().unwrap_or(f64::NAN)
}

impl Dataset {
    /// Copies rows whose target is a class: `x` is `[N, inputs]` row-major, `labels` holds N words or whole numbers.
    pub fn from_labels<T: Copy + Into<f64>>(
        x: &[T],
        labels: &[impl AsRef<str>],
        inputs: usize,
    ) -> Result<Self, DataError> {
        Self::without_names(inputs, 1).labelled(x, labels)
    }

    /// Like [`Dataset::from_labels`], with a name for every input and for the target.
    pub fn from_named_labels<T: Copy + Into<f64>>(
        x: &[T],
        labels: &[impl AsRef<str>],
        names: &[impl AsRef<str>],
        target: &str,
    ) -> Result<Self, DataError> {
        Self::with_names(names, &[target])?.labelled(x, labels)
    }

    fn labelled<T: Copy + Into<f64>>(mut self, x: &[T], labels: &[impl AsRef<str>]) -> Result<Self, DataError> {
        let mut found = Classes::default();
        for (row, label) in labels.iter().map(AsRef::as_ref).enumerate() {
            name(label.as_bytes()).and_then(|name| found.add(&name)).map_err(|problem| DataError::Label {
                row: row + 1,
                label: quoted(label),
                problem,
            })?;
        }
        let (y, classes) = found.finish();
        let y: Vec<f64> = y.into_iter().map(f64::from).collect();
        self.fill(x, &y)?;
        if let [only] = classes.as_slice() {
            return Err(DataError::OneClass { path: None, column: self.target_label(0), class: quoted(only) });
        }
        self.classes = Some(classes);
        self.check_name_lengths()?;
        Ok(self)
    }

    /// Names of the classes, in order, if the target is a class: targets are then indices into them.
    pub fn classes(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// Rows of every class, in the order of the classes; nothing for numbers.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.as_ref().map_or(0, Vec::len)];
        if self.classes.is_some() {
            self.y.iter().for_each(|&class| counts[class as usize] += 1);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(labels: &[&str]) -> Result<Dataset, DataError> {
        let x: Vec<f32> = (0..labels.len()).map(|i| i as f32).collect();
        Dataset::from_labels(&x, labels, 1)
    }

    fn classes(labels: &[&str]) -> (Vec<f32>, Vec<String>) {
        let data = of(labels).unwrap();
        (data.targets().to_vec(), data.classes().unwrap().to_vec())
    }

    #[test]
    fn numbers_are_ordered_by_value_and_words_by_letters() {
        assert_eq!(classes(&["1", "0", "1.0"]), (vec![1.0, 0.0, 1.0], vec!["0".into(), "1".into()]));
        let (y, names) = classes(&["10", "9", "-1", "1e1", "-0"]);
        assert_eq!((y, names), (vec![3.0, 2.0, 0.0, 3.0, 1.0], ["-1", "0", "9", "10"].map(String::from).to_vec()));
        let (y, names) = classes(&["outer", "none", " inner ", "none"]);
        assert_eq!((y, names), (vec![2.0, 1.0, 0.0, 1.0], ["inner", "none", "outer"].map(String::from).to_vec()));
        assert_eq!(classes(&["2", "10", "2b"]).1, ["10", "2", "2b"]);
    }

    #[test]
    fn rows_are_counted_by_class() {
        let data = of(&["b", "a", "b", "c"]).unwrap();
        assert_eq!(data.class_counts(), [1, 2, 1]);
        let (rest, taken) = data.hold_out(&[3]).unwrap();
        assert_eq!((rest.class_counts(), taken.class_counts()), (vec![1, 2, 0], vec![0, 0, 1]));
        assert!(Dataset::new(vec![1.0], vec![1.0], 1).unwrap().class_counts().is_empty());
    }

    #[test]
    fn what_is_no_class_is_refused() {
        let message = |labels: &[&str]| of(labels).unwrap_err().to_string();
        let real = "row 2: \"0.5\" is not a class; expected a word or a whole number";
        assert_eq!(message(&["1", "0.5"]), real);
        assert!(message(&["1", "inf"]).contains("not a class"));
        assert!(message(&["1", "1e300"]).contains("not a class"));
        assert!(message(&["a", " "]).contains("row 2: \" \" is a missing value"));
        assert!(message(&["a", "NA"]).contains("missing value"));
        assert_eq!(message(&["a", "a"]), "the target: all rows are of the class \"a\"; expected at least two classes");
        let many: Vec<String> = (0..33).map(|class| class.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many[..32]).unwrap().classes().unwrap().len(), 32);
        assert!(message(&many).starts_with("row 33: \"32\" is one class too many; expected at most 32"));
        assert!(message(&["a", &"n".repeat(256)]).contains("256 bytes"));
        assert!(matches!(Dataset::from_labels(&[1.0], &["a", "b"], 1), Err(DataError::Shape { .. })));
    }
}
