//! The header of an array: what its elements are, how many there are, and in which order.
//!
//! The format is that of `numpy.lib.format`, versions 1 to 3: a magic string, a length, and a Python dictionary.

use std::io::{self, Read};

use super::super::cell::quoted;
use super::super::records::{MAX_CELLS, MAX_LINE};
use super::super::value::Value;
use super::super::zip::refused;
use super::element::{Element, Objects};
use super::literal::{self, Literal};

/// What is in front of the dictionary's length.
const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Rows at most: they are counted in 32 bits.
const MAX_ROWS: u64 = u32::MAX as u64;

/// A table in an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// Of the file.
    pub(super) bytes: u64,
    pub(super) columns: Vec<Column>,
    /// Columns have names.
    pub(super) named: bool,
    pub(super) rows: u64,
    /// Columns follow each other, not rows.
    pub(super) by_column: bool,
    /// Bytes of a row.
    pub(super) row: usize,
    /// For messages: `(3, 4) of <f8`.
    pub(super) shape: String,
    /// Axes of the array: 1 or 2.
    pub(super) axes: usize,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Empty without names.
    pub(super) name: String,
    pub(super) element: Element,
    /// Where it is in a row.
    pub(super) offset: usize,
}

impl Column {
    /// The cell in a row.
    pub(super) fn value<'a>(&self, row: &'a [u8]) -> Value<'a> {
        self.element.value(&row[self.offset..self.offset + self.element.size])
    }
}

impl Header {
    /// Bytes of all rows: at most 2³² rows of 2²⁰ bytes.
    pub(super) fn length(&self) -> u64 {
        self.rows * self.row as u64
    }
}

/// Reads a header and nothing behind it.
pub(super) fn read(reader: &mut impl Read) -> io::Result<Header> {
    let mut start = [0; 8];
    reader.read_exact(&mut start)?;
    if !start.starts_with(&MAGIC) {
        return Err(refused("is no NumPy array"));
    }
    let (length, bytes) = match start[6] {
        1 => (u32::from(u16::from_le_bytes(array(reader)?)), 10),
        2 | 3 => (u32::from_le_bytes(array(reader)?), 12),
        version => return Err(refused(format!("its format is of version {version}; expected 1 to 3"))),
    };
    if length as usize > MAX_LINE {
        return Err(refused(format!("its header has {length} bytes; expected at most {MAX_LINE}")));
    }
    let mut text = vec![0; length as usize];
    reader.read_exact(&mut text)?;
    // Before version 3 the characters are those of Latin-1.
    let text = match start[6] {
        3 => String::from_utf8_lossy(&text).into_owned(),
        _ => text.iter().map(|&byte| char::from(byte)).collect(),
    };
    of_text(&text, bytes + u64::from(length))
}

fn array<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn of_text(text: &str, bytes: u64) -> io::Result<Header> {
    let damaged = || refused("its header is damaged; expected what numpy.save writes");
    let Some(Literal::Dictionary(entries)) = literal::parse(text) else { return Err(damaged()) };
    let entry = |name: &str| entries.iter().find(|(key, _)| *key == Literal::Text(name.to_owned())).map(|(_, v)| v);
    let (Some(descr), Some(&Literal::Truth(by_column)), Some(Literal::List(shape))) =
        (entry("descr"), entry("fortran_order"), entry("shape"))
    else {
        return Err(damaged());
    };
    let axis = |axis: &Literal| if let Literal::Integer(length) = axis { Some(*length) } else { None };
    let shape: Vec<u64> = shape.iter().map(axis).collect::<Option<_>>().ok_or_else(damaged)?;
    let written = written(&shape);
    let (&rows, width) = match shape.as_slice() {
        [rows] => (rows, 1),
        [rows, columns] => (rows, *columns),
        [] => return Err(refused("is a single value; expected rows and columns")),
        _ => return Err(refused(format!("has the shape {written}; expected two axes, rows and columns"))),
    };
    if rows > MAX_ROWS {
        return Err(refused(format!("has {rows} rows; expected at most {MAX_ROWS}")));
    }
    let header = |columns: Vec<Column>, named, row: usize, descr: &str| {
        if row == 0 || row > MAX_LINE {
            return Err(refused(format!("a row has {row} bytes; expected 1 to {MAX_LINE}")));
        }
        let (shape, axes) = (format!("{written} of {descr}"), shape.len());
        // A single column has but one order.
        Ok(Header { bytes, columns, named, rows, by_column: by_column && width > 1, row, shape, axes })
    };
    match descr {
        Literal::Text(kind) => {
            let element = element(kind)?;
            if let Some(what) = element.unread() {
                return Err(refused(format!("each number is {what} ({kind}); {}", super::READ)));
            }
            if width == 0 || width > MAX_CELLS as u64 {
                return Err(refused(format!("has {width} columns; expected 1 to {MAX_CELLS}")));
            }
            let row = element.size.checked_mul(width as usize).ok_or_else(damaged)?;
            let column = |index| Column { name: String::new(), element, offset: index * element.size };
            header((0..width as usize).map(column).collect(), false, row, kind)
        }
        Literal::List(fields) => {
            if shape.len() != 1 {
                return Err(refused(format!("has the shape {written}; expected one axis, with columns by name")));
            }
            let (columns, row) = columns_of(fields)?;
            header(columns, true, row, "records")
        }
        _ => Err(damaged()),
    }
}

/// The columns of records, and the bytes of one.
fn columns_of(fields: &[Literal]) -> io::Result<(Vec<Column>, usize)> {
    let damaged = || refused("the fields in its header are damaged; expected what numpy.save writes");
    let (mut columns, mut row) = (Vec::new(), 0_usize);
    for field in fields {
        let Literal::List(parts) = field else { return Err(damaged()) };
        let (name, kind, inner) = match parts.as_slice() {
            [name, kind] => (name, kind, &[][..]),
            [name, kind, Literal::List(inner)] => (name, kind, inner.as_slice()),
            _ => return Err(damaged()),
        };
        let name = match name {
            Literal::Text(name) => name,
            // A title in front of the name.
            Literal::List(names) => match names.as_slice() {
                [_, Literal::Text(name)] => name,
                _ => return Err(damaged()),
            },
            _ => return Err(damaged()),
        };
        let element = match (kind, inner) {
            (Literal::Text(kind), []) => element(kind)?,
            _ => Element::several(size_of(kind, inner)?.ok_or_else(damaged)?),
        };
        // Bytes between fields have no name and are a block.
        if !(name.is_empty() && element.unread().is_some()) {
            columns.push(Column { name: name.trim().to_owned(), element, offset: row });
        }
        row = row.checked_add(element.size).ok_or_else(damaged)?;
        if columns.len() > MAX_CELLS {
            return Err(refused(format!("has more than {MAX_CELLS} columns; expected fewer")));
        }
    }
    if columns.is_empty() { Err(refused("has no columns; expected at least two")) } else { Ok((columns, row)) }
}

/// Bytes of a field that is an array or a record; `None` if that is no number.
fn size_of(kind: &Literal, inner: &[Literal]) -> io::Result<Option<usize>> {
    let one = match kind {
        Literal::Text(kind) => element(kind)?.size,
        // Records in records: all that counts is how long they are.
        Literal::List(fields) => columns_of(fields)?.1,
        _ => return Ok(None),
    };
    let times = |size: Option<usize>, axis: &Literal| match axis {
        Literal::Integer(length) => size?.checked_mul(usize::try_from(*length).ok()?),
        _ => None,
    };
    Ok(inner.iter().fold(Some(one), times))
}

fn element(kind: &str) -> io::Result<Element> {
    match Element::of(kind) {
        Some(Ok(element)) => Ok(element),
        Some(Err(Objects)) => Err(refused(
            "holds Python objects, which are programs to unpickle; convert it to numbers, as with astype(float)",
        )),
        None => Err(refused(format!("its elements are of the unknown type {:?}; {}", quoted(kind), super::READ))),
    }
}

/// As Python writes it.
fn written(shape: &[u64]) -> String {
    let axes: Vec<String> = shape.iter().take(8).map(u64::to_string).collect();
    match axes.as_slice() {
        [one] => format!("({one},)"),
        _ => format!("({})", axes.join(", ")),
    }
}
