//! Values of options: what may be written, and how a set of written values becomes [`Options`].

use std::fmt;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};

use super::{KernelOption, Options, SchemeOption};
use crate::calibration::CalibrationMode;
use crate::train::{Recipe, Task};

/// What may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number, not negative.
    Count,
    /// There or not.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// There or not.
    Flag(bool),
    /// A word.
    Word(String),
}

/// The kind of a type.
pub(super) trait Written {
    const KIND: Kind;
}

impl Written for f64 {
    const KIND: Kind = Kind::Number;
}

impl Written for u64 {
    const KIND: Kind = Kind::Count;
}

impl Written for usize {
    const KIND: Kind = Kind::Count;
}

impl Written for bool {
    const KIND: Kind = Kind::Flag;
}

impl Written for Task {
    const KIND: Kind = Kind::Word(&["regression", "classification"]);
}

impl Written for Recipe {
    const KIND: Kind = Kind::Word(&["best", "paper"]);
}

impl Written for CalibrationMode {
    const KIND: Kind = Kind::Word(&["none", "table", "auto"]);
}

impl Written for KernelOption {
    const KIND: Kind = Kind::Word(&["rbf", "matern32", "matern52"]);
}

impl Written for SchemeOption {
    const KIND: Kind = Kind::Word(&["euler-maruyama", "midpoint"]);
}

impl Options {
    /// Options from written values; names with underscores or hyphens.
    pub fn from_values(values: impl IntoIterator<Item = (String, Value)>) -> Result<Self, OptionError> {
        let values = values.into_iter().map(|(name, value)| (name.replace('_', "-"), value));
        Self::deserialize(MapDeserializer::new(values))
    }
}

/// An option that is not there, or has a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionError(String);

impl serde::de::Error for OptionError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl<'de> IntoDeserializer<'de, OptionError> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = OptionError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        match self {
            Self::Number(value) => visitor.visit_f64(value),
            Self::Count(value) => visitor.visit_u64(value),
            Self::Flag(value) => visitor.visit_bool(value),
            Self::Word(value) => visitor.visit_string(value),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, OptionError> {
        match self {
            Self::Word(value) => value.into_deserializer().deserialize_enum(name, variants, visitor),
            other => other.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
