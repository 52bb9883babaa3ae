//! All columns of a file that hold something else than numbers, or too many words, so that they can be mended or left out at once.

use std::collections::BTreeMap;

use super::cell::quoted;
use super::words::Words;
use super::{CellProblem, DataError, Rows};

/// Columns that are named at most.
const NAMED: usize = 20;

/// Goes through the rest of the file after the first cell that is no number. That error, and what else would follow it.
pub(super) fn survey(
    rows: &mut Rows,
    used: &[usize],
    inputs: &[usize],
    words: &mut Words,
    first: DataError,
) -> DataError {
    let DataError::Cell { problem, .. } = &first else { return first };
    if !is_usual(*problem) {
        return first;
    }
    let mut counts: BTreeMap<usize, BTreeMap<&'static str, u64>> = BTreeMap::new();
    let mut cells = 0;
    // The row with the error is the one read last; a file that ends in another error is counted to there.
    loop {
        let numbers = used.iter().filter_map(|&column| Some((column, rows.cell(column).number().err()?)));
        for (column, problem) in numbers.chain(words.problems(rows)).collect::<Vec<_>>() {
            *counts.entry(column).or_default().entry(kind(problem)).or_default() += 1;
            cells += 1;
        }
        if !matches!(rows.next_cells(&[], &mut Vec::new()), Ok(true)) {
            break;
        }
    }
    if cells < 2 {
        return first;
    }
    let described = |(&column, kinds): (&usize, &BTreeMap<&str, u64>)| {
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let name =
            rows.names().map_or_else(|| format!("column {column}"), |names| format!("{:?}", quoted(&names[column])));
        format!("{name} ({})", kinds.join(", "))
    };
    let mut columns: Vec<String> = counts.iter().take(NAMED).map(described).collect();
    if counts.len() > NAMED {
        columns.push(format!("… ({} columns in all)", counts.len()));
    }
    let name = |&column: &usize| rows.names().map_or_else(|| column.to_string(), |names| names[column].clone());
    let is_input = |column: &&usize| inputs.contains(column);
    let leave_out: Vec<String> = counts.keys().filter(is_input).take(NAMED).map(name).collect();
    DataError::Columns { first: Box::new(first), columns: columns.join(", "), leave_out }
}

/// Not a slip in a single cell, but what whole columns are made of.
fn is_usual(problem: CellProblem) -> bool {
    use CellProblem::{Missing, NotANumber, Thousands, Time, TooManyCategories, UnreadType};
    matches!(problem, Missing | NotANumber | Time | Thousands | TooManyCategories | UnreadType)
}

/// For counts.
fn kind(problem: CellProblem) -> &'static str {
    match problem {
        CellProblem::Missing => "missing",
        CellProblem::Time => "dates or times",
        CellProblem::Thousands => "with thousands separators",
        CellProblem::DecimalComma => "with a decimal comma",
        CellProblem::NotFinite | CellProblem::OutOfRange => "not finite",
        CellProblem::UnreadType => "of another type",
        CellProblem::TooManyCategories => "words too many",
        CellProblem::NumberAmongCategories => "numbers among words",
        _ => "words",
    }
}
