//! How a table is written: what stands between its cells, and whether decimals have a comma.

use super::cell::{is_decimal_comma, is_plain_number};
use super::source::LOOKED_AT;

/// Lines that are looked at.
const LINES: usize = 50;
/// What may stand between cells.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Settled by the first lines of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dialect {
    pub(super) separator: u8,
    /// `1,5` is one and a half.
    pub(super) decimal_comma: bool,
}

impl Dialect {
    /// The separator that stands equally often in all lines; of several, the one by which the most cells are numbers.
    pub(super) fn of(beginning: &[u8]) -> Self {
        let text = String::from_utf8_lossy(beginning);
        let lines: Vec<&str> = lines(&text).filter(|line| !line.starts_with('#')).take(LINES).collect();
        let judged = SEPARATORS.into_iter().filter_map(|separator| Some((judge(&lines, separator)?, separator)));
        // Of equals the first.
        let best = judged.reduce(|best, next| if next.0 > best.0 { next } else { best });
        // Rows of different lengths are refused where they stand.
        let everywhere = |&separator: &u8| lines.iter().all(|line| cells(line, separator).count() > 1);
        let separator = best.map(|(_, separator)| separator).or_else(|| SEPARATORS.into_iter().find(everywhere));
        let separator = separator.unwrap_or(b',');
        let cells = || lines.iter().flat_map(|line| cells(line, separator));
        let decimal_comma = separator != b','
            && cells().any(is_decimal_comma)
            && !cells().any(|cell| cell.contains('.') && is_plain_number(cell));
        Self { separator, decimal_comma }
    }

    /// What is not as in plain CSV.
    pub(super) fn found(self) -> impl Iterator<Item = &'static str> {
        let separator = match self.separator {
            b';' => Some("semicolons between columns"),
            b'\t' => Some("tabs between columns"),
            _ => None,
        };
        separator.into_iter().chain(self.decimal_comma.then_some("decimal commas"))
    }

    /// Names in a comment, as `numpy.savetxt` writes them: the last line of comments in front, with a name for every cell
    /// of the first row.
    pub(super) fn commented_names(self, beginning: &[u8]) -> Option<Vec<String>> {
        let text = String::from_utf8_lossy(beginning);
        let comments: Vec<&str> = lines(&text).map_while(|line| line.strip_prefix('#')).collect();
        let first_row = lines(&text).nth(comments.len())?;
        let mut names: Vec<&str> = cells(comments.last()?, self.separator).collect();
        // A first column that is called #.
        if let Some(first) = names.first_mut().filter(|first| first.is_empty()) {
            *first = "#";
        }
        let row: Vec<&str> = cells(first_row, self.separator).collect();
        let is_header = names.len() == row.len()
            && row.iter().any(|cell| is_plain_number(cell))
            && !names.iter().any(|name| name.is_empty() || is_plain_number(name));
        is_header.then(|| names.into_iter().map(str::to_owned).collect())
    }
}

/// Lines that are there to the end, without empty ones.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.len() < LOOKED_AT;
    text.trim_start_matches('\u{feff}')
        .split_inclusive(['\n', '\r'])
        .filter(move |line| whole || line.ends_with(['\n', '\r']))
        .map(|line| line.trim_matches(['\n', '\r']))
        .filter(|line| !line.trim().is_empty())
}

/// How well a separator fits: fewest cells that are no numbers, then most numbers. `None` if it does not separate.
fn judge(lines: &[&str], separator: u8) -> Option<(isize, usize)> {
    let counts = || lines.iter().map(|line| cells(line, separator).count());
    let first = counts().next()?;
    if first < 2 || counts().any(|count| count != first) {
        return None;
    }
    let is_number = |cell: &&str| is_plain_number(cell) || (separator != b',' && is_decimal_comma(cell));
    let numbers = lines.iter().flat_map(|line| cells(line, separator)).filter(is_number).count();
    let others = lines.len() * first - numbers;
    Some((-(others as isize), numbers))
}

/// The cells of a line, with their quotes and blanks taken off.
fn cells(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let is_end = move |character: char| {
        quoted ^= character == '"';
        !quoted && character == char::from(separator)
    };
    line.split(is_end).map(|cell| cell.trim().trim_matches('"').trim())
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn separators_and_decimals_are_those_of_most_numbers() {
        let is = |text: &str| {
            let Dialect { separator, decimal_comma } = Dialect::of(text.as_bytes());
            (char::from(separator), decimal_comma)
        };
        for (text, expected) in [
            ("x,y\n1,2\n", (',', false)),
            ("x;y\n1;2\n", (';', false)),
            ("x;y\n1,5;2\n3;4\n", (';', true)),
            ("x;y\n1.5;2\n", (';', false)),
            ("x\ty\n1,5\t2,5\n", ('\t', true)),
            ("1,5\t2,5\n3,5\t4,5\n", ('\t', true)),
            ("1,\t2,\t3\n4,\t5,\t6\n", (',', false)),
            ("1,5;2,5\n2,5;3,5\n", (';', true)),
            // One of both: nothing is translated, and the comma is refused where it stands.
            ("x;y\n1,5;2.5\n", (';', false)),
            ("a;b,c\n1,2\n3,4\n", (',', false)),
            ("\"a;b\",y\n\"1\",2\n", (',', false)),
            ("\"a,b\";y\n1;2\n", (';', false)),
            ("# made by a logger; 1,2\nx;y\n1;2\n", (';', false)),
            ("y\n1\n", (',', false)),
            ("", (',', false)),
            // Not equally often: commas, and the row is refused where it stands.
            ("x,y\n1,2\n1,2,3\n", (',', false)),
            ("x;y\n1;2\n1;2;3\n", (';', false)),
            ("name;y\nBerlin, Mitte;1\n", (';', false)),
            ("name,y\nBerlin; Mitte,1\n", (',', false)),
        ] {
            assert_eq!(is(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_in_a_comment_are_found() {
        let names = |text: &str| Dialect::of(text.as_bytes()).commented_names(text.as_bytes());
        assert_eq!(names("# made today\n# a b, y\n1,2\n").unwrap(), ["a b", "y"]);
        assert_eq!(names("# a;y\n1,5;2\n").unwrap(), ["a", "y"]);
        assert_eq!(names("#,a,y\n1,2,3\n").unwrap(), ["#", "a", "y"]);
        for other in ["# made today\n1,2\n", "# a,y\na,y\n1,2\n", "# 1,2\n3,4\n", "a,y\n1,2\n", "# a,y\n", ""] {
            assert_eq!(names(other), None, "{other:?}");
        }
    }
}
