//! What an element of an array is: its type, and the value in its bytes.

use std::borrow::Cow;

use super::super::error::CellProblem;
use super::super::value::Value;

/// Type and order of the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Element {
    kind: Kind,
    big_endian: bool,
    /// Bytes.
    pub(super) size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Truth,
    Signed,
    Unsigned,
    Float,
    /// Text in bytes, filled up with zeros.
    Bytes,
    /// Text in code points of four bytes, filled up with zeros.
    Unicode,
    /// No number, and what it is.
    Other(&'static str, CellProblem),
}

/// Python objects, which are no bytes of an array at all.
#[derive(Debug, PartialEq)]
pub(super) struct Objects;

impl Element {
    /// Of a type as headers write it: `<f8`, `|b1`, `>U12`. `None` if it is none.
    pub(super) fn of(written: &str) -> Option<Result<Self, Objects>> {
        let mut characters = written.chars();
        let order = characters.next().filter(|order| "<>|=".contains(*order))?;
        let letter = characters.next()?;
        let rest = characters.as_str();
        let number = rest.split('[').next().unwrap_or_default();
        if letter == 'O' {
            return Some(Err(Objects));
        }
        let number: usize = number.parse().ok()?;
        let unread = CellProblem::UnreadType;
        let (kind, size) = match (letter, number) {
            ('b' | '?', 1) => (Kind::Truth, 1),
            ('i', 1 | 2 | 4 | 8) => (Kind::Signed, number),
            ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, number),
            ('f', 2 | 4 | 8) => (Kind::Float, number),
            ('f', _) => (Kind::Other("a long double", unread), number),
            ('c', _) => (Kind::Other("a complex number", unread), number),
            ('M', 8) => (Kind::Other("datetime64", CellProblem::Time), number),
            ('m', 8) => (Kind::Other("timedelta64", CellProblem::Time), number),
            ('S' | 'a', _) => (Kind::Bytes, number),
            ('U', _) => (Kind::Unicode, number.checked_mul(4)?),
            ('V', _) => (Kind::Other("a block of bytes", unread), number),
            _ => return None,
        };
        Some(Ok(Self { kind, big_endian: order == '>', size }))
    }

    /// An array or a record in place of a number.
    pub(super) fn several(size: usize) -> Self {
        Self { kind: Kind::Other("an array in a cell", CellProblem::UnreadType), big_endian: false, size }
    }

    /// What it is, if no number can be read from it.
    pub(super) fn unread(self) -> Option<&'static str> {
        if let Kind::Other(what, _) = self.kind { Some(what) } else { None }
    }

    /// The value in its bytes. NaN is how arrays say that a number is missing.
    pub(super) fn value(self, bytes: &[u8]) -> Value<'_> {
        match self.kind {
            Kind::Truth => Value::truth(bytes.iter().any(|&byte| byte != 0)),
            Kind::Signed => {
                // The sign is that of the first bit: shifted to the left of 64 and back.
                let shift = 64 - 8 * self.size as u32;
                Value::Signed(((self.word(bytes) << shift) as i64) >> shift)
            }
            Kind::Unsigned => Value::Unsigned(self.word(bytes)),
            Kind::Float => {
                let word = self.word(bytes);
                match self.size {
                    4 => number(f32::from_bits(word as u32)),
                    8 => match f64::from_bits(word) {
                        nan if nan.is_nan() => Value::Missing("NaN"),
                        value => Value::Double(value),
                    },
                    _ => number(half(word as u16)),
                }
            }
            Kind::Bytes => Value::text_of(without_zeros(bytes)),
            Kind::Unicode => {
                let code = |bytes: &[u8]| char::from_u32(word(bytes, self.big_endian) as u32);
                let text: String = bytes.chunks(4).map(|bytes| code(bytes).unwrap_or('\u{fffd}')).collect();
                Value::Text(Cow::Owned(text.trim_end_matches('\0').as_bytes().to_vec()))
            }
            Kind::Other(what, problem) => Value::Other(what, problem),
        }
    }

    fn word(self, bytes: &[u8]) -> u64 {
        word(bytes, self.big_endian)
    }
}

fn number(value: f32) -> Value<'static> {
    if value.is_nan() { Value::Missing("NaN") } else { Value::Single(value) }
}

/// An unsigned number of at most eight bytes.
fn word(bytes: &[u8], big_endian: bool) -> u64 {
    let mut word = [0; 8];
    if big_endian {
        word[8 - bytes.len()..].copy_from_slice(bytes);
        u64::from_be_bytes(word)
    } else {
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(kind: &str, bytes: &[u8]) -> Value<'static> {
        Element::of(kind).unwrap().unwrap().value(bytes).into_owned()
    }

    #[test]
    fn numbers_of_all_types_in_both_orders() {
        assert_eq!(value("<f4", &1.5_f32.to_le_bytes()), Value::Single(1.5));
        assert_eq!(value(">f8", &(-0.1_f64).to_be_bytes()), Value::Double(-0.1));
        assert_eq!(value("<i2", &(-300_i16).to_le_bytes()), Value::Signed(-300));
        assert_eq!(value(">i8", &i64::MIN.to_be_bytes()), Value::Signed(i64::MIN));
        assert_eq!(value("|i1", &[0x80]), Value::Signed(-128));
        assert_eq!(value(">u4", &0xfedc_ba98_u32.to_be_bytes()), Value::Unsigned(0xfedc_ba98));
        assert_eq!(value("<u8", &u64::MAX.to_le_bytes()), Value::Unsigned(u64::MAX));
        assert_eq!(value("|b1", &[1]).number().unwrap().rounded, 1.0);
        assert_eq!(value("<f4", &f32::NAN.to_le_bytes()), Value::Missing("NaN"));
        assert_eq!(value("<f8", &f64::INFINITY.to_le_bytes()).number(), Err(CellProblem::NotFinite));
    }

    #[test]
    fn halves_by_hand() {
        let half = |bits: u16| value("<f2", &bits.to_le_bytes());
        for (bits, expected) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0, 0.0),
        ] {
            assert_eq!(half(bits), Value::Single(expected), "{bits:#x}");
        }
        assert_eq!(half(0x7c00), Value::Single(f32::INFINITY));
        assert_eq!(half(0x7e00), Value::Missing("NaN"));
    }

    #[test]
    fn texts_end_before_the_zeros() {
        let text = |text: &str| Value::Text(Cow::Owned(text.as_bytes().to_vec()));
        assert_eq!(value("|S5", b"up\0\0\0"), text("up"));
        let unicode = |big: bool| {
            let units = ['é', '😀', '\0'].map(u32::from);
            units.iter().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect::<Vec<u8>>()
        };
        assert_eq!(value("<U3", &unicode(false)), text("é😀"));
        assert_eq!(value(">U3", &unicode(true)), text("é😀"));
    }

    #[test]
    fn other_types_are_named() {
        assert_eq!(Element::of("|O"), Some(Err(Objects)));
        assert_eq!(value("<M8[ns]", &[0; 8]), Value::Other("datetime64", CellProblem::Time));
        assert_eq!(Element::of("<c16").unwrap().unwrap().unread(), Some("a complex number"));
        for none in ["", "<", "f8", "<f", "<i3", "<x8", "<f-8", "<U99999999999999999999", "é8"] {
            assert_eq!(Element::of(none), None, "{none}");
        }
    }
}
