//! Names of columns.

use std::collections::HashMap;
use std::path::Path;

use diffgp_core::blob::limits::MAX_NAME;

use super::cell::quoted;
use super::{DataError, Dataset};

/// Refuses columns without a name or with the name of another one; those that are not used may be called anything.
pub(super) fn check(names: &[String], used: &[usize], path: Option<&Path>) -> Result<(), DataError> {
    let path = || path.map(Path::to_owned);
    // The first two columns of every name.
    let mut places: HashMap<&str, (usize, Option<usize>)> = HashMap::new();
    for (column, name) in names.iter().enumerate() {
        let place = places.entry(name).or_insert((column, None));
        if place.0 != column {
            place.1.get_or_insert(column);
        }
    }
    for &column in used {
        let name = &names[column];
        if name.is_empty() {
            return Err(DataError::UnnamedColumn { path: path(), column });
        }
        if let Some(&(first, Some(second))) = places.get(name.as_str()) {
            return Err(DataError::DuplicateColumn { path: path(), name: quoted(name), first, second });
        }
    }
    Ok(())
}

impl Dataset {
    /// Names of the inputs, if there are names.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Names of the targets, if there are names.
    pub fn target_names(&self) -> Option<&[String]> {
        self.target_names.as_deref()
    }

    /// How messages speak of input `column`.
    pub fn input_label(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| format!("input {column}"), |names| format!("\"{}\"", names[column]))
    }

    /// How messages speak of target `output`.
    pub fn target_label(&self, output: usize) -> String {
        match &self.target_names {
            Some(names) => format!("the target {:?}", names[output]),
            None if self.outputs == 1 => "the target".to_owned(),
            None => format!("target {output}"),
        }
    }

    /// Refuses names that a model file cannot hold.
    pub fn check_name_lengths(&self) -> Result<(), DataError> {
        let mut names = [&self.names, &self.target_names, &self.classes].into_iter().flatten().flatten();
        match names.find(|name| name.len() > MAX_NAME) {
            Some(name) => Err(DataError::LongName { name: quoted(name), bytes: name.len() }),
            None => Ok(()),
        }
    }
}
