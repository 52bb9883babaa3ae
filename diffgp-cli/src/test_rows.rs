//! `--test-rows FILE --split K`: rows that training never sees and `eval` is about.

use std::path::{Path, PathBuf};

use diffgp_train::data::{DataError, read_test_rows};

use super::console;
use super::failure::mistake;

/// Which rows are held out.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TestRowsArgs {
    /// Text file; line K lists the held-out rows of split K (from 0, header not counted).
    #[arg(long, value_name = "FILE")]
    pub(crate) test_rows: Option<PathBuf>,
    /// Which line of --test-rows, counted from 0 [default: 0].
    #[arg(long, value_name = "K", requires = "test_rows")]
    pub(crate) split: Option<usize>,
}

impl TestRowsArgs {
    /// The held-out rows of a file with `rows` rows, sorted; `None` if nothing is held out.
    pub(crate) fn read(&self, data: &Path, rows: usize) -> anyhow::Result<Option<Vec<usize>>> {
        let Some(file) = &self.test_rows else { return Ok(None) };
        let held_out = read_test_rows(file, self.split.unwrap_or(0))?;
        check_rows(file, &held_out, data, rows)?;
        Ok(Some(held_out))
    }

    /// The options as they were typed, for commands to copy.
    pub(crate) fn as_typed(&self) -> String {
        let file =
            self.test_rows.as_ref().map(|file| format!(" --test-rows {}", console::quoted(&file.to_string_lossy())));
        file.map_or_else(String::new, |file| format!("{file} --split {}", self.split.unwrap_or(0)))
    }
}

/// Refuses rows that the data does not have.
pub(crate) fn check_rows(file: &Path, held_out: &[usize], data: &Path, rows: usize) -> anyhow::Result<()> {
    match held_out.last() {
        Some(&row) if row >= rows => {
            let error = DataError::RowOutOfRange { row, rows };
            Err(mistake(format!("{}: {error} ({})", file.display(), data.display())))
        }
        Some(_) => Ok(()),
        None => Err(mistake(format!("{}: the split holds no rows; expected row numbers from 0", file.display()))),
    }
}
