//! Rows of a CSV file as a given model wants them: columns by name when both sides have names, else by position.

use std::path::{Path, PathBuf};

use diffgp_infer::Model;
use diffgp_train::data::{COARSE, CsvRows, DataError};

use super::failure::mistake;
use super::layout::LayoutArgs;

/// An open CSV file, and which of its columns are the model's inputs and target.
#[derive(Debug)]
pub(crate) struct ModelRows {
    path: PathBuf,
    rows: CsvRows,
    /// The inputs in the model's order, then the target if it is wanted.
    columns: Vec<usize>,
    cells: Vec<f32>,
}

/// What the command does with the target column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// It is read; there must be one.
    Needed,
    /// It is skipped if it is there.
    Skipped,
}

impl ModelRows {
    /// Opens the file and settles the columns; `target` names the target column where the model's name does not.
    pub(crate) fn open(
        path: &Path,
        layout: &LayoutArgs,
        model: &Model<'_>,
        target: Option<&str>,
        need: Target,
    ) -> anyhow::Result<Self> {
        let rows = layout.open(path, target.unwrap_or_default())?;
        let ignored = rows.find_columns(&layout.ignore)?;
        let mut names: Vec<&str> = model.blob().names().collect();
        let target_name = names.pop();
        let target_column = target_column(path, &rows, target, target_name, need)?;
        let mut columns = match rows.names() {
            Some(header) if !names.is_empty() => by_name(path, header, &names)?,
            _ => by_position(path, &rows, model.inputs(), target_column, &ignored)?,
        };
        let named =
            |column: usize| rows.names().map_or_else(|| column.to_string(), |header| format!("{:?}", header[column]));
        if let Some(column) = target_column.filter(|column| columns.contains(column)) {
            let name = named(column);
            return Err(mistake(format!(
                "{}: --target names column {name}, which is an input of the model; expected the column with the target",
                path.display()
            )));
        }
        if need == Target::Needed {
            columns.extend(target_column);
        }
        if let Some(&column) = columns.iter().find(|column| ignored.contains(column)) {
            let name = named(column);
            return Err(mistake(format!(
                "{}: --ignore leaves out column {name}, which the model needs",
                path.display()
            )));
        }
        rows.check_names(&columns)?;
        Ok(Self { path: path.to_owned(), rows, columns, cells: Vec::new() })
    }

    /// The next row: the inputs, then the target if it is needed; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<&[f32]>, DataError> {
        Ok(self.rows.next_cells(&self.columns, &mut self.cells)?.then_some(self.cells.as_slice()))
    }

    /// All rows one after the other, inputs and target; an error if there are none, or if f32 makes one number of
    /// values that the model has to tell apart.
    pub(crate) fn read_all(mut self, model: &Model<'_>) -> Result<Vec<f32>, DataError> {
        let mut all = Vec::new();
        while let Some(cells) = self.next()? {
            all.extend_from_slice(cells);
        }
        if all.is_empty() {
            return Err(DataError::NoRows { path: Some(self.path) });
        }
        let blob = model.blob();
        let inputs =
            (0..model.inputs()).filter_map(|input| blob.input(input)).map(|input| 1.0 / f64::from(input.scale));
        let deviations = inputs.chain([f64::from(blob.header().target_scale)]);
        for (&column, deviation) in self.columns.iter().zip(deviations) {
            self.rows.check_spread(column, COARSE * deviation)?;
        }
        Ok(all)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }
}

fn target_column(
    path: &Path,
    rows: &CsvRows,
    asked: Option<&str>,
    known: Option<&str>,
    need: Target,
) -> anyhow::Result<Option<usize>> {
    if let Some(asked) = asked {
        return Ok(Some(rows.find_column(asked)?));
    }
    let found = rows.names().and_then(|header| header.iter().position(|name| Some(name.as_str()) == known));
    if found.is_none() && need == Target::Needed {
        let why = match (rows.names(), known) {
            (Some(_), Some(name)) => format!("no column is named {name:?} (the columns are {})", rows.listed()),
            (None, _) => "the file has no header".to_owned(),
            (_, None) => "the model holds no names".to_owned(),
        };
        return Err(mistake(format!(
            "{}: {why}; say which column is the target with --target NAME or --target INDEX",
            path.display()
        )));
    }
    Ok(found)
}

fn by_name(path: &Path, header: &[String], names: &[&str]) -> anyhow::Result<Vec<usize>> {
    let find = |&name: &&str| {
        header.iter().position(|column| column == name).ok_or_else(|| {
            let wanted = names.join(", ");
            mistake(format!("{}: no column {name:?}; the model's inputs are {wanted}", path.display()))
        })
    };
    names.iter().map(find).collect()
}

fn by_position(
    path: &Path,
    rows: &CsvRows,
    inputs: usize,
    target: Option<usize>,
    ignored: &[usize],
) -> anyhow::Result<Vec<usize>> {
    let is_input = |column: &usize| Some(*column) != target && !ignored.contains(column);
    let columns: Vec<usize> = (0..rows.columns()).filter(is_input).collect();
    if columns.len() == inputs {
        return Ok(columns);
    }
    let beside = if target.is_some() { " beside the target" } else { "" };
    let hint = if target.is_none() && columns.len() == inputs + 1 {
        "; if one of them is the target, say which with --target INDEX"
    } else if columns.len() > inputs {
        "; leave others out with --ignore INDEX,..."
    } else {
        ""
    };
    Err(mistake(format!(
        "{}: {} columns{beside}; the model takes {inputs} inputs{hint}",
        path.display(),
        columns.len()
    )))
}
