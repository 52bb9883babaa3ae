//! Rows whose target is known: what `eval` scores, `plot` draws and `compress` compares on.

use std::path::{Path, PathBuf};

use diffgp_infer::Model;
use diffgp_train::evaluate::{Known, Row};

use super::layout::LayoutArgs;
use super::model_rows::{ModelRows, Target};
use super::test_rows::TestRowsArgs;

/// Which model, and which rows.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KnownRowsArgs {
    /// Model file written by `train`.
    #[arg(value_name = "MODEL.dgp")]
    pub(crate) model: PathBuf,
    /// File (CSV, .npy, .npz, Parquet) with the model's inputs and its targets; columns are matched by name if both sides have names.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Target columns, if they are not those that the model names.
    #[arg(long, value_name = "NAME|INDEX,...")]
    target: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    test_rows: TestRowsArgs,
}

/// All rows of the file.
pub(crate) struct KnownRows {
    cells: Vec<f32>,
    width: usize,
    inputs: usize,
    /// The numbers of the held-out ones, ascending, if some were named.
    pub(crate) held_out: Option<Vec<usize>>,
}

impl KnownRowsArgs {
    /// Reads the file as the model wants it.
    pub(crate) fn read(&self, model: &Model<'_>) -> anyhow::Result<KnownRows> {
        KnownRows::read(&self.data, &self.layout, self.target.as_deref(), &self.test_rows, model)
    }
}

impl KnownRows {
    /// Reads a file as a model wants it.
    pub(crate) fn read(
        data: &Path,
        layout: &LayoutArgs,
        target: Option<&str>,
        test_rows: &TestRowsArgs,
        model: &Model<'_>,
    ) -> anyhow::Result<Self> {
        let rows = ModelRows::open(data, layout, model, target, Target::Needed)?;
        let width = rows.width();
        let cells = rows.read_all(model)?;
        let held_out = test_rows.read(data, cells.len() / width, layout, target.unwrap_or_default())?;
        Ok(Self { cells, width, inputs: model.inputs(), held_out })
    }

    /// The numbers of the rows asked for: the held-out ones, or all.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.held_out.clone().unwrap_or_else(|| (0..self.total()).collect())
    }

    /// How many rows the file has.
    pub(crate) fn total(&self) -> usize {
        self.cells.len() / self.width
    }

    /// A row of the file.
    pub(crate) fn row(&self, number: usize) -> Known<'_> {
        let cells = &self.cells[number * self.width..(number + 1) * self.width];
        let (x, targets) = cells.split_at(self.inputs);
        Known { row: Row { number: number as u32, x }, targets }
    }
}
