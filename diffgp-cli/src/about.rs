//! What the command says of a model, as text: for other languages, which have no command line.

use diffgp_train::evaluate::Known;
use diffgp_train::export::Errors;
use diffgp_train::model_file::ModelFile;
use diffgp_train::threads::Threads;

use crate::calibrate::Calibrated;
use crate::explore::{Page, Rows};
use crate::report::Report;
use crate::{export, failure, inspect, model_file, plot, shown};

/// What `inspect --json` prints.
///
/// # Errors
///
/// None that a model that was read can cause.
pub fn inspect_json(file: &ModelFile) -> Result<String, serde_json::Error> {
    inspect::json(file)
}

/// What `inspect` prints, without the code to paste; `name` is that of the file.
pub fn inspect_text(file: &ModelFile, name: &str) -> String {
    shown::lines(&inspect::summary_text(file, name))
}

/// Whether the error bars are calibrated and what that means, in one line.
pub fn error_bars(file: &ModelFile) -> String {
    Calibrated::of(&file.model()).map_or_else(|| "not calibrated: as the model has them".to_owned(), |bars| bars.text())
}

/// What to say where the device's numbers are too far from the trainer's.
pub fn export_warning(errors: &Errors) -> Option<String> {
    model_file::export_warning(errors)
}

/// What `export --c` writes: names of files and what is in them.
pub fn c_files(file: &ModelFile, name: &str) -> Vec<(String, String)> {
    export::files(file, name)
}

/// What the flow does, as SVG, seen from made-up inputs within the model's ranges; `None` without a flow.
///
/// # Errors
///
/// A sentence, if the model overflows on those.
pub fn flow_picture(file: &ModelFile, threads: &Threads) -> Result<Option<String>, String> {
    plot::flow_of_model(file, threads).map_err(|error| failure::message(&error))
}

/// The page that a run leaves, about these rows, which `described` names; without rows only what the model itself tells.
///
/// # Errors
///
/// A sentence, if a row cannot be predicted.
pub fn report(
    file: &ModelFile,
    name: &str,
    rows: &[Known<'_>],
    described: &str,
    threads: &Threads,
) -> Result<String, String> {
    let report = Report {
        model: file,
        name,
        rows,
        described,
        metrics: None,
        choices: &[],
        threads,
        options: None,
        beside_explore: false,
    };
    report.html().map_err(|error| failure::message(&error))
}

/// The page of `explore`, with some of these rows if there are any.
///
/// # Errors
///
/// None that a model that was read can cause.
pub fn explore(file: &ModelFile, name: &str, rows: &[Known<'_>], described: &str) -> Result<String, String> {
    let rows = (!rows.is_empty()).then_some(Rows { known: rows, described });
    Page { file, name, rows }.html().map_err(|error| failure::message(&error))
}
