//! The header of a blob: H1 to H22.

use serde::Serialize;

use super::error::{Field, ParseError};
use super::fields::Fields;
use super::{layout, limits, names_are_valid};

/// H2 of a regression.
pub const LIKELIHOOD_GAUSSIAN: u8 = 0;
/// H2 of a binary classification.
pub const LIKELIHOOD_BERNOULLI: u8 = 1;

/// The header: scalars and borrowed byte strings only, so that decoding it takes little stack and no memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Header<'a> {
    /// H1: D.
    pub inputs: u8,
    /// H2: [`LIKELIHOOD_GAUSSIAN`] or [`LIKELIHOOD_BERNOULLI`].
    pub likelihood: u8,
    /// H3: σ² in standardised units; 0 for Bernoulli.
    pub noise: f32,
    /// H4: e; 0 for Gaussian.
    pub epsilon: f32,
    /// H5: floor of every posterior variance.
    pub variance_floor: f32,
    /// H6: added to a prediction after scaling; 0 for Bernoulli.
    pub target_mean: f32,
    /// H7: standard deviation of the target; 1 for Bernoulli.
    pub target_scale: f32,
    /// H8: T; 0 without a flow.
    pub flow_time: f32,
    /// H9: K; 0 without a flow.
    pub steps: u16,
    /// H10: P, 1 or D; 0 without a flow.
    pub flow_kernels: u8,
    /// H11: M_s; 0 without a flow.
    pub flow_inducing: u16,
    /// H12: M_t of a flow whose features are ρ(x) ⊗ a_t(t); 0 otherwise.
    pub inducing_times: u16,
    /// H13: 1 if all steps use the same outputs, K if every step has its own; 0 without a flow.
    pub tables: u16,
    /// H14: M_g.
    pub predictor_inducing: u16,
    /// H15: [`layout::BLOCK`].
    pub block: u8,
    /// H16: worst error of the mean seen at export, in standard deviations of the target; of a compressed model, against
    /// the file that was compressed.
    pub mean_error: f32,
    /// H17: worst relative error of the variance (with noise) seen at export, against the same.
    pub variance_error: f32,
    /// H18: how many rows H16 and H17 were measured on.
    pub checked_rows: u32,
    /// H19: identifies the model; any bytes.
    pub model_id: &'a [u8],
    /// H20: the descriptors, one after the other.
    pub descriptors: &'a [u8],
    /// H21: names of the inputs and the target; empty when stripped.
    pub names: &'a [u8],
}

impl<'a> Header<'a> {
    /// The header in these bytes, field by field in the order of the struct, and H22; `None` if they hold anything else.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut fields = Fields::new(bytes);
        let header = Self {
            inputs: fields.byte(),
            likelihood: fields.byte(),
            noise: fields.single(),
            epsilon: fields.single(),
            variance_floor: fields.single(),
            target_mean: fields.single(),
            target_scale: fields.single(),
            flow_time: fields.single(),
            steps: fields.short(),
            flow_kernels: fields.byte(),
            flow_inducing: fields.short(),
            inducing_times: fields.short(),
            tables: fields.short(),
            predictor_inducing: fields.short(),
            block: fields.byte(),
            mean_error: fields.single(),
            variance_error: fields.single(),
            checked_rows: fields.word(),
            model_id: fields.byte_string(),
            descriptors: fields.byte_string(),
            names: fields.byte_string(),
        };
        // H22 may be missing, and what follows are the zeros that align the tensors, at most three. The first of them
        // reads as an empty byte string.
        let missing = fields.rest()?.is_empty();
        let certificate = if missing { &[] } else { fields.byte_string() };
        let zeros = fields.rest()?;
        (zeros.len() <= 3 && zeros.iter().all(|&byte| byte == 0)).then_some((header, certificate))
    }

    /// M_s·max(M_t, 1): values in the features of the flow.
    pub fn flow_features(&self) -> usize {
        usize::from(self.flow_inducing) * usize::from(self.inducing_times).max(1)
    }

    /// The most values that the features of either Gaussian process have: what a workspace must hold.
    pub fn features(&self) -> usize {
        self.flow_features().max(usize::from(self.predictor_inducing))
    }

    /// Every field within the limits, and no field that contradicts another.
    pub(super) fn validate(&self) -> Result<(), ParseError> {
        let check = |holds: bool, field: Field| if holds { Ok(()) } else { Err(ParseError::Field(field)) };
        let inputs = usize::from(self.inputs);
        check((1..=limits::MAX_INPUTS).contains(&inputs), Field::Inputs)?;
        let gaussian = self.likelihood == LIKELIHOOD_GAUSSIAN;
        check(gaussian || self.likelihood == LIKELIHOOD_BERNOULLI, Field::Likelihood)?;
        check(limits::NOISE.contains(&self.noise) && (gaussian || self.noise == 0.0), Field::Noise)?;
        check(limits::EPSILON.contains(&self.epsilon) && (!gaussian || self.epsilon == 0.0), Field::Epsilon)?;
        check(limits::VARIANCE_FLOOR.contains(&self.variance_floor), Field::VarianceFloor)?;
        let scaled = self.target_mean.is_finite() && limits::TARGET_SCALE.contains(&self.target_scale);
        let unscaled = self.target_mean == 0.0 && self.target_scale == 1.0;
        check(if gaussian { scaled } else { unscaled }, Field::TargetScaling)?;

        let flows = self.flow_time != 0.0;
        let steps = usize::from(self.steps);
        check(!flows || limits::FLOW_TIME.contains(&self.flow_time), Field::FlowTime)?;
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
        let predictor = usize::from(self.predictor_inducing);
        check((1..=limits::MAX_FEATURES).contains(&predictor), Field::PredictorInducing)?;
        check(usize::from(self.block) == layout::BLOCK, Field::Block)?;

        let error = 0.0..=f32::MAX;
        check(error.contains(&self.mean_error) && error.contains(&self.variance_error), Field::ExportErrors)?;
        check(self.model_id.len() <= limits::MAX_MODEL_ID, Field::ModelId)?;
        check(names_are_valid(self.names, inputs), Field::Names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_features_stand_beside_one_table_alone() {
        let header = |inducing_times, tables| Header {
            inputs: 2,
            likelihood: LIKELIHOOD_GAUSSIAN,
            noise: 0.1,
            epsilon: 0.0,
            variance_floor: 0.0,
            target_mean: 0.0,
            target_scale: 1.0,
            flow_time: 1.0,
            steps: 4,
            flow_kernels: 1,
            flow_inducing: 5,
            inducing_times,
            tables,
            predictor_inducing: 6,
            block: layout::BLOCK as u8,
            mean_error: 0.0,
            variance_error: 0.0,
            checked_rows: 0,
            model_id: &[],
            descriptors: &[],
            names: &[],
        };
        for (inducing_times, tables) in [(0, 1), (0, 4), (3, 1)] {
            assert_eq!(header(inducing_times, tables).validate(), Ok(()));
        }
        assert_eq!(header(3, 4).validate(), Err(ParseError::Field(Field::InducingTimes)));
    }
}
