//! The Python literals that the header of an array is made of: a dictionary of strings, numbers, lists and tuples.

/// Lists within lists at most.
const DEEPEST: usize = 16;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Integer(u64),
    /// True or False.
    Truth(bool),
    None,
    /// A list or a tuple.
    List(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
}

/// All of a text; `None` if it is no literal of these kinds.
pub(super) fn parse(text: &str) -> Option<Literal> {
    let mut parser = Parser { rest: text };
    let literal = parser.literal(0)?;
    parser.skip_blanks();
    parser.rest.trim_end_matches('\0').is_empty().then_some(literal)
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn literal(&mut self, depth: usize) -> Option<Literal> {
        self.skip_blanks();
        match self.rest.chars().next()? {
            _ if depth > DEEPEST => None,
            quote @ ('\'' | '"') => self.text(quote).map(Literal::Text),
            '[' => self.list('[', ']', depth),
            '(' => self.list('(', ')', depth),
            '{' => self.dictionary(depth),
            '0'..='9' => self.integer(),
            _ => {
                let words = [("True", Literal::Truth(true)), ("False", Literal::Truth(false)), ("None", Literal::None)];
                words.into_iter().find_map(|(word, literal)| self.take(word).then_some(literal))
            }
        }
    }

    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Literal> {
        self.take(open.encode_utf8(&mut [0; 4]));
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            if self.take(close.encode_utf8(&mut [0; 4])) {
                return Some(Literal::List(items));
            }
            items.push(self.literal(depth + 1)?);
            self.comma_or(close)?;
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Literal> {
        self.take("{");
        let mut entries = Vec::new();
        loop {
            self.skip_blanks();
            if self.take("}") {
                return Some(Literal::Dictionary(entries));
            }
            let key = self.literal(depth + 1)?;
            self.skip_blanks();
            if !self.take(":") {
                return None;
            }
            entries.push((key, self.literal(depth + 1)?));
            self.comma_or('}')?;
        }
    }

    /// A comma, or what closes the list, which stays.
    fn comma_or(&mut self, close: char) -> Option<()> {
        self.skip_blanks();
        (self.take(",") || self.rest.starts_with(close)).then_some(())
    }

    fn integer(&mut self) -> Option<Literal> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        // Python 2 wrote long integers so.
        self.take("L");
        digits.parse().ok().map(Literal::Integer)
    }

    fn text(&mut self, quote: char) -> Option<String> {
        let mut characters = self.rest.char_indices().skip(1);
        let mut text = String::new();
        while let Some((at, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => {
                    let (_, escaped) = characters.next()?;
                    let digits = match escaped {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    let code: String = characters.by_ref().take(digits).map(|(_, digit)| digit).collect();
                    text.push(match escaped {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        '\\' | '\'' | '"' => escaped,
                        _ => char::from_u32(u32::from_str_radix(&code, 16).ok()?)?,
                    });
                }
                _ => text.push(character),
            }
        }
        None
    }

    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_as_numpy_writes_them() {
        let text = |text: &str| Literal::Text(text.to_owned());
        let header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4L), }   \n").unwrap();
        assert_eq!(
            header,
            Literal::Dictionary(vec![
                (text("descr"), text("<f8")),
                (text("fortran_order"), Literal::Truth(false)),
                (text("shape"), Literal::List(vec![Literal::Integer(3), Literal::Integer(4)])),
            ])
        );
        let fields = parse(r#"[('a b', '<f4'), ("it's", '|u1', (2,)), ('\xe9\u20ac\\\'', None)]"#).unwrap();
        let Literal::List(fields) = fields else { panic!("{fields:?}") };
        assert_eq!(fields[1], Literal::List(vec![text("it's"), text("|u1"), Literal::List(vec![Literal::Integer(2)])]));
        assert_eq!(fields[2], Literal::List(vec![text("é€\\'"), Literal::None]));
        assert_eq!(parse("()"), Some(Literal::List(Vec::new())));
    }

    #[test]
    fn what_is_no_literal_is_refused() {
        for other in [
            "",
            "{",
            "{'a'}",
            "[1 2]",
            "(1,,2)",
            "'a",
            "'\\q'",
            "'\\xg0'",
            "-1",
            "99999999999999999999",
            "1 2",
            "open('x')",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
        assert!(parse(&format!("{}{}", "[".repeat(16), "]".repeat(16))).is_some());
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
