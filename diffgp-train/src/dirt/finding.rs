//! What was found, as data and as sentences.

use std::fmt;

use crate::data::Dataset;

/// What a column is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name, if there are names.
    pub name: Option<String>,
    /// As sentences speak of it.
    pub shown: String,
}

/// One thing that looks wrong. Rows count from 0 here, and from 1 in the sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// A value, repeated far from all others or known to be used so, that may stand for a missing one.
    Sentinel {
        /// Where.
        column: Label,
        /// The value.
        value: f32,
        /// How many rows hold it.
        count: usize,
        /// The first of them.
        rows: Vec<usize>,
        /// The smallest and the largest of the other values.
        others: (f32, f32),
    },
    /// A handful of values far from the rest.
    FarOff {
        /// Where.
        column: Label,
        /// How many.
        count: usize,
        /// The first rows, and their values.
        rows: Vec<usize>,
        /// Their values.
        values: Vec<f32>,
        /// The smallest and the largest of the other values.
        others: (f32, f32),
    },
    /// A positive target whose logarithm is far more even.
    Skewed {
        /// Which.
        column: Label,
        /// Half of the rows are below.
        median: f32,
        /// The largest.
        largest: f32,
    },
    /// Rows that occurred before, target included.
    Duplicates {
        /// How many.
        count: usize,
        /// Of so many.
        of: usize,
        /// The first of them.
        rows: Vec<usize>,
        /// The rows that they repeat.
        twins: Vec<usize>,
    },
    /// Held-out rows that are in training, too.
    HeldOutTwins {
        /// How many.
        count: usize,
        /// Of so many held-out rows.
        of: usize,
        /// The first of them.
        rows: Vec<usize>,
        /// The rows of training that are the same.
        twins: Vec<usize>,
    },
    /// An input that is another one, or a linear function of it.
    Copy {
        /// Which.
        column: Label,
        /// The other.
        of: Label,
        /// Exactly 1 or -1 if every value is the same.
        correlation: f64,
        /// Whether every value is the same.
        exact: bool,
    },
    /// An input that says what the target is.
    Leak {
        /// Which.
        column: Label,
        /// Of what.
        target: Label,
        /// The share of the target's variance that the input leaves open; of classes, the share of the rows.
        open: f64,
    },
    /// An input that looks like a second target.
    LikeTarget {
        /// Which.
        column: Label,
        /// Like what.
        target: Label,
        /// With it.
        correlation: f64,
    },
    /// Rows in the order of time that are held out, or kept aside, at random.
    InOrder {
        /// A column that counts.
        column: Option<Label>,
        /// Of the target with that of the row before.
        correlation: f64,
        /// Whether held-out rows lie between the others; if not, it is about rows for validation and calibration.
        held_out: bool,
    },
}

impl Label {
    pub(super) fn input(data: &Dataset, input: usize) -> Self {
        let name = data.names().map(|names| names[input].clone());
        Self { name, shown: data.input_label(input) }
    }

    pub(super) fn target(data: &Dataset, output: usize) -> Self {
        let name = data.target_names().map(|names| names[output].clone());
        Self { name, shown: data.target_label(output) }
    }
}

impl Finding {
    /// One word or two for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sentinel { .. } => "sentinel",
            Self::FarOff { .. } => "far-off",
            Self::Skewed { .. } => "skewed",
            Self::Duplicates { .. } => "duplicates",
            Self::HeldOutTwins { .. } => "held-out-twins",
            Self::Copy { .. } => "copy",
            Self::Leak { .. } => "leak",
            Self::LikeTarget { .. } => "like-target",
            Self::InOrder { .. } => "in-order",
        }
    }

    /// The columns that it is about; of two, the one that is in doubt comes first.
    pub fn columns(&self) -> Vec<&Label> {
        match self {
            Self::Sentinel { column, .. } | Self::FarOff { column, .. } | Self::Skewed { column, .. } => vec![column],
            Self::Duplicates { .. } | Self::HeldOutTwins { .. } => Vec::new(),
            Self::Copy { column, of, .. } => vec![column, of],
            Self::Leak { column, target, .. } | Self::LikeTarget { column, target, .. } => vec![column, target],
            Self::InOrder { column, .. } => column.iter().collect(),
        }
    }

    /// The first rows that it is about, counted from 0.
    pub fn rows(&self) -> &[usize] {
        match self {
            Self::Sentinel { rows, .. }
            | Self::FarOff { rows, .. }
            | Self::Duplicates { rows, .. }
            | Self::HeldOutTwins { rows, .. } => rows,
            _ => &[],
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentinel { column, value, count, rows, others } => write!(
                f,
                "{} is {} in {} ({}), far from all others, which are {}: does it stand for a missing value?",
                column.shown,
                Number(*value),
                plural(*count, "row"),
                listed(rows, *count),
                Ends(*others)
            ),
            Self::FarOff { column, count, rows, values, others } => {
                let pairs: Vec<String> = rows
                    .iter()
                    .zip(values)
                    .map(|(row, value)| format!("row {}: {}", row + 1, Number(*value)))
                    .collect();
                let more = if *count > pairs.len() { ", …" } else { "" };
                write!(
                    f,
                    "{} {} of {} {} far from all others, which are {} ({}{more}): they weigh much in training; are they right?",
                    count,
                    if *count == 1 { "value" } else { "values" },
                    column.shown,
                    if *count == 1 { "is" } else { "are" },
                    Ends(*others),
                    pairs.join(", "),
                )
            }
            Self::Skewed { column, median, largest } => write!(
                f,
                "{} is positive and lopsided: half of its values are below {}, the largest is {}; its logarithm would be \
                 easier to learn, with error bars that stay positive",
                column.shown,
                Number(*median),
                Number(*largest)
            ),
            Self::Duplicates { count, of, rows, twins } => write!(
                f,
                "{count} of {of} rows repeat an earlier row, target included ({}): error bars count them as new evidence",
                twins_listed(rows, twins, *count)
            ),
            Self::HeldOutTwins { count, of, rows, twins } => write!(
                f,
                "{count} of {} {} a twin among the training rows, target included ({}): figures on them flatter",
                plural(*of, "held-out row"),
                if *count == 1 { "has" } else { "have" },
                twins_listed(rows, twins, *count)
            ),
            Self::Copy { column, of, exact: true, .. } => {
                write!(f, "{} is a copy of {}: it costs work and tells nothing", column.shown, of.shown)
            }
            Self::Copy { column, of, correlation, .. } => write!(
                f,
                "{} is nearly a linear function of {} (correlation {correlation:.5}): it costs work and tells little",
                column.shown, of.shown
            ),
            Self::Leak { column, target, open } if *open < 1e-9 => {
                write!(f, "{} alone determines {}: is it known when the model is asked?", column.shown, target.shown)
            }
            Self::Leak { column, target, open } => write!(
                f,
                "{} alone nearly determines {} ({:.4} % is left open): is it known when the model is asked?",
                column.shown,
                target.shown,
                100.0 * open
            ),
            Self::LikeTarget { column, target, correlation } => write!(
                f,
                "{} looks like a second target (correlation {correlation:.3} with {}): is it known when the model is asked?",
                column.shown, target.shown
            ),
            Self::InOrder { column, correlation, held_out } => {
                match column {
                    Some(column) => write!(f, "{} counts on from row to row", column.shown)?,
                    None => write!(f, "targets follow the row before more closely than inputs explain")?,
                }
                let flattered = if *held_out {
                    "held-out rows at random lie between rows that they resemble, and figures on them flatter"
                } else {
                    "validation rows at random lie between rows that they resemble, and error bars become too narrow"
                };
                write!(
                    f,
                    " (correlation {correlation:.2} from one row to the next): if rows are in the order of time, {flattered}"
                )
            }
        }
    }
}

/// As short as it can be read back, without rows of zeros.
struct Number(f32);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 == 0.0 || (1e-4..1e9).contains(&self.0.abs()) {
            true => write!(f, "{}", self.0),
            false => write!(f, "{:e}", self.0),
        }
    }
}

struct Ends((f32, f32));

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", Number(self.0.0), Number(self.0.1))
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `rows 3, 9, 12, …`, counted from 1.
fn listed(rows: &[usize], count: usize) -> String {
    let numbers: Vec<String> = rows.iter().map(|row| (row + 1).to_string()).collect();
    let noun = if count == 1 { "row" } else { "rows" };
    let more = if count > rows.len() { ", …" } else { "" };
    format!("{noun} {}{more}", numbers.join(", "))
}

fn twins_listed(rows: &[usize], twins: &[usize], count: usize) -> String {
    let pairs: Vec<String> =
        rows.iter().zip(twins).map(|(row, twin)| format!("row {} is row {}", row + 1, twin + 1)).collect();
    let more = if count > rows.len() { ", …" } else { "" };
    format!("{}{more}", pairs.join(", "))
}
