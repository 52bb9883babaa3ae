//! A file to learn from: which column is the target, and which are left out.

use std::path::PathBuf;

use diffgp_train::data::{Columns, CsvRows, Dataset, TargetKind};

use super::failure::mistake;
use super::header_option::HeaderOption;

/// The options of everything that trains.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LabelledArgs {
    /// CSV file: numbers, with or without a header.
    #[arg(value_name = "DATA.csv")]
    pub(crate) data: PathBuf,
    /// Column to predict: its name, or its index counted from 0.
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) target: Option<String>,
    /// Columns to leave out: names, or indices counted from 0, separated by commas.
    #[arg(long, value_name = "NAME|INDEX,...", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    #[command(flatten)]
    pub(crate) header: HeaderOption,
}

impl LabelledArgs {
    /// All rows; without a target, an error that lists the columns.
    pub(crate) fn read(&self, kind: TargetKind) -> anyhow::Result<Dataset> {
        let Some(target) = &self.target else {
            let rows = CsvRows::open(&self.data, self.header.header(), &self.ignore)?;
            return Err(mistake(format!(
                "say which column of {} to predict with --target; the columns are {}",
                self.data.display(),
                rows.listed()
            )));
        };
        let columns = Columns { target, ignored: &self.ignore };
        Ok(Dataset::read_csv(&self.data, columns, self.header.header(), kind)?)
    }
}
