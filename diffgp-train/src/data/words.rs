//! Text columns of a file while they are read, row by row.

use std::collections::HashMap;

use super::categories::{Category, MAX_CATEGORIES};
use super::cell::quoted;
use super::error::CellProblem;
use super::{DataError, Dataset, Rows};

/// Those among the inputs, in the order of the file.
#[derive(Debug)]
pub(super) struct Words {
    columns: Vec<WordColumn>,
}

/// One of them.
#[derive(Debug)]
struct WordColumn {
    column: usize,
    found: HashMap<String, usize>,
    /// For every row, which of the words found it has; none if it is missing.
    rows: Vec<Option<usize>>,
}

impl Words {
    /// The columns of `inputs` that hold words, by the first rows.
    pub(super) fn among(rows: &mut Rows, inputs: &[usize]) -> Result<Self, DataError> {
        let columns: Vec<usize> = inputs.iter().copied().filter(|&column| rows.holds_words(column)).collect();
        let is_unnamed = |&&column: &&usize| rows.names().is_none_or(|names| names[column].contains('='));
        if let Some(&column) = columns.iter().find(is_unnamed) {
            return Err(DataError::UnnamedWords { path: rows.path().to_owned(), column: rows.label(column) });
        }
        let new = |column| WordColumn { column, found: HashMap::new(), rows: Vec::new() };
        Ok(Self { columns: columns.into_iter().map(new).collect() })
    }

    /// Where they are in the file.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.columns.iter().map(|words| words.column).collect()
    }

    /// The words of the row read last.
    pub(super) fn read(&mut self, rows: &mut Rows) -> Result<(), DataError> {
        for words in &mut self.columns {
            let word = match rows.word(words.column)? {
                Some(word) => Some(words.add(&word).map_err(|problem| rows.cell_error(words.column, &word, problem))?),
                None => None,
            };
            words.rows.push(word);
        }
        Ok(())
    }

    /// What is wrong with the cells of the row read last: columns and problems.
    pub(super) fn problems(&mut self, rows: &Rows) -> Vec<(usize, CellProblem)> {
        let problem = |words: &mut WordColumn| {
            let read = rows.word_in(words.column).and_then(|word| words.add(&word));
            read.err().map(|problem| (words.column, problem))
        };
        self.columns.iter_mut().filter_map(problem).collect()
    }

    /// Puts the inputs made of the words among those that are numbers, at the places that they have in the file.
    pub(super) fn put_into(self, data: &mut Dataset, inputs: &[usize], rows: &Rows) -> Result<(), DataError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut columns = HashMap::new();
        for words in self.columns {
            let column = words.column;
            let name = rows.names().map_or_else(|| column.to_string(), |names| names[column].clone());
            columns.insert(column, words.sorted(name).map_err(|only| rows.one_word(column, &only))?);
        }
        let numbers = inputs.len() - columns.len();
        let count = columns.values().next().map_or(0, |(_, rows)| rows.len());
        let mut names = Vec::new();
        let mut given = data.names.iter().flatten();
        for column in inputs {
            let name = given.next().cloned();
            match columns.get(column) {
                Some((category, _)) => names.extend(category.inputs()),
                None => names.extend(name),
            }
        }
        let mut x = Vec::with_capacity(count * names.len());
        for row in 0..count {
            let mut values = data.x[row * numbers..(row + 1) * numbers].iter();
            for column in inputs {
                match columns.get(column) {
                    Some((category, rows)) => category.push(rows[row], &mut x),
                    None => x.extend(values.next()),
                }
            }
        }
        data.inputs = names.len();
        data.names = Some(names);
        data.x = x;
        Ok(())
    }
}

impl WordColumn {
    /// The number of a word; an error for one too many.
    fn add(&mut self, word: &str) -> Result<usize, CellProblem> {
        let next = self.found.len();
        match self.found.get(word) {
            Some(&index) => Ok(index),
            None if next == MAX_CATEGORIES => Err(CellProblem::TooManyCategories),
            None => {
                self.found.insert(word.to_owned(), next);
                Ok(next)
            }
        }
    }

    /// The words in order, and which of them every row has; the word if there is only one.
    fn sorted(self, name: String) -> Result<(Category, Vec<Option<usize>>), String> {
        let mut words: Vec<(String, usize)> = self.found.into_iter().collect();
        words.sort();
        if let [(only, _)] = words.as_slice() {
            return Err(quoted(only));
        }
        let mut place = vec![0; words.len()];
        words.iter().enumerate().for_each(|(index, (_, found))| place[*found] = index);
        let rows = self.rows.into_iter().map(|word| word.map(|word| place[word])).collect();
        Ok((Category { name, words: words.into_iter().map(|(word, _)| word).collect() }, rows))
    }
}
