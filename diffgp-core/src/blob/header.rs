//! The header of a blob: H1 to H27.

use serde::Serialize;

use super::calibration::CalibrationRecord;
use super::error::ParseError;
use super::fields::{Description, Fields};
use super::limits::{is_zero, within};
use super::{layout, limits, names_are_valid};
use crate::scheme::Scheme;

/// H3 of real targets with Gaussian noise.
pub const LIKELIHOOD_GAUSSIAN: u8 = 0;
/// H3 of two classes.
pub const LIKELIHOOD_BERNOULLI: u8 = 1;
/// H3 of three classes or more.
pub const LIKELIHOOD_SOFTMAX: u8 = 2;

/// Whether classifiers can be loaded; programs that have none leave their code out.
const CLASSES: bool = cfg!(feature = "classes");
/// Whether calibrated error bars can be loaded; programs that have none leave their code out.
const CALIBRATION: bool = cfg!(feature = "calibration");

/// H4 of models that are evaluated in single precision.
pub const ARITHMETIC_SINGLE: u8 = 0;
/// H4 of models that are evaluated in integers.
pub const ARITHMETIC_FIXED: u8 = 1;

/// In which arithmetic models can be evaluated; what a program has none of is left out.
const SINGLE: bool = cfg!(feature = "single");
const FIXED: bool = cfg!(feature = "fixed");

/// Every field of the header in its order: what it means, number, name, how it is stored, its [`Field`], its limits. The
/// struct, its reader and writer, the error texts and the table of the documentation come from this list or are tested
/// against it.
macro_rules! header {
    ($($(#[doc = $meaning:literal])+ $number:literal $name:ident: $stored:ident as $type:ty, $field:ident, $limits:literal;)+) => {
        /// The header: scalars and borrowed byte strings only, so that decoding it takes little stack and no memory.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        pub struct Header<'a> {
            $(#[doc = concat!($number, ":", $($meaning,)+ "")] pub $name: $type,)+
        }

        /// A field of the header, for [`ParseError::Field`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum Field {
            $(#[doc = concat!($number, ", ", stringify!($name))] $field,)+
        }

        impl<'a> Header<'a> {
            /// The fields in these bytes, in the order of the list.
            fn read_fields(fields: &mut Fields<'a>) -> Self {
                Self { $($name: fields.$stored(),)+ }
            }
        }

        impl Field {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$field),+];

            /// What the field is and which values it may have.
            pub const fn description(self) -> Description {
                match self {
                    $(Self::$field => Description {
                        number: $number,
                        name: stringify!($name),
                        stored: stringify!($stored),
                        limits: $limits,
                    },)+
                }
            }
        }
    };
}

header! {
    /// D.
    "H1" inputs: u8 as u8, Inputs, "1 to 64";
    /// O, the outputs of the predictor: real targets, or classes.
    "H2" outputs: u8 as u8, Outputs, "1 to 32; 1 for two classes, 3 or more for more";
    /// Of the targets given the predictor's outputs.
    "H3" likelihood: u8 as u8, Likelihood, "0 (Gaussian), 1 (Bernoulli) or 2 (softmax)";
    /// In which the device computes.
    "H4" arithmetic: u8 as u8, Arithmetic, "0 (f32) or 1 (integers; then H13 = 0)";
    /// How the flow is solved.
    "H5" scheme: u8 as u8, Scheme, "0 (Euler–Maruyama) or 1 (midpoint); 0 without a flow or if it changes with time";
    /// Of the error bars.
    "H6" calibration: u8 as u8, Calibration, "0 (none) or 1 (a table of quantiles)";
    /// e in p(y=1) = e + (1−2e) Φ(g).
    "H7" epsilon: f32 as f32, Epsilon, "0 to 0.25; 0 unless Bernoulli";
    /// Floor of every posterior variance.
    "H8" variance_floor: f32 as f32, VarianceFloor, "0 to 1";
    /// T; 0 without a flow.
    "H9" flow_time: f32 as f32, FlowTime, "0, or 1e-6 to 1e3";
    /// K, the number of updates of size T/K; 0 without a flow.
    "H10" steps: u16 as u16, Steps, "1 to 4096; 0 without a flow";
    /// P: one shared by all dimensions, or one for each; 0 without a flow.
    "H11" flow_kernels: u8 as u8, FlowKernels, "1 or D; 0 without a flow";
    /// M_s; 0 without a flow.
    "H12" flow_inducing: u16 as u16, FlowInducing, "1 to 1024; 0 without a flow";
    /// M_t if features are ρ(x) ⊗ a_t(t); 0 otherwise.
    "H13" inducing_times: u16 as u16, InducingTimes, "M_s·M_t at most 1024; 0 unless H14 = 1";
    /// 1 if all steps use the same outputs, K if each has its own; 0 without a flow.
    "H14" tables: u16 as u16, Tables, "1 or K; 0 without a flow";
    /// One shared by all outputs of the predictor, or one for each.
    "H15" predictor_kernels: u8 as u8, PredictorKernels, "1 or O";
    /// M_g.
    "H16" predictor_inducing: u16 as u16, PredictorInducing, "1 to 1024";
    /// Rows interleaved in K6 and O6.
    "H17" block: u8 as u8, Block, "8";
    /// Worst error of a mean seen at export, in standard deviations of its target; of a compressed model, its difference
    /// from the original along the drift.
    "H18" mean_error: f32 as f32, MeanError, "finite, not negative";
    /// Worst relative error of a variance (with noise) seen at export; of a compressed model, likewise.
    "H19" variance_error: f32 as f32, VarianceError, "finite, not negative";
    /// Rows that H18 and H19 were measured on.
    "H20" checked_rows: u32 as u32, CheckedRows, "any";
    /// By how far the end of K steps along the drift misses the end of the equation, root mean square, as a share of the
    /// displacement.
    "H21" discretisation_error: f32 as f32, DiscretisationError, "finite, not negative; 0 if H22 = 0";
    /// Rows that H21 was measured on; 0 if it was not, or without a flow.
    "H22" discretisation_rows: u32 as u32, DiscretisationRows, "0 without a flow";
    /// Identifies the model; by default a fingerprint of its numbers.
    "H23" model_id: bytes as &'a [u8], ModelId, "at most 32 bytes";
    /// Of every input and then every target, each a length byte and UTF-8; empty when stripped.
    "H24" names: bytes as &'a [u8], Names, "0, or one for every input and every target";
    /// Names of the classes in their order, likewise; empty when stripped, and for real targets.
    "H25" classes: bytes as &'a [u8], Classes, "0, or one for every class";
    /// Units of the inputs and targets, likewise; empty if unknown.
    "H26" units: bytes as &'a [u8], Units, "0, or one for every input and every target";
    /// What `diffgp compress` says of the model (below); empty if it was not compressed.
    "H27" certificate: bytes as &'a [u8], Certificate, "any";
}

impl<'a> Header<'a> {
    /// The header in these bytes, behind which up to three zeros align what follows; `None` if they hold anything else.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let header = Self::read_fields(&mut fields);
        let zeros = fields.rest()?;
        (zeros.len() <= 3 && zeros.iter().all(|&byte| byte == 0)).then_some(header)
    }

    /// M_s·max(M_t, 1): values in the features of the flow.
    pub fn flow_features(&self) -> usize {
        usize::from(self.flow_inducing) * usize::from(self.inducing_times).max(1)
    }

    /// The most values that the features of either Gaussian process have: what a workspace must hold.
    pub fn features(&self) -> usize {
        self.flow_features().max(usize::from(self.predictor_inducing))
    }

    /// Real targets, each with a record; none of a classifier.
    pub fn real_targets(&self) -> usize {
        if self.likelihood == LIKELIHOOD_GAUSSIAN { self.outputs.into() } else { 0 }
    }

    /// Columns that are predicted: real targets, or the one that holds the class.
    pub fn targets(&self) -> usize {
        self.real_targets().max(1)
    }

    /// C; 0 for real targets.
    pub fn class_count(&self) -> usize {
        match self.likelihood {
            LIKELIHOOD_GAUSSIAN => 0,
            LIKELIHOOD_BERNOULLI => 2,
            _ => self.outputs.into(),
        }
    }

    /// Words of the calibration: C1 and C2, then those of predictions along the drift and, with a flow, of sampled ones.
    pub(super) fn calibration_words(&self) -> usize {
        if self.calibration == 0 {
            return 0;
        }
        let modes = if self.steps == 0 { 1 } else { 2 };
        2 + modes * (self.real_targets() * CalibrationRecord::WORDS + self.class_count())
    }

    /// Whether the model is evaluated in integers. False where the program has only the other arithmetic, true where it has
    /// only this one.
    #[inline(always)]
    pub fn is_fixed(&self) -> bool {
        FIXED && (!SINGLE || self.arithmetic == ARITHMETIC_FIXED)
    }

    /// How the flow is solved.
    pub fn scheme(&self) -> Scheme {
        Scheme::from_number(self.scheme).unwrap_or(Scheme::EulerMaruyama)
    }

    /// Every field within the limits, and no field that contradicts another.
    pub(super) fn validate(&self) -> Result<(), ParseError> {
        let check = |holds: bool, field: Field| if holds { Ok(()) } else { Err(ParseError::Field(field)) };
        let (inputs, outputs) = (usize::from(self.inputs), usize::from(self.outputs));
        check((1..=limits::MAX_INPUTS).contains(&inputs), Field::Inputs)?;
        let least = match self.likelihood {
            LIKELIHOOD_GAUSSIAN => 1,
            LIKELIHOOD_BERNOULLI if CLASSES => 1,
            LIKELIHOOD_SOFTMAX if CLASSES => 3,
            _ => return Err(ParseError::Field(Field::Likelihood)),
        };
        let bernoulli = CLASSES && self.likelihood == LIKELIHOOD_BERNOULLI;
        let most = if bernoulli { 1 } else { limits::MAX_OUTPUTS };
        check((least..=most).contains(&outputs), Field::Outputs)?;
        let single = SINGLE && self.arithmetic == ARITHMETIC_SINGLE;
        let fixed = FIXED && self.arithmetic == ARITHMETIC_FIXED && self.inducing_times == 0;
        check(single || fixed, Field::Arithmetic)?;
        check(self.calibration <= u8::from(CALIBRATION), Field::Calibration)?;
        check(within(self.epsilon, &limits::EPSILON) && (bernoulli || is_zero(self.epsilon)), Field::Epsilon)?;
        check(within(self.variance_floor, &limits::VARIANCE_FLOOR), Field::VarianceFloor)?;

        let flows = !is_zero(self.flow_time);
        let steps = usize::from(self.steps);
        check(!flows || within(self.flow_time, &limits::FLOW_TIME), Field::FlowTime)?;
        check(if flows { (1..=limits::MAX_STEPS).contains(&steps) } else { steps == 0 }, Field::Steps)?;
        let kernels = usize::from(self.flow_kernels);
        check(if flows { kernels == 1 || kernels == inputs } else { kernels == 0 }, Field::FlowKernels)?;
        let flow_range = if flows { 1..=limits::MAX_FEATURES } else { 0..=0 };
        check(flow_range.contains(&usize::from(self.flow_inducing)), Field::FlowInducing)?;
        check(
            self.flow_features() <= limits::MAX_FEATURES && (self.inducing_times == 0 || (flows && self.tables == 1)),
            Field::InducingTimes,
        )?;
        check(if flows { self.tables == 1 || self.tables == self.steps } else { self.tables == 0 }, Field::Tables)?;
        let midpoint =
            self.scheme == Scheme::Midpoint.number() && flows && self.tables == 1 && self.inducing_times == 0;
        check(self.scheme == Scheme::EulerMaruyama.number() || midpoint, Field::Scheme)?;
        let kernels = usize::from(self.predictor_kernels);
        check(kernels == 1 || kernels == outputs, Field::PredictorKernels)?;
        let predictor = usize::from(self.predictor_inducing);
        check((1..=limits::MAX_FEATURES).contains(&predictor), Field::PredictorInducing)?;
        check(usize::from(self.block) == layout::BLOCK, Field::Block)?;

        check(within(self.mean_error, &limits::ERROR), Field::MeanError)?;
        check(within(self.variance_error, &limits::ERROR), Field::VarianceError)?;
        let measured = self.discretisation_rows > 0;
        check(
            within(self.discretisation_error, &limits::ERROR) && (measured || is_zero(self.discretisation_error)),
            Field::DiscretisationError,
        )?;
        check(flows || !measured, Field::DiscretisationRows)?;
        check(self.model_id.len() <= limits::MAX_MODEL_ID, Field::ModelId)?;
        let columns = inputs + self.targets();
        check(names_are_valid(self.names, columns), Field::Names)?;
        check(names_are_valid(self.classes, self.class_count()), Field::Classes)?;
        check(names_are_valid(self.units, columns), Field::Units)
    }
}

#[cfg(test)]
mod tests;
