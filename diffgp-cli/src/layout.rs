//! How a data file is laid out: whether its first line holds names, and which columns are left out.

use std::path::Path;

use clap::ValueEnum;
use diffgp_train::data::{Columns, DataError, Header, Missing, Rows};

use super::console::{self, tell};

/// The options of everything that reads data.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LayoutArgs {
    /// Columns to leave out: names, or indices counted from 0, separated by commas.
    #[arg(long, value_name = "NAME|INDEX,...", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Whether the first line of the data holds names [default: it does if none of its cells is a number].
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    header: Option<Answer>,
    /// What becomes of missing cells (empty, NA, null, ?): refuse; drop, which leaves out their rows; or mean, by which inputs
    /// become the mean of the training rows [default: refuse].
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    missing: Option<MissingOption>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MissingOption {
    Refuse,
    Drop,
    Mean,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl LayoutArgs {
    /// What the first line was said to be.
    pub(crate) fn header(&self) -> Header {
        match self.header {
            Some(Answer::Yes) => Header::Present,
            Some(Answer::No) => Header::Absent,
            None => Header::Detect,
        }
    }

    /// One more column to leave out.
    pub(crate) fn leave_out(&mut self, column: Option<&str>) {
        if let Some(column) = column.filter(|&column| !self.ignore.iter().any(|ignored| ignored == column)) {
            self.ignore.push(column.to_owned());
        }
    }

    /// The answer as it was typed, if there was one.
    pub(crate) fn answer(&self) -> Option<&'static str> {
        self.header.map(|answer| match answer {
            Answer::Yes => "yes",
            Answer::No => "no",
        })
    }

    /// What becomes of missing cells.
    pub(crate) fn missing(&self) -> Missing {
        match self.missing {
            Some(MissingOption::Drop) => Missing::Drop,
            Some(MissingOption::Mean) => Missing::Mean,
            Some(MissingOption::Refuse) | None => Missing::Refuse,
        }
    }

    /// The same as it was typed, if it is not the default.
    pub(crate) fn missing_typed(&self) -> Option<&'static str> {
        match self.missing() {
            Missing::Refuse => None,
            Missing::Drop => Some("drop"),
            Missing::Mean => Some("mean"),
        }
    }

    /// The options for another command on the same file.
    pub(crate) fn as_typed(&self) -> String {
        let header = self.answer().map(|answer| format!(" --header {answer}"));
        let missing = self.missing_typed().map(|how| format!(" --missing {how}"));
        let ignore =
            (!self.ignore.is_empty()).then(|| format!(" --ignore {}", console::quoted(&self.ignore.join(","))));
        [header, missing, ignore].into_iter().flatten().collect()
    }

    /// Says what was left out or filled in a file that was read.
    pub(crate) fn tell_repaired(rows: &Rows) {
        match rows.repaired() {
            [0, 0] => {}
            [dropped, 0] => tell!("note: {dropped} rows with missing cells are left out"),
            [_, filled] => tell!("note: {filled} missing cells are filled with the mean of their column"),
        }
    }

    /// Which columns are used.
    pub(crate) fn columns<'a>(&'a self, targets: &'a str) -> Columns<'a> {
        Columns { targets, ignored: &self.ignore, missing: self.missing() }
    }

    /// Opens a file that is laid out so, and says what it was found to be; the targets may hold classes.
    pub(crate) fn open(&self, data: &Path, targets: &str) -> Result<Rows, DataError> {
        let rows = Rows::open(data, self.header(), self.columns(targets))?;
        if !rows.found().is_empty() {
            tell!("note: {}: read with {}", data.display(), rows.found().join(", "));
        }
        Ok(rows)
    }
}
