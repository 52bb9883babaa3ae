//! The learned parameters as one vector θ without constraints.
//!
//! Positive parameters p enter as θ = ln p, so ∂/∂θ = p ∂/∂p; all others, triangles of covariance factors included,
//! enter as they are (−ln L_ii² in the KL keeps diagonals away from zero). `libm` does exp and ln: the same bits on
//! every machine.

use crate::gradient::{Gradient, ProcessGradient, TemporalGradient};
use crate::params::{Flow, Params, Process, Temporal};

/// What a component of θ is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Z_f.
    FlowInducing,
    /// s_f².
    FlowVariance,
    /// ℓ_f.
    FlowLengthScale,
    /// Z_t.
    InducingTime,
    /// ℓ_t.
    TemporalLengthScale,
    /// m_f.
    FlowMean,
    /// L_f.
    FlowFactor,
    /// Z_g.
    PredictorInducing,
    /// s_g².
    PredictorVariance,
    /// ℓ_g.
    PredictorLengthScale,
    /// m_g.
    PredictorMean,
    /// L_g.
    PredictorFactor,
    /// σ².
    Noise,
}

impl Group {
    /// Whether θ is the logarithm of the parameter.
    pub fn is_positive(self) -> bool {
        use Group::*;
        matches!(
            self,
            FlowVariance | FlowLengthScale | TemporalLengthScale | PredictorVariance | PredictorLengthScale | Noise
        )
    }

    /// Whether the parameter belongs to q(u_g).
    pub fn is_predictor_posterior(self) -> bool {
        matches!(self, Group::PredictorMean | Group::PredictorFactor)
    }
}

/// θ of the given parameters.
pub fn pack(params: &Params) -> Vec<f64> {
    let mut theta = Vec::new();
    visit(&mut params.clone(), &mut |group, value| {
        theta.push(if group.is_positive() { libm::log(*value) } else { *value });
    });
    theta
}

/// Writes θ back into parameters of the same shape.
pub fn unpack(theta: &[f64], params: &mut Params) {
    let mut components = theta.iter();
    visit(params, &mut |group, value| {
        let &component = components.next().expect("θ is as long as the parameters are many");
        *value = if group.is_positive() { libm::exp(component) } else { component };
    });
}

/// Writes the components of `params` whose group is `chosen` into θ and leaves the others alone, to the bit.
pub fn overwrite(theta: &mut [f64], params: &Params, chosen: impl Fn(Group) -> bool) {
    let mut components = theta.iter_mut();
    visit(&mut params.clone(), &mut |group, value| {
        let component = components.next().expect("θ is as long as the parameters are many");
        if chosen(group) {
            *component = if group.is_positive() { libm::log(*value) } else { *value };
        }
    });
}

/// The group of every component of θ.
pub fn groups(params: &Params) -> Vec<Group> {
    let mut groups = Vec::new();
    visit(&mut params.clone(), &mut |group, _| groups.push(group));
    groups
}

/// ∂/∂θ from θ and the gradient with respect to the plain parameters.
pub fn chain_rule(theta: &[f64], gradient: &Gradient) -> Vec<f64> {
    let slopes = slopes(gradient);
    assert_eq!(theta.len(), slopes.len(), "θ is as long as the gradient");
    let chain = |(&theta, (group, slope)): (&f64, (Group, f64))| {
        if group.is_positive() { libm::exp(theta) * slope } else { slope }
    };
    theta.iter().zip(slopes).map(chain).collect()
}

/// The gradient with respect to the plain parameters, in the order of θ.
pub fn slopes(gradient: &Gradient) -> Vec<(Group, f64)> {
    let mut all = Vec::new();
    if let Some(flow) = &gradient.flow {
        push_process(&flow.field, FLOW, flow.temporal.as_ref(), &mut all);
    }
    push_process(&gradient.predictor, PREDICTOR, None, &mut all);
    all.extend(gradient.noise.iter().map(|&slope| (Group::Noise, slope)));
    all
}

/// What the parts of a process are called.
#[derive(Clone, Copy)]
struct Names {
    inducing: Group,
    variance: Group,
    length_scale: Group,
    mean: Group,
    factor: Group,
}

const FLOW: Names = Names {
    inducing: Group::FlowInducing,
    variance: Group::FlowVariance,
    length_scale: Group::FlowLengthScale,
    mean: Group::FlowMean,
    factor: Group::FlowFactor,
};

const PREDICTOR: Names = Names {
    inducing: Group::PredictorInducing,
    variance: Group::PredictorVariance,
    length_scale: Group::PredictorLengthScale,
    mean: Group::PredictorMean,
    factor: Group::PredictorFactor,
};

/// Inducing points, kernels, inducing times, posteriors.
fn push_process(
    process: &ProcessGradient,
    names: Names,
    temporal: Option<&TemporalGradient>,
    all: &mut Vec<(Group, f64)>,
) {
    all.extend(process.inducing.iter().map(|&slope| (names.inducing, slope)));
    for kernel in &process.kernels {
        all.push((names.variance, kernel.variance));
        all.extend(kernel.length_scales.iter().map(|&slope| (names.length_scale, slope)));
    }
    if let Some(temporal) = temporal {
        all.extend(temporal.times.iter().map(|&slope| (Group::InducingTime, slope)));
        all.push((Group::TemporalLengthScale, temporal.length_scale));
    }
    for posterior in &process.posteriors {
        all.extend(posterior.mean.iter().map(|&slope| (names.mean, slope)));
        for (column, values) in posterior.factor.column_iter().enumerate() {
            all.extend(values.iter().skip(column).map(|&slope| (names.factor, slope)));
        }
    }
}

fn visit(params: &mut Params, f: &mut dyn FnMut(Group, &mut f64)) {
    if let Some(Flow { field, temporal, .. }) = &mut params.flow {
        visit_process(field, FLOW, temporal.as_mut(), f);
    }
    visit_process(&mut params.predictor, PREDICTOR, None, f);
    params.likelihood.noise_mut().iter_mut().for_each(|noise| f(Group::Noise, noise));
}

fn visit_process(
    process: &mut Process,
    names: Names,
    temporal: Option<&mut Temporal>,
    f: &mut dyn FnMut(Group, &mut f64),
) {
    process.inducing.iter_mut().for_each(|value| f(names.inducing, value));
    for kernel in &mut process.kernels {
        f(names.variance, &mut kernel.variance);
        kernel.length_scales.iter_mut().for_each(|value| f(names.length_scale, value));
    }
    if let Some(temporal) = temporal {
        temporal.times.iter_mut().for_each(|value| f(Group::InducingTime, value));
        f(Group::TemporalLengthScale, &mut temporal.length_scale);
    }
    for posterior in &mut process.posteriors {
        posterior.mean.iter_mut().for_each(|value| f(names.mean, value));
        for (column, mut values) in posterior.factor.column_iter_mut().enumerate() {
            values.iter_mut().skip(column).for_each(|value| f(names.factor, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::small_model;

    #[test]
    fn packing_loses_nothing_but_a_rounding() {
        let params = small_model(true);
        let theta = pack(&params);
        assert_eq!(theta.len(), groups(&params).len());
        let mut back = params.clone();
        unpack(&theta, &mut back);
        // exp(ln p) rounds; the second trip starts from θ, which is what a run keeps.
        for (a, b) in pack(&back).into_iter().zip(theta) {
            assert!((a - b).abs() <= 4.0 * f64::EPSILON * b.abs());
        }
        let posteriors = |params: &Params| params.flow.as_ref().unwrap().field.posteriors.clone();
        assert_eq!(posteriors(&back), posteriors(&params));
    }

    #[test]
    fn slopes_come_in_the_order_of_the_parameters() {
        let mut params = small_model(true);
        params.flow.as_mut().unwrap().temporal = Some(Temporal { times: vec![0.0, 0.5], length_scale: 0.8 });
        let found = slopes(&Gradient::of_each(&params, |value| value));
        let mut expected = Vec::new();
        visit(&mut params, &mut |group, value| expected.push((group, *value)));
        assert_eq!(found, expected);
    }

    #[test]
    fn chain_rule_matches_a_difference_quotient() {
        // f(p) = Σ p²: ∂f/∂p = 2p.
        let params = small_model(true);
        let theta = pack(&params);
        let square = |theta: &[f64]| {
            let mut params = params.clone();
            unpack(theta, &mut params);
            let mut sum = 0.0;
            visit(&mut params, &mut |_, value| sum += *value * *value);
            sum
        };
        let gradient = chain_rule(&theta, &Gradient::of_each(&params, |value| 2.0 * value));
        let h = 1e-6;
        for index in 0..theta.len() {
            let (mut up, mut down) = (theta.clone(), theta.clone());
            up[index] += h;
            down[index] -= h;
            let quotient = (square(&up) - square(&down)) / (2.0 * h);
            // Central differences with h = 1e-6 keep about eight digits of a sum near 50.
            assert!((gradient[index] - quotient).abs() < 1e-6 * (1.0 + quotient.abs()), "component {index}");
        }
    }
}
