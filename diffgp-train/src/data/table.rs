//! Data sets from CSV files.

use std::path::Path;

use super::classes::{Classes, is_number};
use super::{CellProblem, Columns, CsvRows, DataError, Dataset, Header, TargetKind};

impl Dataset {
    /// Reads a CSV file, row by row.
    pub fn read_csv<'a>(
        path: &Path,
        columns: impl Into<Columns<'a>>,
        header: Header,
        kind: TargetKind,
    ) -> Result<Self, DataError> {
        let columns = columns.into();
        let rows = CsvRows::open(path, header, columns)?;
        let targets = rows.find_targets(columns.targets)?;
        let ignored = rows.find_columns(columns.ignored)?;
        if let Some(&target) = targets.iter().find(|&target| ignored.contains(target)) {
            return Err(DataError::TargetIgnored { path: path.to_owned(), target: rows.label(target) });
        }
        // In the order of the file.
        let is_input = |column: &usize| !targets.contains(column) && !ignored.contains(column);
        let inputs: Vec<usize> = (0..rows.columns()).filter(is_input).collect();
        if inputs.is_empty() {
            return Err(DataError::NoInputs { path: path.to_owned() });
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
            (TargetKind::Classes, _) => {
                Err(DataError::SeveralClassTargets { path: path.to_owned(), targets: targets.len() })
            }
            _ => data.read_numbers(rows, &inputs, &targets),
        }
    }

    fn read_numbers(mut self, mut rows: CsvRows, inputs: &[usize], targets: &[usize]) -> Result<Self, DataError> {
        let used = [inputs, targets].concat();
        let mut cells = Vec::new();
        while rows.next_cells(&used, &mut cells)? {
            let (x, y) = cells.split_at(inputs.len());
            self.x.extend_from_slice(x);
            self.y.extend_from_slice(y);
        }
        self.checked(&rows, &used)
    }

    /// With `words`, numbers are no classes.
    fn read_classes(
        mut self,
        mut rows: CsvRows,
        inputs: &[usize],
        target: usize,
        words: bool,
    ) -> Result<Self, DataError> {
        let (mut cells, mut classes) = (Vec::new(), Classes::default());
        while rows.next_cells(inputs, &mut cells)? {
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
        let data = self.checked(&rows, inputs)?;
        match only {
            Some(class) => Err(rows.one_class(target, class)),
            None => Ok(data),
        }
    }

    /// Refuses a file without rows, and columns that f32 cannot tell apart.
    fn checked(mut self, rows: &CsvRows, columns: &[usize]) -> Result<Self, DataError> {
        if self.x.is_empty() {
            return Err(DataError::NoRows { path: Some(rows.path().to_owned()) });
        }
        columns.iter().try_for_each(|&column| rows.check_spread(column, 0.0))?;
        self.x.shrink_to_fit();
        Ok(self)
    }
}
