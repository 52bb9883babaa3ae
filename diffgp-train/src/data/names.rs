//! Names of columns.

use std::path::Path;

use diffgp_core::blob::limits::MAX_NAME;

use super::cell::quoted;
use super::{DataError, Dataset};

/// Refuses columns without a name or with the name of another one; those that are not used may be called anything.
pub(super) fn check(names: &[String], used: &[usize], path: Option<&Path>) -> Result<(), DataError> {
    let path = || path.map(Path::to_owned);
    for &column in used {
        let name = &names[column];
        if name.is_empty() {
            return Err(DataError::UnnamedColumn { path: path(), column });
        }
        let mut named = (0..names.len()).filter(|&other| names[other] == *name);
        if let (Some(first), Some(second)) = (named.next(), named.next()) {
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

    /// Name of the target, if there are names.
    pub fn target_name(&self) -> Option<&str> {
        self.target_name.as_deref()
    }

    /// How messages speak of input `column`.
    pub fn input_label(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| format!("input {column}"), |names| format!("\"{}\"", names[column]))
    }

    /// How messages speak of the target.
    pub fn target_label(&self) -> String {
        self.target_name.as_ref().map_or_else(|| "the target".to_owned(), |name| format!("the target {name:?}"))
    }

    /// Refuses names that a model file cannot hold.
    pub fn check_name_lengths(&self) -> Result<(), DataError> {
        match self.names.iter().flatten().chain(&self.target_name).find(|name| name.len() > MAX_NAME) {
            Some(name) => Err(DataError::LongName { name: quoted(name), bytes: name.len() }),
            None => Ok(()),
        }
    }
}
