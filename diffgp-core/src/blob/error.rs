//! Why a blob was refused.

use core::fmt;

/// Why bytes are not a model that this version can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes do not start at a multiple of four.
    Unaligned,
    /// There are fewer bytes than the model says it has.
    Truncated {
        /// Bytes that are needed, as far as can be told.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The first four bytes are not those of a model: erased flash, or another file.
    NotAModel,
    /// The model was written in another version of the format.
    Version {
        /// The version it was written in.
        found: u32,
    },
    /// The checksum does not match: the bytes were damaged after they were written.
    Checksum,
    /// The lengths in the prelude contradict each other.
    Lengths,
    /// The header cannot be decoded.
    Header,
    /// A field of the header has a value outside its limits.
    Field(Field),
    /// A kernel or tensor descriptor cannot be decoded, has a value outside its limits, or asks for more numbers than
    /// there are.
    Descriptor,
    /// The tensors do not fill the space between header and checksum exactly.
    TensorSpace,
    /// A tensor holds a NaN, an infinity or a scale outside its limits.
    TensorValue,
}

/// A field of the header, for [`ParseError::Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// H1
    Inputs,
    /// H2
    Likelihood,
    /// H3
    Noise,
    /// H4
    Epsilon,
    /// H5
    VarianceFloor,
    /// H6 and H7
    TargetScaling,
    /// H8
    FlowTime,
    /// H9
    Steps,
    /// H10
    FlowKernels,
    /// H11
    FlowInducing,
    /// H12
    InducingTimes,
    /// H13
    Tables,
    /// H14
    PredictorInducing,
    /// H15
    Block,
    /// H16 to H18
    ExportErrors,
    /// H19
    ModelId,
    /// H21
    Names,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unaligned => f.write_str(
                "the model does not start at a multiple of 4 bytes; `include_model!` gives an aligned static, \
                 and a flash address for a model must be divisible by 4",
            ),
            Self::Truncated { needed, found } => {
                write!(f, "the model needs {needed} bytes, but there are only {found}; copy the whole file")
            }
            Self::NotAModel => f.write_str("these bytes are not a diffgp model: they do not begin with \"DGPm\""),
            Self::Version { found } => {
                write!(f, "the model has format version {found}, this runtime reads {}", super::FORMAT_VERSION)
            }
            Self::Checksum => f.write_str("the model is damaged: its checksum does not match; flash it again"),
            Self::Lengths => f.write_str("the model is damaged: its length fields contradict each other"),
            Self::Header => f.write_str("the model's header cannot be decoded"),
            Self::Field(field) => f.write_str(field.expectation()),
            Self::Descriptor => f.write_str(
                "a kernel or tensor descriptor is invalid, of a kind unknown here, or larger than the model",
            ),
            Self::TensorSpace => f.write_str("the model's tensors do not fill the space reserved for them"),
            Self::TensorValue => f.write_str("a tensor holds a number that is not finite or a scale out of range"),
        }
    }
}

impl Field {
    /// What the field is and which values it may have.
    const fn expectation(self) -> &'static str {
        match self {
            Self::Inputs => "the number of inputs must be 1 to 64",
            Self::Likelihood => "the likelihood must be 0 (Gaussian) or 1 (Bernoulli)",
            Self::Noise => "the noise variance must be 0 to 1e6, and 0 for a classifier",
            Self::Epsilon => "epsilon must be 0 to 0.25, and 0 for a regression",
            Self::VarianceFloor => "the variance floor must be 0 to 1",
            Self::TargetScaling => {
                "the target's mean must be finite and its scale 1e-30 to 1e30; 0 and 1 for a classifier"
            }
            Self::FlowTime => "the flow time must be 0, or 1e-6 to 1e3",
            Self::Steps => "a flow has 1 to 4096 steps, a model without flow none",
            Self::FlowKernels => "a flow has one kernel or one per input, a model without flow none",
            Self::FlowInducing => "a flow has 1 to 1024 inducing points, a model without flow none",
            Self::InducingTimes => "inducing points times inducing times must not exceed 1024",
            Self::Tables => "a flow has one table of outputs or one per step, a model without flow none",
            Self::PredictorInducing => "the predictor has 1 to 1024 inducing points",
            Self::Block => "the block size must be 8",
            Self::ExportErrors => "the recorded export errors must be finite and not negative",
            Self::ModelId => "a model id has at most 32 bytes",
            Self::Names => "names must be absent, or one for every input and the target",
        }
    }
}

impl core::error::Error for ParseError {}
