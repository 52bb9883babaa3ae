//! H21: names of the inputs in order, then of the target, each a length byte and UTF-8.

/// The names in a blob: an iterator over the inputs in order, then the target; empty when they were stripped.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (&length, rest) = self.bytes.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        self.bytes = rest;
        core::str::from_utf8(name).ok()
    }
}

/// Whether these bytes are no names at all, or one for every input and one for the target.
pub fn names_are_valid(bytes: &[u8], inputs: usize) -> bool {
    let mut names = Names::new(bytes);
    let count = names.by_ref().count();
    names.bytes.is_empty() && (bytes.is_empty() || count == inputs + 1)
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
    fn missing_surplus_cut_and_invalid_names_are_refused() {
        assert!(names_are_valid(b"", 2));
        assert!(names_are_valid(b"\x01a\x01b\x01y", 2));
        assert!(!names_are_valid(b"\x01a\x01b", 2));
        assert!(!names_are_valid(b"\x01a\x01b\x01y\x00", 2));
        assert!(!names_are_valid(b"\x01a\x01b\x05y", 2));
        assert!(!names_are_valid(b"\x01a\x01\xff\x01y", 2));
    }
}
