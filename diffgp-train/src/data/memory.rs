//! Data sets from arrays in memory, with the checks of a file.

use super::spread::Spread;
use super::{CellProblem, DataError, Dataset, names};

impl Dataset {
    /// A data set that takes over its values: `x` is `[N, inputs]` row-major, `y` is `[N]`.
    pub fn new(x: Vec<f32>, y: Vec<f32>, inputs: usize) -> Result<Self, DataError> {
        Self::with_outputs(x, y, inputs, 1)
    }

    /// Like [`Dataset::new`] with several targets: `y` is `[N, outputs]` row-major.
    pub fn with_outputs(x: Vec<f32>, y: Vec<f32>, inputs: usize, outputs: usize) -> Result<Self, DataError> {
        check_shape(x.len(), y.len(), inputs, outputs)?;
        let data = Self { x, y, ..Self::without_names(inputs, outputs) };
        let not_finite = |value: &f32| !value.is_finite();
        if let Some(i) = data.x.iter().position(not_finite) {
            return Err(data.value_error(i / inputs, i % inputs, data.x[i].into()));
        }
        match data.y.iter().position(not_finite) {
            Some(i) => Err(data.value_error(i / outputs, inputs + i % outputs, data.y[i].into())),
            None => Ok(data),
        }
    }

    /// Copies rows of f32 or f64: `x` is `[N, inputs]` row-major, `y` is `[N]`.
    ///
    /// Values are rounded to f32 once; a column of different values that become one is refused.
    pub fn from_rows<T: Copy + Into<f64>>(x: &[T], y: &[T], inputs: usize) -> Result<Self, DataError> {
        Self::from_rows_with_outputs(x, y, inputs, 1)
    }

    /// Like [`Dataset::from_rows`] with several targets: `y` is `[N, outputs]` row-major.
    pub fn from_rows_with_outputs<T: Copy + Into<f64>>(
        x: &[T],
        y: &[T],
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, DataError> {
        let mut data = Self::without_names(inputs, outputs);
        data.fill(x, y)?;
        Ok(data)
    }

    /// Like [`Dataset::from_rows_with_outputs`], with a name for every input and every target.
    ///
    /// The model file keeps the names. Where messages number the columns, the targets are the last.
    pub fn from_named_rows<T: Copy + Into<f64>>(
        x: &[T],
        y: &[T],
        names: &[impl AsRef<str>],
        targets: &[impl AsRef<str>],
    ) -> Result<Self, DataError> {
        let mut data = Self::with_names(names, targets)?;
        data.fill(x, y)?;
        Ok(data)
    }

    /// Columns without names and no rows.
    pub(super) fn without_names(inputs: usize, outputs: usize) -> Self {
        Self {
            x: Vec::new(),
            y: Vec::new(),
            inputs,
            outputs,
            names: None,
            target_names: None,
            classes: None,
            groups: None,
        }
    }

    /// Columns with names and no rows.
    pub(super) fn with_names(names: &[impl AsRef<str>], targets: &[impl AsRef<str>]) -> Result<Self, DataError> {
        let targets_of = targets.iter().map(AsRef::as_ref);
        let all: Vec<String> = names.iter().map(AsRef::as_ref).chain(targets_of).map(|n| n.trim().to_owned()).collect();
        let columns: Vec<usize> = (0..all.len()).collect();
        names::check(&all, &columns, None)?;
        let (names, targets) = all.split_at(names.len());
        let data = Self {
            names: Some(names.to_vec()),
            target_names: Some(targets.to_vec()),
            ..Self::without_names(names.len(), targets.len())
        };
        data.check_name_lengths()?;
        Ok(data)
    }

    /// Puts rows into a data set without any.
    pub(super) fn fill<X: Copy + Into<f64>, Y: Copy + Into<f64>>(&mut self, x: &[X], y: &[Y]) -> Result<(), DataError> {
        check_shape(x.len(), y.len(), self.inputs, self.outputs)?;
        if y.is_empty() {
            return Err(DataError::NoRows { path: None });
        }
        self.x.reserve_exact(x.len());
        self.y.reserve_exact(y.len());
        let mut spreads = vec![Spread::EMPTY; self.inputs + self.outputs];
        for (row, (inputs, targets)) in x.chunks_exact(self.inputs).zip(y.chunks_exact(self.outputs)).enumerate() {
            let (inputs, targets) = (inputs.iter().map(|&x| x.into()), targets.iter().map(|&y| y.into()));
            for (column, value) in inputs.chain(targets).enumerate() {
                let value: f64 = value;
                let rounded = value as f32;
                if !rounded.is_finite() {
                    return Err(self.value_error(row, column, value));
                }
                spreads[column].add(value);
                if column < self.inputs { self.x.push(rounded) } else { self.y.push(rounded) }
            }
        }
        match spreads.iter().position(|spread| spread.hidden() > 0.0) {
            Some(column) => Err(DataError::Indistinct { path: None, column: self.column_label(column) }),
            None => Ok(()),
        }
    }

    fn value_error(&self, row: usize, column: usize, value: f64) -> DataError {
        let problem = if value.is_finite() { CellProblem::OutOfRange } else { CellProblem::NotFinite };
        DataError::Value { row: row + 1, column: self.column_label(column), value, problem }
    }

    /// How messages speak of a column, the targets being the last.
    fn column_label(&self, column: usize) -> String {
        match column.checked_sub(self.inputs) {
            Some(output) => self.target_label(output),
            None => self.input_label(column),
        }
    }
}

fn check_shape(values: usize, targets: usize, inputs: usize, outputs: usize) -> Result<(), DataError> {
    if outputs == 0 || !targets.is_multiple_of(outputs) {
        return Err(DataError::TargetShape { values: targets, outputs });
    }
    let rows = targets / outputs;
    let fits = inputs > 0 && rows.checked_mul(inputs) == Some(values);
    if fits { Ok(()) } else { Err(DataError::Shape { values, rows, inputs }) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::data::{Header, TargetKind};

    fn message(outcome: Result<Dataset, DataError>) -> String {
        outcome.unwrap_err().to_string()
    }

    /// Twelve rows of two inputs and a target, none of them exact in f32.
    fn numbers() -> (Vec<f64>, Vec<f64>) {
        let x = (0..24).map(|i| (0.7 * f64::from(i)).sin() * 10_f64.powi(i % 9 - 4)).collect();
        (x, (0..12).map(|i| 1e3 + 0.1 * f64::from(i)).collect())
    }

    #[test]
    fn arrays_and_a_file_of_the_same_numbers_are_the_same_data() {
        let (x, y) = numbers();
        let mut table = String::from("a,b,y\n");
        for (x, y) in x.chunks_exact(2).zip(&y) {
            writeln!(table, "{},{},{y}", x[0], x[1]).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &table).unwrap();
        let read = Dataset::read_file(file.path(), "y", Header::Detect, TargetKind::Real).unwrap();
        let given = Dataset::from_named_rows(&x, &y, &["a", " b "], &["y"]).unwrap();
        assert_eq!((&given, given.fingerprint()), (&read, read.fingerprint()));

        let rounded = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let (x, y) = (rounded(&x), rounded(&y));
        assert_eq!(Dataset::from_named_rows(&x, &y, &["a".to_owned(), "b".to_owned()], &["y"]).unwrap(), read);
        let unnamed = Dataset::from_rows(&x, &y, 2).unwrap();
        assert_eq!(unnamed, Dataset::new(x, y, 2).unwrap());
        assert_ne!(unnamed.fingerprint(), read.fingerprint());
    }

    #[test]
    fn values_that_f32_cannot_hold_are_refused_with_their_row_and_column() {
        let (x, y) = numbers();
        let with = |index: usize, value: f64| {
            let mut x = x.clone();
            x[index] = value;
            Dataset::from_named_rows(&x, &y, &["a", "b"], &["y"])
        };
        assert_eq!(message(with(5, f64::NAN)), "row 3, \"b\": NaN is not finite; expected a finite number");
        assert_eq!(message(with(4, f64::NEG_INFINITY)), "row 3, \"a\": -inf is not finite; expected a finite number");
        let beyond = "row 1, \"a\": 1e39 is beyond the range of 32-bit floats (3.4e38); rescale the column";
        assert_eq!(message(with(0, 1e39)), beyond);
        let target = Dataset::from_rows(&[1.0, 2.0], &[0.0, f64::INFINITY], 1);
        assert_eq!(message(target), "row 2, the target: inf is not finite; expected a finite number");
        let single = Dataset::from_rows(&[1.0, f32::NAN], &[0.0, 1.0], 1);
        assert_eq!(message(single), "row 2, input 0: NaN is not finite; expected a finite number");
        let owned = Dataset::new(vec![1.0, 2.0, 3.0, f32::NAN], vec![0.0; 2], 2);
        assert_eq!(message(owned), "row 2, input 1: NaN is not finite; expected a finite number");
        assert!(message(Dataset::new(vec![1.0; 2], vec![0.0, f32::INFINITY], 1)).starts_with("row 2, the target: inf"));
    }

    #[test]
    fn columns_that_f32_cannot_resolve_are_refused() {
        let seconds = [1.7e9, 1.7e9 + 30.0];
        let advice = "its values differ by less than 32-bit floats can tell apart; subtract a constant from the column, or rescale it";
        assert_eq!(message(Dataset::from_rows(&seconds, &[1.0, 2.0], 1)), format!("input 0: {advice}"));
        assert!(message(Dataset::from_rows(&[1.0, 2.0], &seconds, 1)).starts_with("the target: its values"));
        assert!(Dataset::from_rows(&seconds.map(|value| value as f32), &[1.0, 2.0], 1).is_ok());
        assert!(Dataset::from_rows(&[0.3, 0.1 + 0.2], &[5.0, 5.0], 1).is_ok());
    }

    #[test]
    fn values_that_make_no_rows_are_refused() {
        assert_eq!(
            message(Dataset::new(vec![1.0; 5], vec![0.0; 2], 2)),
            "5 input values do not make 2 rows of 2 inputs"
        );
        assert!(matches!(Dataset::new(vec![], vec![], 0), Err(DataError::Shape { .. })));
        assert!(matches!(Dataset::from_rows(&[1.0; 5], &[0.0; 2], 2), Err(DataError::Shape { .. })));
        assert!(matches!(Dataset::from_rows(&[1.0; 2], &[0.0; 2], 0), Err(DataError::Shape { .. })));
        assert!(matches!(Dataset::from_named_rows(&[1.0; 4], &[0.0; 2], &["a"], &["y"]), Err(DataError::Shape { .. })));
        assert!(matches!(
            Dataset::from_named_rows(&[1.0; 4], &[0.0; 2], &[""; 0], &["y"]),
            Err(DataError::Shape { .. })
        ));
        assert_eq!(message(Dataset::from_rows::<f64>(&[], &[], 2)), "no data rows");
        assert_eq!(Dataset::new(vec![1.0; 4], vec![0.0; 2], 2).unwrap().rows(), 2);
    }

    #[test]
    fn names_are_checked() {
        let named = |names: [&str; 2], target: &str| {
            let (x, y) = numbers();
            Dataset::from_named_rows(&x, &y, &names, &[target])
        };
        assert!(message(named(["a", "a"], "y")).starts_with("columns 0 and 1 (counted from 0) are both named \"a\""));
        assert!(message(named(["a", "b"], "b")).starts_with("columns 1 and 2 (counted from 0) are both named \"b\""));
        assert!(message(named(["a", " "], "y")).starts_with("column 1 (counted from 0) has no name"));
        let long = "n".repeat(256);
        assert!(message(named([&long, "b"], "y")).contains("has 256 bytes, a model holds 255 at most"));
        assert!(message(named(["a", "b"], &long)).contains("256 bytes"));
        assert!(named([&long[1..], "b"], "y").is_ok());
    }

    #[test]
    fn several_targets_from_arrays_and_from_a_file_are_the_same_data() {
        let (x, y) = numbers();
        let mut table = String::from("b,y,a,z\n");
        for (x, y) in x[..12].chunks_exact(2).zip(y.chunks_exact(2)) {
            writeln!(table, "{},{},{},{}", x[0], y[1], x[1], y[0]).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &table).unwrap();
        let read = Dataset::read_file(file.path(), "z,y", Header::Detect, TargetKind::Real).unwrap();
        let given = Dataset::from_named_rows(&x[..12], &y, &["b", "a"], &["z", "y"]).unwrap();
        assert_eq!((&given, given.fingerprint()), (&read, read.fingerprint()));
        assert_eq!((given.rows(), given.outputs(), given.target_row(5)), (6, 2, &[y[10] as f32, y[11] as f32][..]));
        let unnamed = Dataset::from_rows_with_outputs(&x[..12], &y, 2, 2).unwrap();
        assert_eq!(unnamed.targets(), read.targets());
        assert_eq!(
            message(Dataset::from_rows_with_outputs(&x, &y, 2, 5)),
            "12 target values do not make rows of 5 targets"
        );
        let gap = Dataset::with_outputs(vec![1.0, 2.0], vec![0.0, 1.0, f32::NAN, 2.0], 1, 2);
        assert_eq!(message(gap), "row 2, target 0: NaN is not finite; expected a finite number");
        assert!(message(Dataset::with_outputs(vec![1.0], vec![], 1, 0)).contains("rows of 0 targets"));
    }
}
