//! The page that a run leaves: figures and pictures in one file that needs nothing else.

mod coverage;
mod importance;
mod worst_rows;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use diffgp_train::evaluate::{Known, Sampling, score};
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;

use super::plot::Gallery;
use super::run_directory::EXPLORE;
use super::shown::markup;
use super::{eval, inspect, plot};

/// Rows in the pictures and figures at most: the page is made after every run and must not take long.
const MOST_ROWS: usize = 500;
/// What `eval` does without flags, so that both show the same figures.
const SAMPLING: Sampling = Sampling::Paths { count: 100, seed: 0 };

const STYLE: &str = include_str!("report/page.css");

/// What the page is about.
pub(crate) struct Report<'a> {
    pub(crate) model: &'a ModelFile,
    pub(crate) name: &'a str,
    /// Rows to show; without any the page tells what the model itself does.
    pub(crate) rows: &'a [Known<'a>],
    /// Which rows they are.
    pub(crate) described: &'a str,
    /// Of the run, if there was one.
    pub(crate) metrics: Option<PathBuf>,
    /// What the run chose, and why: a sentence each.
    pub(crate) choices: &'a [String],
    pub(crate) threads: &'a Threads,
    /// The options, as TOML, if they are known.
    pub(crate) options: Option<&'a str>,
    /// Whether the page to play with the model stands beside this one.
    pub(crate) beside_explore: bool,
}

impl Report<'_> {
    /// The page.
    pub(crate) fn html(&self) -> anyhow::Result<String> {
        let title = markup(self.name);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
             <style>\n{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        );
        if self.beside_explore {
            let _ = writeln!(
                page,
                "<p><a href=\"{EXPLORE}\">Play with the model</a>: sliders for every input, its answers, and its flow.</p>"
            );
        }
        match self.rows {
            [] => {
                if let Some(svg) = plot::flow_of_model(self.model, self.threads)? {
                    page.push_str("<p>The flow, seen from made-up rows within the ranges of the inputs:</p>\n");
                    pictures(&mut page, &[svg]);
                }
            }
            _ => self.rows_and_pictures(&mut page)?,
        }
        let summary = markup(&inspect::summary_text(self.model, self.name));
        let _ = writeln!(page, "<h2>Model</h2>\n<pre>{summary}</pre>");
        if let Some(options) = self.options {
            let _ = writeln!(page, "<h2>Options</h2>\n<pre>{}</pre>", markup(options));
        }
        page.push_str("</body></html>\n");
        Ok(page)
    }

    /// Adds what the rows show.
    fn rows_and_pictures(&self, page: &mut String) -> anyhow::Result<()> {
        let model = self.model.model();
        let step = self.rows.len().div_ceil(MOST_ROWS).max(1);
        let shown: Vec<Known<'_>> = self.rows.iter().step_by(step).copied().collect();
        let followed = [0, shown.len() / 2, shown.len() - 1].map(|index| shown[index]);
        let gallery = Gallery {
            file: self.model,
            model: &model,
            rows: shown,
            followed: followed.into(),
            sampling: SAMPLING,
            threads: self.threads,
            metrics: self.metrics.clone(),
        };
        let figures = score(&model, &gallery.rows, SAMPLING, self.threads)?;
        let answers = gallery.predict()?;
        let (mut of_rows, mut of_flow, mut of_run) = (Vec::new(), Vec::new(), Vec::new());
        for (name, svg) in gallery.svgs(&answers)? {
            match name.as_str() {
                "flow" | "decision-path" => of_flow.push(svg),
                "trace" => of_run.push(svg),
                _ => of_rows.push(svg),
            }
        }

        let rows = gallery.rows.len();
        let described = markup(self.described);
        let _ = write!(
            page,
            "<h2>How right it is</h2>\n<p>{described} ({rows} of them), by the device\u{2019}s own code:</p>\n<table>"
        );
        for (label, value) in eval::lines(&model, &figures).into_iter().filter(|line| !coverage::is_told(line)) {
            let _ = write!(page, "<tr><td>{}</td><td>{}</td></tr>", markup(&label), markup(&value));
        }
        page.push_str("</table>\n");
        coverage::table(page, &model, &figures);
        pictures(page, &of_rows);
        worst_rows::list(page, &model, &gallery.rows, &answers);
        page.push_str("<h2>Which inputs matter</h2>\n");
        importance::table(page, &model, &gallery.rows, self.threads)?;
        if !of_flow.is_empty() {
            page.push_str("<h2>The flow</h2>\n");
            pictures(page, &of_flow);
        }
        if !of_run.is_empty() || !self.choices.is_empty() {
            page.push_str("<h2>How it was trained</h2>\n");
            for choice in self.choices {
                let _ = writeln!(page, "<p>{}</p>", markup(&sentence(choice)));
            }
            pictures(page, &of_run);
        }
        Ok(())
    }
}

/// A line of what `train` says, as a sentence.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).chain(['.']).collect()
}

/// Side by side where there is room.
fn pictures(page: &mut String, svgs: &[String]) {
    page.push_str("<div class=\"pictures\">\n");
    for svg in svgs {
        let _ = writeln!(page, "<figure>{svg}</figure>");
    }
    page.push_str("</div>\n");
}

/// The file's name without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
