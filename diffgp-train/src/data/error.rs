//! What can be wrong with a data file, said so that it can be put right.

use std::path::PathBuf;

use diffgp_core::blob::limits::{MAX_INPUTS, MAX_NAME};

use super::categories::MAX_CATEGORIES;
use super::classes::MAX_CLASSES;
use super::place::Place;
use super::records::{MAX_CELLS, MAX_LINE};

/// A data file or data set that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file has no line at all.
    #[error("{}: the file is empty; expected comma-separated numbers, one row per line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// There are no rows.
    #[error("{}no data rows", place(path))]
    NoRows {
        /// The file, if there is one.
        path: Option<PathBuf>,
    },
    /// Only the target column is there, or left.
    #[error("{}: no column is left for the inputs; expected at least one beside the target", path.display())]
    NoInputs {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no table.
    #[error("{}: is {what}; {advice}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it holds.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Arrays, or a Parquet file, from which no rows can be read.
    #[error("{}: {problem}", path.display())]
    Arrays {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// [`Header`](super::Header) was said of a file that has no first line.
    #[error("{}: is {what}, which has no first line that could hold names", path.display())]
    NoFirstLine {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Cells of several columns, or many cells of one, are not usable numbers.
    #[error("{first}; in all this concerns {columns}")]
    Columns {
        /// The first such cell.
        first: Box<DataError>,
        /// The columns, each with how many cells of which kind.
        columns: String,
        /// Names, or indices, of the inputs among them.
        leave_out: Vec<String>,
    },
    /// Columns are separated by something else than commas.
    #[error("{}: line 1 looks separated by {separator}; expected commas, semicolons or tabs, the same in every line", path.display())]
    Separator {
        /// The file.
        path: PathBuf,
        /// What separates its columns.
        separator: &'static str,
    },
    /// The first line is neither a header nor data; [`Header`](super::Header) can say which.
    #[error("{}: line 1 mixes names and numbers (column {column} is {cell:?}); expected a header without numbers or a row without text", path.display())]
    MixedHeader {
        /// The file.
        path: PathBuf,
        /// Index of the first cell that is not a number, counted from 0.
        column: usize,
        /// That cell.
        cell: String,
    },
    /// The first line counts 0, 1, 2, ...: names or data; [`Header`](super::Header) can say which.
    #[error("{}: line 1 counts 0, 1, ... and may be numbers of columns or data", path.display())]
    NumberedHeader {
        /// The file.
        path: PathBuf,
    },
    /// A column that is used has no name.
    #[error(
        "{}column {column} (counted from 0) has no name; name it, or leave it out (an index column written by a data frame?)",
        place(path)
    )]
    UnnamedColumn {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// Index of the column, counted from 0.
        column: usize,
    },
    /// Two columns have one name.
    #[error("{}columns {first} and {second} (counted from 0) are both named {name:?}; rename one of them", place(path))]
    DuplicateColumn {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The name.
        name: String,
        /// The first column of that name.
        first: usize,
        /// The second column of that name.
        second: usize,
    },
    /// A row is longer or shorter than the first.
    #[error("{}: {place} has {found} cells; expected {expected} as in the first line{advice}", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The row.
        place: Place,
        /// Its number of cells.
        found: usize,
        /// The number of cells of the first line.
        expected: usize,
        /// What may be behind it; empty if there is no guess.
        advice: &'static str,
    },
    /// A line is longer than any row of numbers.
    #[error("{}: line {line} has more than {MAX_LINE} bytes; expected a row of numbers per line", path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Line of the file, counted from 1.
        line: u64,
    },
    /// A line has more cells than a table has columns.
    #[error("{}: line {line} has more than {MAX_CELLS} cells; expected a row of numbers per line", path.display())]
    ManyCells {
        /// The file.
        path: PathBuf,
        /// Line of the file, counted from 1.
        line: u64,
    },
    /// More inputs than a model can have.
    #[error("{}: {inputs} inputs; expected at most {MAX_INPUTS}, leave others out{}", path.display(), go_with_target(kept))]
    ManyInputs {
        /// The file.
        path: PathBuf,
        /// How many there are.
        inputs: usize,
        /// Names, or indices, of as many columns as there may be, those that go most with the target first; none if words are
        /// too many.
        kept: Vec<String>,
        /// The others, in the order of the file.
        leave_out: Vec<String>,
    },
    /// Not as many groups as rows.
    #[error("{groups} groups do not go with {rows} rows; expected one for every row")]
    Groups {
        /// Groups given.
        groups: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// Blocks without a row, or no blocks.
    #[error("{rows} rows cannot be cut into {blocks} blocks; expected 2 to {rows}")]
    Blocks {
        /// Blocks asked for.
        blocks: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// A cell goes on in the next line: often a quote that is not closed.
    #[error("{}: line {line}, column {column} (counted from 0): a quoted cell goes on in the next line; close the quote, or write the cell in one line", path.display())]
    LineBreak {
        /// The file.
        path: PathBuf,
        /// Line of the file where the row begins, counted from 1.
        line: u64,
        /// Index of the cell, counted from 0.
        column: usize,
    },
    /// A cell is not a usable number.
    #[error("{}: {place}, column {column}: {cell:?} {problem}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The row.
        place: Place,
        /// Name of the column, or its index counted from 0.
        column: String,
        /// The cell as it stands in the file.
        cell: String,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// Nothing to take the mean of.
    #[error("{}: column {column} has no value in any row; leave it out", path.display())]
    EmptyColumn {
        /// The file.
        path: PathBuf,
        /// Name of the column, or its index counted from 0.
        column: String,
    },
    /// Different values of a column are the same f32 number.
    #[error(
        "{}{column}: its values differ by less than 32-bit floats can tell apart; subtract a constant from the column, or rescale it",
        place(path)
    )]
    Indistinct {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// How it is called.
        column: String,
    },
    /// No column has the wanted name or index.
    #[error("{}: no column {target:?}; expected {available}", path.display())]
    UnknownColumn {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        target: String,
        /// What there is.
        available: String,
    },
    /// A target was left out.
    #[error("{}: the target {target} is also among the columns to leave out", path.display())]
    TargetIgnored {
        /// The file.
        path: PathBuf,
        /// Its name in quotes, or its index.
        target: String,
    },
    /// A column is to be predicted twice.
    #[error("{}: the target {target} is named twice", path.display())]
    TargetTwice {
        /// The file.
        path: PathBuf,
        /// Its name in quotes, or its index.
        target: String,
    },
    /// Several columns of classes.
    #[error("{}: {targets} target columns; a classification has one", path.display())]
    SeveralClassTargets {
        /// The file.
        path: PathBuf,
        /// How many there are.
        targets: usize,
    },
    /// A text column whose categories a model could not name.
    #[error(
        "{}: column {column} holds words, which become inputs named after the column; expected a header with a name for it, \
         without the sign =, or the column left out",
        path.display()
    )]
    UnnamedWords {
        /// The file.
        path: PathBuf,
        /// Its name in quotes, or its index.
        column: String,
    },
    /// A text column that says nothing.
    #[error("{}: column {column} is {word:?} in every row; expected different words, or the column left out", path.display())]
    OneWord {
        /// The file.
        path: PathBuf,
        /// Its name in quotes, or its index.
        column: String,
        /// The word.
        word: String,
    },
    /// Nothing to tell apart.
    #[error("{}{column}: all rows are of the class {class:?}; expected at least two classes", place(path))]
    OneClass {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// How it is called.
        column: String,
        /// The class.
        class: String,
    },
    /// The file with held-out rows is wrong.
    #[error("{}: line {line}: {problem}", path.display())]
    TestRows {
        /// The file.
        path: PathBuf,
        /// Line of the file, counted from 0.
        line: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A row to hold out is not there.
    #[error("held-out row {row} does not exist: the data has rows 0 to {}", rows.saturating_sub(1))]
    RowOutOfRange {
        /// The row, counted from 0.
        row: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A data set from memory has the wrong number of values.
    #[error("{values} input values do not make {rows} rows of {inputs} inputs")]
    Shape {
        /// Values given.
        values: usize,
        /// Rows, as the targets have it.
        rows: usize,
        /// Inputs per row.
        inputs: usize,
    },
    /// A data set from memory has the wrong number of targets.
    #[error("{values} target values do not make rows of {outputs} targets")]
    TargetShape {
        /// Values given.
        values: usize,
        /// Targets per row.
        outputs: usize,
    },
    /// A label in memory is not a class.
    #[error("row {row}: {label:?} {problem}")]
    Label {
        /// Row, counted from 1.
        row: usize,
        /// The label.
        label: String,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// A value in memory is not a usable number.
    #[error("row {row}, {column}: {value:?} {problem}")]
    Value {
        /// Row, counted from 1.
        row: usize,
        /// The column.
        column: String,
        /// The value.
        value: f64,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// A name that a model file cannot hold.
    #[error(
        "the name {name:?} has {bytes} bytes, a model holds {MAX_NAME} at most; shorten it, or leave the names out"
    )]
    LongName {
        /// Its beginning.
        name: String,
        /// Its length.
        bytes: usize,
    },
}

/// The first of the columns that say most.
fn go_with_target(columns: &[String]) -> String {
    match columns {
        [] => String::new(),
        _ => {
            let first: Vec<&str> = columns.iter().take(5).map(String::as_str).collect();
            format!("; by rank correlation, {}, … go most with the target", first.join(", "))
        }
    }
}

/// The beginning of a message: the file, if there is one.
fn place(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()))
}

/// Why a cell is not a usable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Nothing in it, or a marker such as `NA`.
    #[error("is a missing value; fill it in or leave the row out")]
    Missing,
    /// A comma where a point is expected.
    #[error("has a decimal comma; write decimals with a point")]
    DecimalComma,
    /// Digits in groups.
    #[error("has thousands separators; write the digits alone, as in 1234.5")]
    Thousands,
    /// A date or a time of day.
    #[error(
        "is a date or a time; write it as a number (hours since the start, the hour of the day), or leave the column out"
    )]
    Time,
    /// Some other text.
    #[error("is not a number")]
    NotANumber,
    /// In a file whose columns have types, one that holds no numbers.
    #[error("is not read; expected whole numbers, floats of 16 to 64 bits, true and false, or text")]
    UnreadType,
    /// NaN or infinite.
    #[error("is not finite; expected a finite number")]
    NotFinite,
    /// Finite, but too large for f32.
    #[error("is beyond the range of 32-bit floats (3.4e38); rescale the column")]
    OutOfRange,
    /// A number that is not whole.
    #[error("is not a class; expected a word or a whole number")]
    NotAClass,
    /// More different classes than a model can have.
    #[error("is one class too many; expected at most {MAX_CLASSES}, does the column hold numbers or remarks?")]
    TooManyClasses,
    /// A class that does not occur in the data that a model was trained on.
    #[error("is none of the model's classes")]
    UnknownClass,
    /// A number in a column that was taken for classes because it begins with a word.
    #[error("is a number, but the rows before hold words; expected numbers alone, or classes alone")]
    NumberAmongWords,
    /// More different words in an input than become inputs of their own.
    #[error("is one word too many; expected at most {MAX_CATEGORIES} different ones in an input, leave the column out")]
    TooManyCategories,
    /// A number in an input of words.
    #[error("is a number, but the first rows hold words; expected words alone, or numbers alone")]
    NumberAmongCategories,
    /// A word that did not occur in the data that a model was trained on.
    #[error("is none of the words that the model knows")]
    UnknownCategory,
    /// Not text.
    #[error("is not UTF-8 text; save the file as UTF-8")]
    NotUtf8,
}
