//! Text from elsewhere (names in a model, columns, paths, cells) as it can be shown: nothing in it acts on a terminal, and it
//! stays one word of the page, the picture or the program that it is put into.
//!
//! What acts is written out, as Rust writes it in a string: `\n`, `\u{1b}`. Files keep names as they are; this is for people.

/// Text of one line: line ends are written out too.
pub(crate) fn line(text: &str) -> String {
    written_out(text, |_| false)
}

/// Text of several lines, each ended by `\n`.
pub(crate) fn lines(text: &str) -> String {
    written_out(text, |letter| letter == '\n')
}

/// JSON, whose strings stay what they are: JSON has escapes of its own.
pub(crate) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) {
            true => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}"))),
            false => shown.push(letter),
        }
    }
    shown
}

/// Text in a page or a picture: its lines stay, and none of it is markup.
pub(crate) fn markup(text: &str) -> String {
    let text = lines(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// A string literal of Rust, with its quotes.
pub(crate) fn rust_string(text: &str) -> String {
    format!("{text:?}")
}

/// Text within a comment of C or Rust, of either form.
pub(crate) fn comment(text: &str) -> String {
    // A backslash at the end of a line would join the next one to it.
    line(text).replace("*/", "* /").replace("/*", "/ *").replace('\\', "/")
}

fn written_out(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) && !stays(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown
}

/// Control characters, those that turn the direction of writing or cannot be seen, and those that XML does not have.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[31m\r\nb\u{9b}2J\u{202e}\u{7}";

    #[test]
    fn what_acts_on_a_terminal_is_written_out() {
        assert_eq!(line(HOSTILE), r"a\u{1b}[31m\r\nb\u{9b}2J\u{202e}\u{7}");
        assert_eq!(lines("a\tb\nc\u{1b}"), "a\\tb\nc\\u{1b}");
        for plain in ["", "T = 5 °C", "Größe [m²]", "字 \\ \"'"] {
            assert_eq!((line(plain), lines(plain)), (plain.to_owned(), plain.to_owned()));
        }
    }

    #[test]
    fn json_stays_json() {
        let text = serde_json::to_string(HOSTILE).unwrap();
        let shown = json(&text);
        assert!(shown.is_ascii() && shown.contains(r"\u202e") && shown.contains(r"\u009b"), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), HOSTILE);
    }

    #[test]
    fn what_is_put_into_a_page_or_a_program_stays_text() {
        assert_eq!(markup("<a b='\"'>&\u{0}\n"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;\\u{0}\n");
        assert_eq!(rust_string("a\"\\\n\u{1b}ü"), r#""a\"\\\n\u{1b}ü""#);
        assert_eq!(comment("a*/ system(); /*\n// b\\"), "a* / system(); / */n// b/");
    }
}
