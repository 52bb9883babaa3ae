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

/// The number in a cell: words for true and false are 1 and 0.
pub(super) fn parse(cell: &[u8]) -> Result<Number, CellProblem> {
    let cell = std::str::from_utf8(cell).map_err(|_| CellProblem::NotANumber)?.trim();
    if let Some(truth) = truth(cell) {
        return Ok(Number { exact: f64::from(u8::from(truth)), rounded: f32::from(u8::from(truth)) });
    }
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
        _ if has_thousands(cell) => CellProblem::Thousands,
        _ if is_time(cell) => CellProblem::Time,
        _ => CellProblem::NotANumber,
    }
}

/// True or false, in the words that spreadsheets and programs write.
pub(super) fn truth(cell: &str) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    match () {
        () if is(["true", "yes"]) => Some(true),
        () if is(["false", "no"]) => Some(false),
        () => None,
    }
}

/// A number with a point, if it has one.
pub(super) fn is_plain_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Digits with a comma between them where a point would make a number.
pub(super) fn is_decimal_comma(cell: &str) -> bool {
    let parts = cell.split_once(',');
    parts.is_some_and(|(_, after)| after.starts_with(|c: char| c.is_ascii_digit()))
        && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Digits in groups of three: `1,234,567`, `1.234,5`, `12 345`, `12'345`.
fn has_thousands(cell: &str) -> bool {
    let whole = cell.trim_start_matches(['+', '-']);
    let is_mark = |c: char| matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}');
    let Some(mark) = whole.chars().find(|&c| is_mark(c)) else { return false };
    let mut groups = whole.split(mark);
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Decimals stand behind the last group.
    let is_group = |(index, group): (usize, &&str)| {
        let (digits, decimals) = group.split_once(is_mark).unwrap_or((group, "0"));
        digits.len() == 3
            && are_digits(digits)
            && (index + 1 == rest.len() || digits.len() == group.len())
            && are_digits(decimals)
    };
    first.len() <= 3 && are_digits(first) && rest.iter().enumerate().all(is_group)
}

/// A date, three numbers with the same mark between them, or a time of day, two or three with colons; a time or a zone may
/// follow.
fn is_time(cell: &str) -> bool {
    let numbers_with = |mark: char, counts: &[usize]| {
        let text = cell.split(['T', ' ']).next().unwrap_or_default();
        let is_number = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        // Seconds may have decimals, and a zone behind them.
        let whole = text.split(if mark == ':' { &['.', 'Z', '+'][..] } else { &[] }).next().unwrap_or_default();
        let parts: Vec<&str> = whole.split(mark).collect();
        counts.contains(&parts.len()) && parts.into_iter().all(is_number)
    };
    ['-', '/', '.'].into_iter().any(|mark| numbers_with(mark, &[3])) || numbers_with(':', &[2, 3])
}

/// Whether a cell holds a word: no number, and no marker of a missing value.
pub(super) fn is_word(cell: &[u8]) -> bool {
    let text = text(cell);
    text.parse::<f64>().is_err() && (no_number(&text) == CellProblem::NotANumber || text.eq_ignore_ascii_case("none"))
}

/// The word in a cell of a text column: any text that is no number. `none` is a word.
pub(super) fn word(cell: &[u8]) -> Result<String, CellProblem> {
    let cell = std::str::from_utf8(cell).map_err(|_| CellProblem::NotUtf8)?.trim();
    match cell.parse::<f64>() {
        Ok(_) => Err(CellProblem::NumberAmongCategories),
        Err(_) if no_number(cell) == CellProblem::Missing && !cell.eq_ignore_ascii_case("none") => {
            Err(CellProblem::Missing)
        }
        Err(_) => Ok(cell.to_owned()),
    }
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

#[cfg(test)]
mod tests {
    use super::{CellProblem, is_decimal_comma, no_number, parse};

    #[test]
    fn what_is_no_number_is_told_apart() {
        for cell in ["1,234,567", "1.234,5", "1.234.567", "12 345", "12'345", "-1’234.5", "1\u{a0}234,25"] {
            assert_eq!(no_number(cell), CellProblem::Thousands, "{cell}");
        }
        for cell in ["2024-03-01", "2024-03-01T12:30:00Z", "1.3.2024 12:30", "3/1/24", "12:30", "12:30:05.25"] {
            assert_eq!(no_number(cell), CellProblem::Time, "{cell}");
        }
        for cell in ["1-2", "a:b", "12 34", "192.168.0.1", "x1", "1,2,3", "1.2.3a:4", "--", "12 kg", "1:2:3:4", "12:3a"]
        {
            assert_eq!(no_number(cell), CellProblem::NotANumber, "{cell}");
        }
        for cell in ["1,5", "-0,25", "+1,5e-3", ",5"] {
            assert!(is_decimal_comma(cell), "{cell}");
        }
        for cell in ["1.5", "1,", "1,5,2", "a,5", "15"] {
            assert!(!is_decimal_comma(cell), "{cell}");
        }
    }

    #[test]
    fn words_for_true_and_false_are_one_and_zero() {
        for (cell, value) in [("True", 1.0), ("YES", 1.0), ("false", 0.0), ("No", 0.0)] {
            assert_eq!(parse(cell.as_bytes()).unwrap().rounded, value, "{cell}");
        }
        assert_eq!(parse(b"maybe"), Err(CellProblem::NotANumber));
    }
}
