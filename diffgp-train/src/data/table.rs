//! Data sets from files.

use std::path::Path;

use diffgp_core::blob::limits::MAX_INPUTS;

use super::classes::{Classes, is_number};
use super::survey::survey;
use super::{CellProblem, Columns, DataError, Dataset, Header, Rows, TargetKind, Watched};

impl Dataset {
    /// Reads a file, row by row: CSV, arrays of NumPy, or Parquet.
    pub fn read_file<'a>(
        path: &Path,
        columns: impl Into<Columns<'a>>,
        header: Header,
        kind: TargetKind,
    ) -> Result<Self, DataError> {
        let columns = columns.into();
        Self::read_rows(&mut Rows::open(path, header, columns)?, columns, kind)
    }

    /// Reads an open file to its end.
    pub fn read_rows(rows: &mut Rows, columns: Columns<'_>, kind: TargetKind) -> Result<Self, DataError> {
        let path = rows.path().to_owned();
        let targets = rows.find_targets(columns.targets)?;
        let ignored = rows.find_columns(columns.ignored)?;
        if let Some(&target) = targets.iter().find(|&target| ignored.contains(target)) {
            return Err(DataError::TargetIgnored { path, target: rows.label(target) });
        }
        // In the order of the file.
        let is_input = |column: &usize| !targets.contains(column) && !ignored.contains(column);
        let inputs: Vec<usize> = (0..rows.columns()).filter(is_input).collect();
        if inputs.is_empty() {
            return Err(DataError::NoInputs { path });
        }
        if inputs.len() > MAX_INPUTS {
            return Err(DataError::ManyInputs { path, inputs: inputs.len() });
        }
        rows.check_names(&[inputs.as_slice(), &targets].concat())?;
        let named = |columns: &[usize]| rows.names().map(|names| columns.iter().map(|&i| names[i].clone()).collect());
        let (names, target_names) = (named(&inputs), named(&targets));
        let data = Self { names, target_names, ..Self::without_names(inputs.len(), targets.len()) };
        match (kind, targets.as_slice()) {
            (TargetKind::Classes, &[target]) => data.read_classes(rows, &inputs, target, false),
            (TargetKind::Detect, &[target]) if rows.begins_with_word(target) => {
                data.read_classes(rows, &inputs, target, true)
            }
            (TargetKind::Classes, _) => Err(DataError::SeveralClassTargets { path, targets: targets.len() }),
            _ => data.read_numbers(rows, &inputs, &targets),
        }
    }

    fn read_numbers(mut self, rows: &mut Rows, inputs: &[usize], targets: &[usize]) -> Result<Self, DataError> {
        let used = [inputs, targets].concat();
        rows.watch(Watched { inputs: inputs.to_vec(), targets: targets.to_vec(), ..Watched::default() });
        let mut cells = Vec::new();
        while next(rows, &used, inputs, &mut cells)? {
            let (x, y) = cells.split_at(inputs.len());
            self.x.extend_from_slice(x);
            self.y.extend_from_slice(y);
        }
        self.checked(rows, inputs, &used)
    }

    /// With `words`, numbers are no classes.
    fn read_classes(
        mut self,
        rows: &mut Rows,
        inputs: &[usize],
        target: usize,
        words: bool,
    ) -> Result<Self, DataError> {
        rows.watch(Watched { inputs: inputs.to_vec(), class: Some(target), ..Watched::default() });
        let (mut cells, mut classes) = (Vec::new(), Classes::default());
        while next(rows, inputs, inputs, &mut cells)? {
            self.x.extend_from_slice(&cells);
            let name = rows.class(target)?;
            if words && is_number(&name) {
                return Err(rows.cell_error(target, &name, CellProblem::NumberAmongWords));
            }
            classes.add(&name).map_err(|problem| rows.cell_error(target, &name, problem))?;
        }
        let (y, classes) = classes.finish();
        self.y = y;
        let only = (classes.len() == 1).then(|| classes[0].clone());
        self.classes = Some(classes);
        let data = self.checked(rows, inputs, inputs)?;
        match only {
            Some(class) => Err(rows.one_class(target, class)),
            None => Ok(data),
        }
    }

    /// Refuses a file without rows, and columns that f32 cannot tell apart; fills what is to be filled.
    fn checked(mut self, rows: &Rows, inputs: &[usize], columns: &[usize]) -> Result<Self, DataError> {
        if self.x.is_empty() {
            return Err(DataError::NoRows { path: Some(rows.path().to_owned()) });
        }
        columns.iter().try_for_each(|&column| rows.check_spread(column, 0.0))?;
        let [_, filled] = rows.repaired();
        if filled > 0 {
            self.fill_with_means(|input| rows.empty_column(inputs[input]))?;
        }
        self.x.shrink_to_fit();
        Ok(self)
    }
}

impl Dataset {
    /// Puts the mean of its column in place of every NaN.
    fn fill_with_means(&mut self, empty: impl Fn(usize) -> DataError) -> Result<(), DataError> {
        for input in 0..self.inputs {
            let (mut sum, mut count) = (0.0, 0_u64);
            for &x in self.x.iter().skip(input).step_by(self.inputs).filter(|x| !x.is_nan()) {
                sum += f64::from(x);
                count += 1;
            }
            if count == 0 {
                return Err(empty(input));
            }
            let mean = (sum / count as f64) as f32;
            self.x.iter_mut().skip(input).step_by(self.inputs).filter(|x| x.is_nan()).for_each(|x| *x = mean);
        }
        Ok(())
    }
}

/// The next row, or all that is no number from it on.
fn next(rows: &mut Rows, used: &[usize], inputs: &[usize], cells: &mut Vec<f32>) -> Result<bool, DataError> {
    rows.next_cells(used, cells).map_err(|error| survey(rows, used, inputs, error))
}
