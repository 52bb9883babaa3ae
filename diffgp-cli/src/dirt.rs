//! What looks wrong in data that can be trained on, with the flag that helps.

use diffgp_train::data::Dataset;
use diffgp_train::dirt::{Finding, Label, look};
use serde::Serialize;

use super::console::{quoted, tell};

/// Warnings of one kind that are printed.
const PRINTED: usize = 5;

/// A warning, for programs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Warned {
    /// What it is.
    kind: &'static str,
    /// Names of the columns that it is about, or how they are called.
    columns: Vec<String>,
    /// The first rows that it is about, counted from 0.
    rows: Vec<usize>,
    /// The sentence.
    text: String,
}

/// Prints what looks wrong in all rows of a file, of which some are held out.
pub(crate) fn tell_about(data: &Dataset, held_out: &[usize]) -> Vec<Warned> {
    let found = look(data, held_out);
    let mut printed: Vec<(&str, usize)> = Vec::new();
    for finding in &found {
        let kind = finding.kind();
        let before = printed.iter().filter(|&&(other, _)| other == kind).count();
        printed.push((kind, before));
        match before {
            0..PRINTED => tell!("warning: {}", sentence(finding, data)),
            PRINTED => {
                let more = found.iter().filter(|other| other.kind() == kind).count() - PRINTED;
                tell!("warning: the same of {more} more columns (train --json lists them)");
            }
            _ => {}
        }
    }
    let warned = |finding: &Finding| Warned {
        kind: finding.kind(),
        columns: finding.columns().into_iter().map(|label| label.name.clone().unwrap_or(label.shown.clone())).collect(),
        rows: finding.rows().to_vec(),
        text: sentence(finding, data),
    };
    found.iter().map(warned).collect()
}

fn sentence(finding: &Finding, data: &Dataset) -> String {
    format!("{finding}{}", advice(finding, data))
}

/// What to do, in flags.
fn advice(finding: &Finding, data: &Dataset) -> String {
    match finding {
        Finding::Sentinel { .. } => " If so, write NA in its place: --missing drop or mean handles it".to_owned(),
        Finding::Duplicates { .. } => "; leave the copies out of the file".to_owned(),
        Finding::HeldOutTwins { .. } => {
            "; leave the copies out of the file, or hold out whole groups with --test-groups".to_owned()
        }
        Finding::Copy { column, .. } => format!("; {}", ignore(column)),
        Finding::Leak { column, .. } => format!(" If not, {}", ignore(column)),
        Finding::LikeTarget { column, .. } => format!(" If not, {}{}", ignore(column), both(column, data)),
        Finding::InOrder { held_out, .. } => {
            let hold_out = if *held_out { "--test-last 0.2 holds out the last rows, and " } else { "" };
            format!("; {hold_out}--blocks 20 keeps stretches of rows together")
        }
        _ => String::new(),
    }
}

fn ignore(column: &Label) -> String {
    match &column.name {
        // --ignore separates names by commas.
        Some(name) if !name.contains(',') => format!("--ignore {} leaves it out", quoted(name)),
        _ => "--ignore leaves it out".to_owned(),
    }
}

/// How to predict another column, too.
fn both(column: &Label, data: &Dataset) -> String {
    let names = data.target_names().unwrap_or_default().iter().chain(&column.name).map(String::as_str);
    let names: Vec<&str> = names.collect();
    match names.len() > data.outputs() && data.classes().is_none() {
        true => format!(", and --target {} predicts both", quoted(&names.join(","))),
        false => String::new(),
    }
}
