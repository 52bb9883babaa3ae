//! Why a prediction was refused.

use core::fmt;

use diffgp_core::blob::ParseError;

/// Why there is no prediction. After a successful load these depend on the caller and the input, except
/// [`Error::NotFinite`], which a model with extreme weights can cause.
///
/// A function that loads a model and predicts has this one error: `?` turns a [`ParseError`] into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// The workspace is too small for this model.
    Capacity {
        /// `D` that the workspace needs at least.
        inputs: usize,
        /// `M` that the workspace needs at least.
        features: usize,
        /// `O` that the workspace needs at least.
        outputs: usize,
    },
    /// The input has the wrong number of values.
    InputLength {
        /// Values that the model takes.
        expected: usize,
        /// Values that were given.
        found: usize,
    },
    /// A value of the input is a NaN or an infinity.
    InputNotFinite {
        /// Which value, counted from zero.
        index: usize,
    },
    /// A sampled prediction over no paths at all.
    NoPaths,
    /// The run has not reached its end.
    Unfinished {
        /// Paths that are left.
        paths: u32,
    },
    /// The flow or the prediction overflowed; no number is better than a wrong one.
    NotFinite,
    /// A prediction in fixed-point numbers, by a model of classes or one that is evaluated in floating-point numbers.
    NotRaw,
    /// There is no model. No prediction ends so; it is for functions that load one too.
    Model(ParseError),
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::Model(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Capacity { inputs, features, outputs } => {
                write!(f, "the workspace is too small: this model needs Workspace::<{inputs}, {features}, {outputs}>")
            }
            Self::InputLength { expected, found } => {
                write!(f, "the model takes {expected} input values, {found} were given")
            }
            Self::InputNotFinite { index } => write!(f, "input value {index} (from 0) is not a finite number"),
            Self::NoPaths => f.write_str("a sampled prediction needs at least one path"),
            Self::Unfinished { paths } => write!(f, "the run has {paths} paths left to its end"),
            Self::NotFinite => f.write_str("the prediction overflowed and was withheld"),
            Self::NotRaw => f.write_str("only models of real targets in integers predict in fixed-point numbers"),
            Self::Model(error) => write!(f, "no usable model: {error}"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Model(error) => Some(error),
            _ => None,
        }
    }
}
