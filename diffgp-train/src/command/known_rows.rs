//! A model, and rows whose target is known: what `eval` scores and `plot` draws.

use std::path::PathBuf;

use diffgp_infer::Model;
use diffgp_train::evaluate::{Known, Row};

use super::model_rows::{ModelRows, Target};
use super::test_rows::TestRowsArgs;

/// Which model, and which rows.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KnownRowsArgs {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    pub(crate) model: PathBuf,
    /// CSV file with the model's inputs and its target; columns are matched by name if both sides have names.
    #[arg(value_name = "DATA.csv")]
    pub(crate) data: PathBuf,
    /// Target column, if it is not the one that the model names.
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<String>,
    #[command(flatten)]
    test_rows: TestRowsArgs,
}

/// All rows of the file.
pub(crate) struct KnownRows {
    cells: Vec<f32>,
    width: usize,
    /// The numbers of those asked for: the held-out ones, or all.
    pub(crate) numbers: Vec<usize>,
}

impl KnownRowsArgs {
    /// Reads the file as the model wants it.
    pub(crate) fn read(&self, model: &Model<'_>) -> anyhow::Result<KnownRows> {
        let rows = ModelRows::open(&self.data, model, self.target.as_deref(), Target::Needed)?;
        let width = rows.width();
        let cells = rows.read_all()?;
        let total = cells.len() / width;
        let numbers = self.test_rows.read(&self.data, total)?.unwrap_or_else(|| (0..total).collect());
        Ok(KnownRows { cells, width, numbers })
    }
}

impl KnownRows {
    /// How many rows the file has.
    pub(crate) fn total(&self) -> usize {
        self.cells.len() / self.width
    }

    /// A row of the file.
    pub(crate) fn row(&self, number: usize) -> Known<'_> {
        let cells = &self.cells[number * self.width..(number + 1) * self.width];
        let (x, y) = (&cells[..self.width - 1], cells[self.width - 1]);
        Known { row: Row { number: number as u32, x }, y }
    }
}
