//! A column of a Parquet file: what its values mean, and a batch of them.

use std::borrow::Cow;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::super::error::CellProblem;
use super::super::value::Value;

/// A column, whether it is unpacked or not.
pub(super) struct Column {
    /// With those of the fields that it is in.
    pub(super) name: String,
    meaning: Meaning,
    /// The definition level of a value that is there; 0 if all are.
    present: i16,
    reader: Option<ColumnReader>,
    levels: Vec<i16>,
    values: Values,
    /// Where nulls may be: of every row, the place of its value.
    places: Vec<Option<usize>>,
}

/// What values mean beside what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Number,
    /// Whole numbers without a sign, stored in such with one.
    Unsigned,
    /// Whole numbers, with so many digits behind the point.
    Decimal(i32),
    Text,
    Other(&'static str, CellProblem),
}

#[derive(Debug)]
enum Values {
    Truth(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
    /// Not unpacked.
    Unread,
}

impl Column {
    /// As the file describes it. A list that is alone in its field has the name of that.
    pub(super) fn of(description: &ColumnDescPtr, alone: bool) -> Self {
        let meaning = meaning(description);
        let values = match (meaning, description.physical_type()) {
            (Meaning::Other(..), _) | (_, Type::INT96) => Values::Unread,
            (_, Type::BOOLEAN) => Values::Truth(Vec::new()),
            (_, Type::INT32) => Values::Int32(Vec::new()),
            (_, Type::INT64) => Values::Int64(Vec::new()),
            (_, Type::FLOAT) => Values::Float(Vec::new()),
            (_, Type::DOUBLE) => Values::Double(Vec::new()),
            (_, Type::BYTE_ARRAY) => Values::Bytes(Vec::new()),
            (_, Type::FIXED_LEN_BYTE_ARRAY) => Values::Fixed(Vec::new()),
        };
        Self {
            name: match alone && description.max_rep_level() > 0 {
                true => field(description).to_owned(),
                false => description.path().string(),
            },
            meaning,
            present: description.max_def_level(),
            reader: None,
            levels: Vec::new(),
            values,
            places: Vec::new(),
        }
    }

    /// Whether its values are looked at; if not, every cell only says what it is.
    pub(super) fn is_unpacked(&self) -> bool {
        !matches!(self.values, Values::Unread)
    }

    /// Goes to the beginning of a row group.
    pub(super) fn open(&mut self, reader: ColumnReader) {
        self.reader = Some(reader);
    }

    /// Unpacks so many rows, or as many as there are.
    pub(super) fn fill(&mut self, rows: usize) -> Result<usize> {
        let Self { levels, .. } = self;
        levels.clear();
        let read = match (&mut self.reader, &mut self.values) {
            (Some(ColumnReader::BoolColumnReader(reader)), Values::Truth(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::Int32ColumnReader(reader)), Values::Int32(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::Int64ColumnReader(reader)), Values::Int64(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::FloatColumnReader(reader)), Values::Float(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::DoubleColumnReader(reader)), Values::Double(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::ByteArrayColumnReader(reader)), Values::Bytes(values)) => {
                batch(reader, rows, levels, values)?
            }
            (Some(ColumnReader::FixedLenByteArrayColumnReader(reader)), Values::Fixed(values)) => {
                batch(reader, rows, levels, values)?
            }
            // Every cell says what it is; nothing is read.
            _ => return Ok(rows),
        };
        self.places.clear();
        if self.present > 0 {
            let mut values = 0..;
            let place = |&level: &i16| if level == self.present { values.next() } else { None };
            self.places.extend(self.levels.iter().map(place));
        }
        Ok(read)
    }

    /// The value in a row of the batch.
    pub(super) fn value(&self, row: usize) -> Value<'_> {
        let place =
            if self.present > 0 && self.is_unpacked() { self.places.get(row).copied().flatten() } else { Some(row) };
        place.and_then(|place| self.at(place)).unwrap_or(Value::Missing("null"))
    }

    fn at(&self, place: usize) -> Option<Value<'_>> {
        if let Meaning::Other(what, problem) = self.meaning {
            return Some(Value::Other(what, problem));
        }
        Some(match (&self.values, self.meaning) {
            (Values::Truth(values), _) => Value::truth(*values.get(place)?),
            (Values::Int32(values), Meaning::Unsigned) => Value::Unsigned(u64::from(*values.get(place)? as u32)),
            (Values::Int32(values), Meaning::Decimal(scale)) => decimal(i128::from(*values.get(place)?), scale),
            (Values::Int32(values), _) => Value::Signed(i64::from(*values.get(place)?)),
            (Values::Int64(values), Meaning::Unsigned) => Value::Unsigned(*values.get(place)? as u64),
            (Values::Int64(values), Meaning::Decimal(scale)) => decimal(i128::from(*values.get(place)?), scale),
            (Values::Int64(values), _) => Value::Signed(*values.get(place)?),
            (Values::Float(values), _) => Value::Single(*values.get(place)?),
            (Values::Double(values), _) => Value::Double(*values.get(place)?),
            (Values::Bytes(values), Meaning::Decimal(scale)) => of_bytes(values.get(place)?.data(), scale),
            (Values::Bytes(values), _) => Value::text_of(values.get(place)?.data()),
            (Values::Fixed(values), Meaning::Decimal(scale)) => of_bytes(values.get(place)?.data(), scale),
            (Values::Fixed(values), _) => Value::text_of(values.get(place)?.data()),
            (Values::Unread, _) => Value::Other("a value of this type", CellProblem::UnreadType),
        })
    }
}

/// The field of the table that it is in.
pub(super) fn field(description: &ColumnDescPtr) -> &str {
    description.path().parts().first().map_or("", String::as_str)
}

/// Appends rows until there are so many, or no more; values that were there are replaced.
fn batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<usize> {
    values.clear();
    let mut read = 0;
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(levels), None, values)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    Ok(read)
}

fn meaning(description: &ColumnDescPtr) -> Meaning {
    let time = |what| Meaning::Other(what, CellProblem::Time);
    let unread = |what| Meaning::Other(what, CellProblem::UnreadType);
    if description.max_rep_level() > 0 {
        return unread("a list");
    }
    let physical = description.physical_type();
    let logical = description.logical_type_ref().cloned();
    match (logical, description.converted_type(), physical) {
        (_, _, Type::INT96) => time("a timestamp"),
        (Some(LogicalType::Timestamp { .. }), ..)
        | (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS, _) => time("a timestamp"),
        (Some(LogicalType::Date), ..) | (None, ConvertedType::DATE, _) => time("a date"),
        (Some(LogicalType::Time { .. }), ..) | (None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS, _) => {
            time("a time of day")
        }
        (Some(LogicalType::Decimal { .. }), ..) | (None, ConvertedType::DECIMAL, _) => {
            Meaning::Decimal(description.type_scale())
        }
        (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64, _) => {
            Meaning::Unsigned
        }
        (Some(LogicalType::Integer(integer)), ..) if !integer.is_signed => Meaning::Unsigned,
        (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), ..)
        | (
            None,
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON | ConvertedType::NONE,
            Type::BYTE_ARRAY,
        ) => Meaning::Text,
        (_, _, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => unread("a block of bytes"),
        _ => Meaning::Number,
    }
}

/// A big-endian number in two's complement.
fn of_bytes(bytes: &[u8], scale: i32) -> Value<'static> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Value::Other("a decimal of more than 38 digits", CellProblem::UnreadType);
    }
    let sign = if bytes[0] < 0x80 { 0 } else { 0xff };
    let mut word = [sign; 16];
    word[16 - bytes.len()..].copy_from_slice(bytes);
    decimal(i128::from_be_bytes(word), scale)
}

/// Its text: rounded once when it is read as a number.
fn decimal(value: i128, scale: i32) -> Value<'static> {
    Value::Text(Cow::Owned(format!("{value}e{}", -i64::from(scale)).into_bytes()))
}
