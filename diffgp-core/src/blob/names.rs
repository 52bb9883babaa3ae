//! H24 to H26: names one after the other, each a length byte and UTF-8.
//!
//! Loading checks the lengths; the text is checked when it is asked for, so that devices, which do not ask, need not
//! carry the code for it.

/// Names in a blob, in order; none when they were stripped. A name that is not UTF-8 reads as "?".
#[derive(Clone, Debug)]
pub struct Names<'a> {
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }
}

impl<'a> Names<'a> {
    fn next_bytes(&mut self) -> Option<&'a [u8]> {
        let (&length, rest) = self.bytes.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        self.bytes = rest;
        Some(name)
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        Some(core::str::from_utf8(self.next_bytes()?).unwrap_or("?"))
    }
}

/// Whether these bytes are no names at all, or this many.
#[inline(never)]
pub fn names_are_valid(bytes: &[u8], expected: usize) -> bool {
    let mut names = Names::new(bytes);
    let mut count = 0;
    while names.next_bytes().is_some() {
        count += 1;
    }
    names.bytes.is_empty() && (bytes.is_empty() || count == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_in_order() {
        let names = Names::new(b"\x04temp\x02rh\x00");
        assert!(names.eq(["temp", "rh", ""]));
    }

    #[test]
    fn names_that_are_not_text_do_not_hide_the_others() {
        assert!(Names::new(b"\x01a\x01\xff\x01y").eq(["a", "?", "y"]));
    }

    #[test]
    fn missing_surplus_and_cut_names_are_refused() {
        assert!(names_are_valid(b"", 3));
        assert!(names_are_valid(b"\x01a\x01b\x01y", 3));
        assert!(!names_are_valid(b"\x01a\x01b", 3));
        assert!(!names_are_valid(b"\x01a\x01b\x01y\x00", 3));
        assert!(!names_are_valid(b"\x01a\x01b\x05y", 3));
        assert!(names_are_valid(b"", 0));
        assert!(!names_are_valid(b"\x01a", 0));
    }
}
