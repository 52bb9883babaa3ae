//! A file to learn from, and which of its columns is the target.

use std::path::PathBuf;

use diffgp_train::data::{Dataset, TargetKind, read_groups};

use super::console::tell;
use super::failure::mistake;
use super::layout::LayoutArgs;
use super::settings::Settings;

/// The options of everything that trains.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LabelledArgs {
    /// Table of numbers: CSV, with or without a header; .npy or .npz; Parquet.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Columns to predict: names, or indices counted from 0, separated by commas.
    #[arg(long, value_name = "NAME|INDEX,...")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) layout: LayoutArgs,
    /// Rows with the same value in this column are validated and calibrated by together: for repeated measurements. The
    /// column is no input.
    #[arg(long, value_name = "NAME|INDEX", conflicts_with = "blocks")]
    pub(crate) groups: Option<String>,
    /// So many stretches of rows are validated and calibrated by as a whole: for rows that follow each other in time.
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<usize>,
    /// Columns of words among the inputs of the rows that were read.
    #[arg(skip)]
    pub(crate) words: Vec<String>,
}

impl LabelledArgs {
    /// All rows, and what is predicted settled by them; without a target, an error that lists the columns.
    pub(crate) fn read(&mut self, settings: &mut Settings) -> anyhow::Result<Dataset> {
        self.layout.leave_out(self.groups.as_deref());
        let Some(target) = &self.target else {
            let rows = self.layout.open(&self.data, "")?;
            return Err(mistake(format!(
                "say which column of {} to predict with --target; the columns are {}",
                self.data.display(),
                rows.listed()
            )));
        };
        let kind = settings.target_kind();
        let mut rows = self.layout.open(&self.data, target)?;
        let data = Dataset::read_rows(&mut rows, self.layout.columns(target), kind)?;
        LayoutArgs::tell_repaired(&rows);
        self.words.clear();
        for (category, inputs) in data.categories() {
            // Not where somebody else made columns of numbers with such names.
            if rows.names().is_some_and(|names| names.contains(&category.name)) {
                let (words, count) = (category.words.join(", "), inputs.len());
                let made =
                    if count == 1 { "it becomes one input".to_owned() } else { format!("it becomes {count} inputs") };
                tell!("note: {:?} holds words ({words}); {made} of 0 and 1", category.name);
                self.words.push(category.name);
            }
        }
        match data.classes() {
            Some(classes) if kind == TargetKind::Detect => {
                tell!("note: the target holds words; predicting {} classes", classes.len());
            }
            // Numbers that are nothing but 0 and 1 are classes, most likely.
            None if data.outputs() == 1 && data.targets().iter().all(|&y| y == 0.0 || y == 1.0) => {
                tell!("note: the target holds only 0 and 1; --task classification would predict a probability");
            }
            _ => {}
        }
        settings.settle_task(&data);
        if let Some(column) = &self.groups {
            let groups = read_groups(&self.data, self.layout.columns(target), self.layout.header(), column)?;
            return Ok(data.with_groups(groups)?);
        }
        match self.blocks {
            Some(blocks) => data.in_blocks(blocks).map_err(|error| mistake(format!("--blocks: {error}"))),
            None => Ok(data),
        }
    }
}
