//! A file as a table of numbers.

use crate::trainer::data::{Dataset, Header, Rows, TargetKind};
use std::path::Path;

/// How far a file got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Refused.
    Nothing,
    /// At least one row was read before something was refused.
    Rows,
    /// The whole file is a data set.
    Dataset,
}

/// Every way to read a file.
pub const WAYS: [(Header, TargetKind); 9] = [
    (Header::Detect, TargetKind::Real),
    (Header::Detect, TargetKind::Classes),
    (Header::Detect, TargetKind::Detect),
    (Header::Present, TargetKind::Real),
    (Header::Present, TargetKind::Classes),
    (Header::Present, TargetKind::Detect),
    (Header::Absent, TargetKind::Real),
    (Header::Absent, TargetKind::Classes),
    (Header::Absent, TargetKind::Detect),
];

/// Reads the file. Panics if something that is not finite gets through, or if rows and data set disagree.
pub fn check(path: &Path, (header, kind): (Header, TargetKind)) -> Reached {
    let (rows, complete) = rows(path, header);
    match Dataset::read_file(path, "0", header, kind) {
        Ok(data) => {
            assert!(complete && data.rows() == rows && data.inputs() > 0, "{} rows of {rows}", data.rows());
            assert!(data.targets().iter().all(|y| y.is_finite()));
            assert!((0..rows).all(|row| data.input_row(row).iter().all(|x| x.is_finite())));
            Reached::Dataset
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if rows > 0 { Reached::Rows } else { Reached::Nothing }
        }
    }
}

/// How many rows of inputs that are numbers could be read, and whether these are all.
fn rows(path: &Path, header: Header) -> (usize, bool) {
    let Ok(mut rows) = Rows::open(path, header, "0") else { return (0, false) };
    assert!(rows.columns() > 0 && rows.names().is_none_or(|names| names.len() == rows.columns()));
    // A column may be named 0.
    let Ok(targets) = rows.find_targets("0") else { return (0, false) };
    // Words are read as what they are.
    let columns = rows.columns();
    let is_number = |column: &usize| !targets.contains(column) && !rows.holds_words(*column);
    let inputs: Vec<usize> = (0..columns).filter(is_number).collect();
    let (mut cells, mut count) = (Vec::new(), 0);
    loop {
        match rows.next_cells(&inputs, &mut cells) {
            Ok(false) => return (count, true),
            Ok(true) => assert!(cells.len() == inputs.len() && cells.iter().all(|cell| cell.is_finite())),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return (count, false);
            }
        }
        count += 1;
    }
}
