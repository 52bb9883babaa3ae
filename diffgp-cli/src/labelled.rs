//! A file to learn from, and which of its columns is the target.

use std::path::PathBuf;

use diffgp_train::data::{Columns, Dataset, TargetKind};
use diffgp_train::train::Task;

use super::console::tell;
use super::failure::mistake;
use super::layout::LayoutArgs;

/// The options of everything that trains.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LabelledArgs {
    /// CSV file: numbers, with or without a header.
    #[arg(value_name = "DATA.csv")]
    pub(crate) data: PathBuf,
    /// Column to predict: its name, or its index counted from 0.
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) layout: LayoutArgs,
}

/// Numbers that are nothing but 0 and 1 are classes, most likely.
pub(crate) fn note_classes(task: Task, data: &Dataset) {
    if task == Task::Regression && data.targets().iter().all(|&y| y == 0.0 || y == 1.0) {
        tell!("note: the target holds only 0 and 1; --task classification would predict a probability");
    }
}

impl LabelledArgs {
    /// All rows; without a target, an error that lists the columns.
    pub(crate) fn read(&self, kind: TargetKind) -> anyhow::Result<Dataset> {
        let Some(target) = &self.target else {
            let rows = self.layout.open(&self.data)?;
            return Err(mistake(format!(
                "say which column of {} to predict with --target; the columns are {}",
                self.data.display(),
                rows.listed()
            )));
        };
        let columns = Columns { target, ignored: &self.layout.ignore };
        Ok(Dataset::read_csv(&self.data, columns, self.layout.header(), kind)?)
    }
}
