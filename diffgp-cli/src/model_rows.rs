//! Rows of a file as a given model wants them: columns by name when both sides have names, else by position.

use std::path::{Path, PathBuf};

use diffgp_infer::Model;
use diffgp_train::data::{COARSE, Category, CellProblem, DataError, Field, Rows, Watched, fields};

use super::failure::mistake;
use super::layout::LayoutArgs;
use super::model_names;

/// An open file, and which of its columns are the model's inputs and targets.
#[derive(Debug)]
pub(crate) struct ModelRows {
    path: PathBuf,
    rows: Rows,
    /// In the model's order.
    inputs: Vec<Source>,
    /// In the model's order; none if they are not wanted.
    targets: Vec<usize>,
    /// Of a classifier whose target is wanted.
    classes: Vec<String>,
    /// Columns that hold numbers: of the inputs, then of the targets.
    numbers: Vec<usize>,
    /// Of the rows that the model was trained on: for missing inputs.
    means: Vec<f32>,
    /// Of those columns.
    read: Vec<f32>,
    cells: Vec<f32>,
}

/// Where the values of inputs come from.
#[derive(Debug)]
enum Source {
    /// One input: a column of numbers.
    Number(usize),
    /// All inputs of a category: a column of its words.
    Words(usize, Category),
}

impl Source {
    fn column(&self) -> usize {
        match self {
            Self::Number(column) | Self::Words(column, _) => *column,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }
}

/// What the command does with the target columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// They are read; there must be some.
    Needed,
    /// They are skipped if they are there.
    Skipped,
}

impl ModelRows {
    /// Opens the file and settles the columns; `targets` names the target columns where the model's names do not.
    pub(crate) fn open(
        path: &Path,
        layout: &LayoutArgs,
        model: &Model<'_>,
        targets: Option<&str>,
        need: Target,
    ) -> anyhow::Result<Self> {
        let names = model_names::kept(model);
        let known = names.as_ref().map(|(_, targets)| targets.join(","));
        let mut rows = layout.open(path, targets.or(known.as_deref()).unwrap_or_default())?;
        let ignored = rows.find_columns(&layout.ignore)?;
        let wanted = TargetColumns { path, rows: &rows, count: model_names::target_count(model) };
        let target_columns = wanted.find(targets, names.as_ref().map(|(_, targets)| targets.as_slice()), need)?;
        let inputs = match (rows.names(), &names) {
            (Some(header), Some((names, _))) => by_name(path, header, names)?,
            _ => by_position(path, &rows, model, &target_columns, &ignored)?.into_iter().map(Source::Number).collect(),
        };
        let input_columns: Vec<usize> = inputs.iter().map(Source::column).collect();
        let named =
            |column: usize| rows.names().map_or_else(|| column.to_string(), |header| format!("{:?}", header[column]));
        if let Some(&column) = target_columns.iter().find(|column| input_columns.contains(column)) {
            let name = named(column);
            return Err(mistake(format!(
                "{}: --target names column {name}, which is an input of the model; expected the column with the target",
                path.display()
            )));
        }
        let (targets, classes) = match need {
            Target::Needed => (target_columns, model_names::classes(model)),
            Target::Skipped => (Vec::new(), Vec::new()),
        };
        let used = [input_columns.as_slice(), &targets].concat();
        if let Some(&column) = used.iter().find(|column| ignored.contains(column)) {
            let name = named(column);
            return Err(mistake(format!(
                "{}: --ignore leaves out column {name}, which the model needs",
                path.display()
            )));
        }
        rows.check_names(&used)?;
        let (numbers, words): (Vec<&Source>, Vec<&Source>) = inputs.iter().partition(|source| source.is_number());
        let [numbers, words] = [numbers, words].map(|of| of.into_iter().map(Source::column).collect::<Vec<_>>());
        let watched = Watched { inputs: numbers.clone(), words, ..Watched::default() };
        rows.watch(match classes.is_empty() {
            true => Watched { targets: targets.clone(), ..watched },
            false => Watched { class: targets.first().copied(), ..watched },
        });
        let numbers = if classes.is_empty() { [numbers, targets.clone()].concat() } else { numbers };
        let blob = model.blob();
        let means = (0..model.inputs()).filter_map(|input| blob.input(input)).map(|input| input.mean).collect();
        let (read, cells) = (Vec::new(), Vec::new());
        Ok(Self { path: path.to_owned(), rows, inputs, targets, classes, numbers, means, read, cells })
    }

    /// The next row: the inputs, then the targets or the index of the class if they are needed; `None` at the end of the
    /// file.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<&[f32]>> {
        if !self.rows.next_cells(&self.numbers, &mut self.read)? {
            return Ok(None);
        }
        self.cells.clear();
        let mut numbers = self.read.iter();
        for source in &self.inputs {
            match source {
                Source::Number(_) => self.cells.extend(numbers.next()),
                Source::Words(column, category) => {
                    let word = self.rows.category(*column, category).map_err(|error| unknown(error, category))?;
                    category.push(word, &mut self.cells);
                }
            }
        }
        self.cells.extend(numbers);
        for (cell, mean) in self.cells.iter_mut().zip(&self.means).filter(|(cell, _)| cell.is_nan()) {
            *cell = *mean;
        }
        if !self.classes.is_empty() {
            let name = self.rows.class(self.targets[0])?;
            let class = self.classes.iter().position(|class| *class == name).ok_or_else(|| {
                let error = self.rows.unknown_class(self.targets[0]);
                mistake(format!("{error}, which are {}", self.classes.join(", ")))
            })?;
            self.cells.push(class as f32);
        }
        Ok(Some(self.cells.as_slice()))
    }

    /// All rows one after the other, inputs and targets; an error if there are none, or if f32 makes one number of
    /// values that the model has to tell apart.
    pub(crate) fn read_all(mut self, model: &Model<'_>) -> anyhow::Result<Vec<f32>> {
        let mut all = Vec::new();
        while let Some(cells) = self.next()? {
            all.extend_from_slice(cells);
        }
        self.tell_repaired();
        if all.is_empty() {
            return Err(DataError::NoRows { path: Some(self.path) }.into());
        }
        let blob = model.blob();
        let are_numbers = self.inputs.iter().flat_map(|source| match source {
            Source::Number(_) => vec![true],
            Source::Words(_, category) => vec![false; category.width()],
        });
        let inputs = (0..model.inputs()).filter_map(|input| blob.input(input)).zip(are_numbers);
        let inputs = inputs.filter(|&(_, is_number)| is_number).map(|(input, _)| 1.0 / f64::from(input.scale));
        let targets = (0..model.outputs()).map(|output| f64::from(blob.target(output).scale));
        for (&column, deviation) in self.numbers.iter().zip(inputs.chain(targets)) {
            self.rows.check_spread(column, COARSE * deviation)?;
        }
        Ok(all)
    }

    /// Says what was left out or filled in the rows read.
    pub(crate) fn tell_repaired(&self) {
        LayoutArgs::tell_repaired(&self.rows);
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.means.len() + self.targets.len()
    }
}

/// Where the targets of a model are in a file.
struct TargetColumns<'a> {
    path: &'a Path,
    rows: &'a Rows,
    /// As many as the model has.
    count: usize,
}

impl TargetColumns<'_> {
    /// Those that were asked for, or those of the model's names; without need, those of them that are there.
    fn find(&self, asked: Option<&str>, known: Option<&[String]>, need: Target) -> anyhow::Result<Vec<usize>> {
        let path = self.path.display();
        if let Some(asked) = asked {
            let found = self.rows.find_targets(asked)?;
            if found.len() != self.count {
                return Err(mistake(format!(
                    "{path}: --target names {} columns; expected {}, as many targets as the model has",
                    found.len(),
                    self.count
                )));
            }
            return Ok(found);
        }
        let column = |name: &String| self.rows.names().and_then(|header| header.iter().position(|cell| cell == name));
        let found: Vec<usize> = known.unwrap_or_default().iter().filter_map(column).collect();
        if found.len() == self.count || need == Target::Skipped {
            return Ok(found);
        }
        let missing = known.unwrap_or_default().iter().find(|name| column(name).is_none());
        let why = match (self.rows.names(), missing) {
            (Some(_), Some(name)) => format!("no column is named {name:?} (the columns are {})", self.rows.listed()),
            (None, _) => self.rows.unnamed().to_owned(),
            (_, None) => "the model holds no names".to_owned(),
        };
        let how = match self.count {
            1 => "say which column is the target with --target NAME or --target INDEX".to_owned(),
            count => format!("say which {count} columns are the targets with --target NAME,... or --target INDEX,..."),
        };
        Err(mistake(format!("{path}: {why}; {how}")))
    }
}

/// A column for every input; the words of a category may be in one column that is called as they are together.
fn by_name(path: &Path, header: &[String], names: &[String]) -> anyhow::Result<Vec<Source>> {
    let find = |name: &String| header.iter().position(|column| column == name);
    let needed = |name: &String| {
        find(name).ok_or_else(|| {
            let wanted = names.join(", ");
            mistake(format!("{}: no column {name:?}; the model's inputs are {wanted}", path.display()))
        })
    };
    let mut sources = Vec::new();
    for field in fields(names) {
        match field {
            Field::Number(name) => sources.push(Source::Number(needed(&name)?)),
            Field::Category(category) => {
                let numbers: Option<Vec<usize>> = category.inputs().iter().map(find).collect();
                match numbers {
                    Some(columns) => sources.extend(columns.into_iter().map(Source::Number)),
                    None => sources.push(Source::Words(needed(&category.name)?, category)),
                }
            }
        }
    }
    Ok(sources)
}

/// The error with what the model knows, if it is about a word.
fn unknown(error: DataError, category: &Category) -> anyhow::Error {
    match &error {
        DataError::Cell { problem: CellProblem::UnknownCategory, .. } => {
            mistake(format!("{error}, which are {}", category.words.join(", ")))
        }
        _ => error.into(),
    }
}

fn by_position(
    path: &Path,
    rows: &Rows,
    model: &Model<'_>,
    targets: &[usize],
    ignored: &[usize],
) -> anyhow::Result<Vec<usize>> {
    let is_input = |column: &usize| !targets.contains(column) && !ignored.contains(column);
    let columns: Vec<usize> = (0..rows.columns()).filter(is_input).collect();
    let inputs = model.inputs();
    if columns.len() == inputs {
        return Ok(columns);
    }
    let beside = if targets.is_empty() { "" } else { " beside the target" };
    let hint = if targets.is_empty() && columns.len() == inputs + model_names::target_count(model) {
        "; if some of them are targets, say which with --target INDEX,..."
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
