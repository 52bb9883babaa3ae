//! Streams the rows of a file as f32, refusing every cell that is not a finite number.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cell::quoted;
use super::contents::{self, Contents};
use super::csv_table::CsvTable;
use super::error::{CellProblem, DataError};
use super::first_line::Header;
use super::spread::Spread;
use super::tabular::{Opened, Tabular};
use super::value::{Value, are_words};
use super::{Category, Columns, Missing, arrays, names, parquet_table};

/// Names that a message lists at most.
const LISTED: usize = 30;
/// Rows by which words are told from numbers.
const JUDGED: usize = 50;

/// The rows of an open file: CSV, arrays of NumPy, or Parquet.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    table: Box<dyn Tabular>,
    names: Option<Vec<String>>,
    sections: Vec<(String, Range<usize>)>,
    unnamed: &'static str,
    found: Vec<String>,
    columns: usize,
    /// One per column, of the cells read.
    spreads: Vec<Spread>,
    missing: Missing,
    /// Where missing cells are handled as `missing` says.
    watched: Watched,
    dropped: u64,
    filled: u64,
}

/// The columns that are looked at.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Numbers that may be filled where they are missing.
    pub inputs: Vec<usize>,
    /// Numbers that may not.
    pub targets: Vec<usize>,
    /// A class.
    pub class: Option<usize>,
    /// Inputs that hold words.
    pub words: Vec<usize>,
    /// Words that say which rows belong together; a missing one is a word like others.
    pub group: Option<usize>,
}

impl Rows {
    /// Opens the file and settles the names and the number of its columns. Where a first line may be a header, ignored
    /// columns may hold anything in it, targets classes.
    pub fn open<'a>(path: &Path, header: Header, columns: impl Into<Columns<'a>>) -> Result<Self, DataError> {
        let columns = columns.into();
        let contents = contents::open(path)?;
        if let Some(what) = contents.without_first_line().filter(|_| header != Header::Detect) {
            return Err(DataError::NoFirstLine { path: path.to_owned(), what });
        }
        let Opened { table, columns: width, names, found, sections, unnamed } = match contents {
            Contents::Text(source) => CsvTable::open(path, source, header, columns)?,
            Contents::Array(bytes) => arrays::open_array(path, bytes)?,
            Contents::Archive(file) => arrays::open_archive(path, file)?,
            Contents::Parquet(file) => parquet_table::open(path, file)?,
        };
        Ok(Self {
            path: path.to_owned(),
            table,
            names,
            sections,
            unnamed,
            found,
            columns: width,
            spreads: vec![Spread::EMPTY; width],
            missing: columns.missing,
            watched: Watched::default(),
            dropped: 0,
            filled: 0,
        })
    }

    /// What is told of the file where it is not plain CSV in UTF-8, as in `semicolons between columns`.
    pub fn found(&self) -> &[String] {
        &self.found
    }

    /// Cells per row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Names of the columns, if the file holds names. Some may be empty or occur twice; see [`Rows::check_names`].
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Why there are no names, where there are none, as messages say it.
    pub fn unnamed(&self) -> &'static str {
        self.unnamed
    }

    /// The columns as messages list them: names, or indices.
    pub fn listed(&self) -> String {
        match &self.names {
            Some(names) => {
                let listed = names.iter().take(LISTED).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
                if names.len() > LISTED { format!("{listed}, … ({} in all)", names.len()) } else { listed }
            }
            None => format!("0 to {}", self.columns - 1),
        }
    }

    /// The columns of those names or indices.
    pub fn find_columns(&self, wanted: &[String]) -> Result<Vec<usize>, DataError> {
        wanted.iter().map(|wanted| self.find_column(wanted)).collect()
    }

    /// The column of that name, or else of that index counted from 0.
    pub fn find_column(&self, wanted: &str) -> Result<usize, DataError> {
        let by_name = self.names.as_ref().and_then(|names| names.iter().position(|name| name == wanted.trim()));
        let by_section = || self.section(wanted).filter(|columns| columns.len() == 1).map(|columns| columns.start);
        let by_index = || wanted.trim().parse().ok().filter(|&index: &usize| index < self.columns);
        by_name.or_else(by_section).or_else(by_index).ok_or_else(|| {
            let indices = format!("an index from 0 to {}", self.columns - 1);
            let available = match &self.names {
                Some(_) => format!("one of {} or {indices}", self.listed()),
                None => format!("{indices} ({})", self.unnamed),
            };
            DataError::UnknownColumn { path: self.path.clone(), target: wanted.to_owned(), available }
        })
    }

    /// The columns to predict: names or indices, separated by commas, each as long as it can be.
    pub fn find_targets(&self, wanted: &str) -> Result<Vec<usize>, DataError> {
        let words: Vec<&str> = wanted.split(',').collect();
        let (mut found, mut rest) = (Vec::new(), words.as_slice());
        while !rest.is_empty() {
            let longest = (1..=rest.len()).rev().find_map(|n| Some((n, self.find_column(&rest[..n].join(",")).ok()?)));
            let (taken, columns) = match (longest, self.section(rest[0])) {
                (Some((taken, column)), _) => (taken, column..column + 1),
                // An array of several targets.
                (None, Some(columns)) => (1, columns),
                (None, None) => (1, self.find_column(rest[0]).map(|column| column..column + 1)?),
            };
            for column in columns {
                if found.contains(&column) {
                    return Err(DataError::TargetTwice { path: self.path.clone(), target: self.label(column) });
                }
                found.push(column);
            }
            rest = &rest[taken..];
        }
        Ok(found)
    }

    fn section(&self, wanted: &str) -> Option<Range<usize>> {
        self.sections.iter().find(|(name, _)| name == wanted.trim()).map(|(_, columns)| columns.clone())
    }

    /// Refuses columns without a name or with the name of another one; those that are not used may be called anything.
    pub fn check_names(&self, used: &[usize]) -> Result<(), DataError> {
        self.names.as_ref().map_or(Ok(()), |names| names::check(names, used, Some(&self.path)))
    }

    /// Says, before a row is read, which columns are looked at, and in which missing cells are handled as was asked for: a row
    /// with one is left out, or a cell of the inputs is filled.
    pub fn watch(&mut self, watched: Watched) {
        let Watched { inputs, targets, class, words, group } = &watched;
        let columns: Vec<usize> =
            inputs.iter().chain(targets).chain(class).chain(words).chain(group).copied().collect();
        self.table.choose(&columns);
        self.watched = watched;
    }

    /// Rows that were left out so far, and cells that are to be filled.
    pub fn repaired(&self) -> [u64; 2] {
        [self.dropped, self.filled]
    }

    /// Replaces `cells` by the next row, these columns only, in this order; the others may hold anything. A missing cell
    /// that is to be filled is NaN. `false` at the end of the file.
    pub fn next_cells(&mut self, columns: &[usize], cells: &mut Vec<f32>) -> Result<bool, DataError> {
        loop {
            if !self.table.next()? {
                return Ok(false);
            }
            if self.missing != Missing::Drop || !self.lacks_something() {
                break;
            }
            self.dropped += 1;
        }
        cells.clear();
        for &column in columns {
            let cell = self.table.cell(column);
            match cell.number() {
                Ok(number) => {
                    self.spreads[column].add(number.exact);
                    cells.push(number.rounded);
                }
                Err(CellProblem::Missing) if self.missing == Missing::Mean && self.watched.inputs.contains(&column) => {
                    self.filled += 1;
                    cells.push(f32::NAN);
                }
                Err(problem) => return Err(self.cell_error(column, &cell.text(), problem)),
            }
        }
        Ok(true)
    }

    /// Whether the row read last has nothing in one of the columns that are watched.
    fn lacks_something(&self) -> bool {
        let Watched { inputs, targets, class, words, .. } = &self.watched;
        let no_number = |&column: &usize| self.cell(column).number() == Err(CellProblem::Missing);
        let no_class = |&column: &usize| self.cell(column).class() == Err(CellProblem::Missing);
        let no_word = |&column: &usize| self.cell(column).word() == Err(CellProblem::Missing);
        inputs.iter().chain(targets).any(no_number) || class.iter().any(no_class) || words.iter().any(no_word)
    }

    /// The name of the class in a column of the row read last: a word, or a whole number in its shortest form.
    pub fn class(&self, column: usize) -> Result<String, DataError> {
        let cell = self.cell(column);
        cell.class().map_err(|problem| self.cell_error(column, &cell.text(), problem))
    }

    /// Whether a column holds words, and is an input by its categories: none of its first fifty cells is a number, and one
    /// at least is a word other than those for true and false. Asked before a row is read.
    pub fn holds_words(&mut self, column: usize) -> bool {
        are_words(&self.table.beginning(column, JUDGED))
    }

    /// The word in a column of the row read last.
    pub(super) fn word_in(&self, column: usize) -> Result<String, CellProblem> {
        self.cell(column).word()
    }

    /// The same; nothing if it is missing and to be filled.
    pub(super) fn word(&mut self, column: usize) -> Result<Option<String>, DataError> {
        match self.word_in(column) {
            Ok(word) => Ok(Some(word)),
            Err(CellProblem::Missing) if self.missing == Missing::Mean => {
                self.filled += 1;
                Ok(None)
            }
            Err(problem) => Err(self.cell_error(column, &self.cell(column).text(), problem)),
        }
    }

    /// Which word of a category a column of the row read last holds; nothing if it is missing and to be filled.
    pub fn category(&mut self, column: usize, category: &Category) -> Result<Option<usize>, DataError> {
        let unknown = |rows: &Self| rows.cell_error(column, &rows.cell(column).text(), CellProblem::UnknownCategory);
        if self.word_in(column) == Err(CellProblem::NumberAmongCategories) {
            return Err(unknown(self));
        }
        let Some(word) = self.word(column)? else { return Ok(None) };
        category.find(&word).map(Some).ok_or_else(|| unknown(self))
    }

    /// The error for a class that the model does not know, in the row read last.
    pub fn unknown_class(&self, column: usize) -> DataError {
        self.cell_error(column, &self.cell(column).text(), CellProblem::UnknownClass)
    }

    /// Whether the first row of data holds a word in that column; asked before a row is read.
    pub(super) fn begins_with_word(&mut self, column: usize) -> bool {
        self.table.beginning(column, 1).first().is_some_and(Value::is_word)
    }

    pub(super) fn one_class(&self, column: usize, class: String) -> DataError {
        let column = format!("column {}", self.label(column));
        DataError::OneClass { path: Some(self.path.clone()), column, class: quoted(&class) }
    }

    pub(super) fn one_word(&self, column: usize, word: &str) -> DataError {
        DataError::OneWord { path: self.path.clone(), column: self.label(column), word: word.to_owned() }
    }

    pub(super) fn empty_column(&self, column: usize) -> DataError {
        DataError::EmptyColumn { path: self.path.clone(), column: self.label(column) }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a column whose values differed by more than `tolerated` in the rows read, and are one f32 number now.
    pub fn check_spread(&self, column: usize, tolerated: f64) -> Result<(), DataError> {
        if self.spreads[column].hidden() <= tolerated {
            return Ok(());
        }
        let column = format!("column {}", self.label(column));
        Err(DataError::Indistinct { path: Some(self.path.clone()), column })
    }

    /// How messages speak of a column.
    pub(super) fn label(&self, column: usize) -> String {
        match &self.names {
            Some(names) => format!("{:?}", quoted(&names[column])),
            None => format!("{column} (counted from 0)"),
        }
    }

    pub(super) fn cell_error(&self, column: usize, cell: &str, problem: CellProblem) -> DataError {
        let (column, cell) = (self.label(column), quoted(cell));
        DataError::Cell { path: self.path.clone(), place: self.table.place(), column, cell, problem }
    }

    /// A cell of the row read last.
    pub(super) fn cell(&self, column: usize) -> Value<'_> {
        self.table.cell(column)
    }
}

#[cfg(test)]
mod tests;
