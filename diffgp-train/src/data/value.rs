//! One cell as a file holds it: text in CSV, a number of some type in an array.

use std::borrow::Cow;

use super::cell::{self, Number};
use super::classes;
use super::error::CellProblem;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Text, which may be that of a number.
    Text(Cow<'a, [u8]>),
    Single(f32),
    Double(f64),
    Signed(i64),
    Unsigned(u64),
    /// Nothing, with the word for it in files of that kind.
    Missing(&'static str),
    /// Something that is no number and no text, and what it is.
    Other(&'static str, CellProblem),
}

impl<'a> Value<'a> {
    /// A text that is borrowed.
    pub(super) fn text_of(bytes: &'a [u8]) -> Self {
        Self::Text(Cow::Borrowed(bytes))
    }

    /// True and False are words, as programs write them into CSV files: numbers where numbers are read, classes where classes
    /// are.
    pub(super) fn truth(truth: bool) -> Self {
        Self::text_of(if truth { b"True" } else { b"False" })
    }

    /// The finite number in it: an f32 is kept, all others are rounded once.
    pub(super) fn number(&self) -> Result<Number, CellProblem> {
        let (exact, rounded) = match *self {
            Self::Text(ref text) => return cell::parse(text),
            Self::Single(value) => (f64::from(value), value),
            Self::Double(value) => (value, value as f32),
            Self::Signed(value) => (value as f64, value as f32),
            Self::Unsigned(value) => (value as f64, value as f32),
            Self::Missing(_) => return Err(CellProblem::Missing),
            Self::Other(_, problem) => return Err(problem),
        };
        match () {
            () if rounded.is_finite() => Ok(Number { exact, rounded }),
            () if exact.is_finite() => Err(CellProblem::OutOfRange),
            () => Err(CellProblem::NotFinite),
        }
    }

    /// The name of the class in it.
    pub(super) fn class(&self) -> Result<String, CellProblem> {
        match self {
            Self::Missing(_) => Err(CellProblem::Missing),
            Self::Other(_, problem) => Err(*problem),
            _ => classes::name(&self.bytes()),
        }
    }

    /// The word in it, in a text column: any text that is no number.
    pub(super) fn word(&self) -> Result<String, CellProblem> {
        match self {
            Self::Missing(_) => Err(CellProblem::Missing),
            Self::Other(_, problem) => Err(*problem),
            _ => cell::word(&self.bytes()),
        }
    }

    /// Whether it holds a word: no number, and no marker of a missing value.
    pub(super) fn is_word(&self) -> bool {
        matches!(self, Self::Text(text) if cell::is_word(text))
    }

    /// The same for longer than the row is at hand.
    #[cfg(any(feature = "parquet", test))]
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Single(value) => Value::Single(value),
            Self::Double(value) => Value::Double(value),
            Self::Signed(value) => Value::Signed(value),
            Self::Unsigned(value) => Value::Unsigned(value),
            Self::Missing(what) => Value::Missing(what),
            Self::Other(what, problem) => Value::Other(what, problem),
        }
    }

    /// As messages quote it, without the blanks around it.
    pub(super) fn text(&self) -> String {
        cell::text(&self.bytes())
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        let written = |text: String| Cow::Owned(text.into_bytes());
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Single(value) => written(value.to_string()),
            Self::Double(value) => written(value.to_string()),
            Self::Signed(value) => written(value.to_string()),
            Self::Unsigned(value) => written(value.to_string()),
            Self::Missing(what) | Self::Other(what, _) => Cow::Borrowed(what.as_bytes()),
        }
    }
}

/// Whether cells are those of a text column: words, with true and false and missing ones among them, if nothing else.
pub(super) fn are_words(cells: &[Value<'_>]) -> bool {
    let problem = |cell: &Value<'_>| cell.number().err();
    let fits = |cell: &Value<'_>| match problem(cell) {
        Some(CellProblem::NotANumber | CellProblem::Missing) => true,
        Some(_) => false,
        None => cell::truth(&cell.text()).is_some(),
    };
    cells.iter().all(fits) && cells.iter().any(|cell| problem(cell) == Some(CellProblem::NotANumber))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_columns_hold_words_and_nothing_else() {
        let [red, truth, missing] = [Value::text_of(b"red"), Value::truth(true), Value::Missing("null")];
        assert!(are_words(&[missing.clone(), truth.clone(), red.clone()]));
        assert!(!are_words(&[missing, truth]) && !are_words(&[]));
        for other in [Value::Signed(1), Value::text_of(b"1.5"), Value::Other("a date", CellProblem::Time)] {
            assert!(!are_words(&[red.clone(), other.clone()]));
            let expected =
                if let Value::Other(..) = other { CellProblem::Time } else { CellProblem::NumberAmongCategories };
            assert_eq!(other.word(), Err(expected));
        }
        assert_eq!(red.word(), Ok("red".to_owned()));
    }

    #[test]
    fn numbers_of_every_type_are_rounded_once() {
        let rounded = |value: Value<'_>| value.number().map(|number| number.rounded);
        assert_eq!(rounded(Value::Single(0.1)), Ok(0.1));
        assert_eq!(rounded(Value::Double(0.1)), Ok(0.1));
        // By way of f64 this would be 2⁵⁴ + 2³⁰ first, halfway between two f32 numbers, and then the even one below.
        let odd = (1 << 54) + (1 << 30) + 1;
        assert_eq!(rounded(Value::Signed(odd)), Ok(((1_i64 << 54) + (1 << 31)) as f32));
        assert_eq!(rounded(Value::Unsigned(u64::MAX)), Ok(18_446_744_073_709_551_615.0));
        assert_eq!(rounded(Value::truth(true)), Ok(1.0));
        assert_eq!(rounded(Value::Double(1e39)), Err(CellProblem::OutOfRange));
        assert_eq!(rounded(Value::Double(f64::NAN)), Err(CellProblem::NotFinite));
        assert_eq!(rounded(Value::Single(f32::INFINITY)), Err(CellProblem::NotFinite));
        assert_eq!(rounded(Value::Missing("null")), Err(CellProblem::Missing));
        assert_eq!(rounded(Value::Other("timestamp", CellProblem::Time)), Err(CellProblem::Time));
    }

    #[test]
    fn classes_have_the_names_of_the_same_table_in_text() {
        let class = |value: Value<'_>| value.class();
        for one in
            [Value::Single(1.0), Value::Double(1.0), Value::Signed(1), Value::Unsigned(1), Value::text_of(b"1.0")]
        {
            assert_eq!(class(one), Ok("1".to_owned()));
        }
        assert_eq!(class(Value::Double(-0.0)), Ok("0".to_owned()));
        assert_eq!(class(Value::Double(0.5)), Err(CellProblem::NotAClass));
        assert_eq!(class(Value::truth(false)), Ok("False".to_owned()));
        assert_eq!(class(Value::Missing("null")), Err(CellProblem::Missing));
        assert!(Value::truth(true).is_word() && !Value::Signed(1).is_word() && !Value::Missing("NaN").is_word());
    }
}
