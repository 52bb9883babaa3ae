//! How a data file is laid out: whether its first line holds names, and which columns are left out.

use std::path::Path;

use clap::ValueEnum;
use diffgp_train::data::{Columns, CsvRows, DataError, Header};

use super::console;

/// The options of everything that reads data.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LayoutArgs {
    /// Columns to leave out: names, or indices counted from 0, separated by commas.
    #[arg(long, value_name = "NAME|INDEX,...", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Whether the first line of the data holds names [default: it does if none of its cells is a number].
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    header: Option<Answer>,
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

    /// The answer as it was typed, if there was one.
    pub(crate) fn answer(&self) -> Option<&'static str> {
        self.header.map(|answer| match answer {
            Answer::Yes => "yes",
            Answer::No => "no",
        })
    }

    /// The options for another command on the same file.
    pub(crate) fn as_typed(&self) -> String {
        let header = self.answer().map_or_else(String::new, |answer| format!(" --header {answer}"));
        match self.ignore.is_empty() {
            true => header,
            false => format!("{header} --ignore {}", console::quoted(&self.ignore.join(","))),
        }
    }

    /// Which columns are used.
    pub(crate) fn columns<'a>(&'a self, targets: &'a str) -> Columns<'a> {
        Columns { targets, ignored: &self.ignore }
    }

    /// Opens a file that is laid out so; the targets may hold classes.
    pub(crate) fn open(&self, data: &Path, targets: &str) -> Result<CsvRows, DataError> {
        CsvRows::open(data, self.header(), self.columns(targets))
    }
}
