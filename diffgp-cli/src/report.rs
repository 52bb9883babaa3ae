//! The page that a run leaves: figures and pictures in one file that needs nothing else.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use diffgp_train::data::Dataset;
use diffgp_train::evaluate::{Known, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;

use super::plot::Gallery;
use super::{eval, inspect};

/// Rows in the pictures and figures at most: the page is made after every run and must not take long.
const MOST_ROWS: usize = 500;
/// What `eval` does without flags, so that both show the same figures.
const SAMPLING: Sampling = Sampling::Paths { count: 100, seed: 0 };

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
svg{max-width:100%;height:auto}pre{overflow-x:auto;background:#f5f5f5;padding:1rem;font-size:13px}\
table{border-collapse:collapse}td{padding:.2rem 1.5rem .2rem 0}td+td{font-variant-numeric:tabular-nums}";

/// What the page is about.
pub(crate) struct Report<'a> {
    pub(crate) model: &'a ModelFile,
    pub(crate) name: &'a str,
    /// Rows to show, and the number of each in the file.
    pub(crate) rows: &'a Dataset,
    pub(crate) numbers: &'a [usize],
    /// Which rows they are.
    pub(crate) described: &'a str,
    pub(crate) metrics: PathBuf,
    pub(crate) threads: &'a Threads,
    /// The options, as TOML.
    pub(crate) options: &'a str,
}

impl Report<'_> {
    /// The page.
    pub(crate) fn html(&self) -> anyhow::Result<String> {
        let model = self.model.model();
        let step = self.rows.rows().div_ceil(MOST_ROWS).max(1);
        let row = |row: usize| Known::of(self.rows, row, self.numbers[row]);
        let shown: Vec<usize> = (0..self.rows.rows()).step_by(step).collect();
        let followed = [0, shown.len() / 2, shown.len() - 1].map(|index| row(shown[index]));
        let gallery = Gallery {
            model: &model,
            rows: shown.iter().map(|&index| row(index)).collect(),
            followed: followed.into(),
            sampling: SAMPLING,
            threads: self.threads,
            metrics: Some(self.metrics.clone()),
        };
        let title = escape(self.name);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
             <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        );
        let figures = score(&model, &gallery.rows, SAMPLING, self.threads)?;
        let _ = write!(
            page,
            "<p>{} ({} of them), by the device\u{2019}s own code:</p>\n<table>",
            escape(self.described),
            gallery.rows.len()
        );
        for (label, value) in eval::lines(&model, &figures) {
            let _ = write!(page, "<tr><td>{}</td><td>{}</td></tr>", escape(&label), escape(&value));
        }
        page.push_str("</table>\n");
        for svg in gallery.svgs()? {
            let _ = writeln!(page, "<figure style=\"margin:1.5rem 0\">{svg}</figure>");
        }
        let summary = escape(&inspect::summary_text(self.model, self.name));
        let options = escape(self.options);
        let _ = write!(
            page,
            "<h2>Model</h2>\n<pre>{summary}</pre>\n<h2>Options</h2>\n<pre>{options}</pre>\n</body></html>\n"
        );
        Ok(page)
    }
}

/// The file's name without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Text that cannot be taken for markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
