//! One cell: the number in it, or why there is none.

use super::error::CellProblem;

/// Characters of a cell that a message quotes at most.
const QUOTED: usize = 40;

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    /// As it stands in the file.
    pub(super) exact: f64,
    /// Rounded to f32 once.
    pub(super) rounded: f32,
}

/// The number in a cell.
pub(super) fn parse(cell: &[u8]) -> Result<Number, CellProblem> {
    let cell = std::str::from_utf8(cell).map_err(|_| CellProblem::NotANumber)?.trim();
    // Both from the text: f32 by way of f64 would be rounded twice.
    let (Ok(exact), Ok(rounded)) = (cell.parse::<f64>(), cell.parse::<f32>()) else { return Err(no_number(cell)) };
    match () {
        () if rounded.is_finite() => Ok(Number { exact, rounded }),
        // A number too large even for f64 has digits; `inf` and `nan` have none.
        () if cell.bytes().any(|byte| byte.is_ascii_digit()) => Err(CellProblem::OutOfRange),
        () => Err(CellProblem::NotFinite),
    }
}

fn no_number(cell: &str) -> CellProblem {
    match cell.to_ascii_lowercase().as_str() {
        "" | "na" | "n/a" | "null" | "none" | "?" | "-" => CellProblem::Missing,
        _ if cell.replacen(',', ".", 1).parse::<f64>().is_ok() => CellProblem::DecimalComma,
        _ => CellProblem::NotANumber,
    }
}

/// Whether a cell holds a word: no number, and no marker of a missing value.
pub(super) fn is_word(cell: &[u8]) -> bool {
    let text = text(cell);
    text.parse::<f64>().is_err() && (no_number(&text) == CellProblem::NotANumber || text.eq_ignore_ascii_case("none"))
}

/// The text of a cell without the blanks around it.
pub(super) fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_owned()
}

/// A cell or a name as messages quote it: its beginning, if it is long.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
