//! Data sets from files.

use std::path::Path;

use diffgp_core::blob::limits::MAX_INPUTS;

use super::classes::{Classes, is_number};
use super::ranking::too_many;
use super::survey::survey;
use super::words::Words;
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
            return Err(too_many(rows, &inputs, &targets));
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
        let mut columns = InputColumns::new(rows, inputs)?;
        let used = [columns.numbers.as_slice(), targets].concat();
        rows.watch(Watched { targets: targets.to_vec(), ..columns.watched() });
        let mut cells = Vec::new();
        while columns.next(rows, &used, &mut cells)? {
            let (x, y) = cells.split_at(columns.numbers.len());
            self.x.extend_from_slice(x);
            self.y.extend_from_slice(y);
        }
        self.checked(rows, columns, &used)
    }

    /// With `words`, numbers are no classes.
    fn read_classes(
        mut self,
        rows: &mut Rows,
        inputs: &[usize],
        target: usize,
        words: bool,
    ) -> Result<Self, DataError> {
        let mut columns = InputColumns::new(rows, inputs)?;
        let used = columns.numbers.clone();
        rows.watch(Watched { class: Some(target), ..columns.watched() });
        let (mut cells, mut classes) = (Vec::new(), Classes::default());
        while columns.next(rows, &used, &mut cells)? {
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
        let data = self.checked(rows, columns, &used)?;
        match only {
            Some(class) => Err(rows.one_class(target, class)),
            None => Ok(data),
        }
    }

    /// Refuses a file without rows, and columns that f32 cannot tell apart; fills what is to be filled.
    fn checked(mut self, rows: &Rows, columns: InputColumns, used: &[usize]) -> Result<Self, DataError> {
        let path = || rows.path().to_owned();
        if self.y.is_empty() {
            return Err(DataError::NoRows { path: Some(path()) });
        }
        used.iter().try_for_each(|&column| rows.check_spread(column, 0.0))?;
        let InputColumns { all, words, .. } = columns;
        words.put_into(&mut self, &all, rows)?;
        if self.inputs > MAX_INPUTS {
            let (kept, leave_out) = (Vec::new(), Vec::new());
            return Err(DataError::ManyInputs { path: path(), inputs: self.inputs, kept, leave_out });
        }
        let [_, filled] = rows.repaired();
        if filled > 0 {
            // Of words there is one at least, or they would be no words.
            self.fill_with_means(|input| rows.empty_column(all[input.min(all.len() - 1)]))?;
        }
        self.x.shrink_to_fit();
        Ok(self)
    }
}

/// The columns of the inputs, and which of them hold words.
struct InputColumns {
    all: Vec<usize>,
    numbers: Vec<usize>,
    words: Words,
}

impl InputColumns {
    fn new(rows: &mut Rows, inputs: &[usize]) -> Result<Self, DataError> {
        let words = Words::among(rows, inputs)?;
        let of_words = words.columns();
        let numbers = inputs.iter().copied().filter(|column| !of_words.contains(column)).collect();
        Ok(Self { all: inputs.to_vec(), numbers, words })
    }

    fn watched(&self) -> Watched {
        Watched { inputs: self.numbers.clone(), words: self.words.columns(), ..Watched::default() }
    }

    /// The next row, its words remembered; or all that cannot be used from it on.
    fn next(&mut self, rows: &mut Rows, used: &[usize], cells: &mut Vec<f32>) -> Result<bool, DataError> {
        let read = match rows.next_cells(used, cells) {
            Ok(true) => self.words.read(rows).map(|()| true),
            other => other,
        };
        read.map_err(|error| survey(rows, used, &self.all, &mut self.words, error))
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
