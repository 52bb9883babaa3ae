//! The learned parameters as one vector θ without constraints.
//!
//! Positive parameters p enter as θ = ln p, so ∂/∂θ = p ∂/∂p; all others, triangles of covariance factors included,
//! enter as they are (−ln L_ii² in the KL keeps diagonals away from zero). `libm` does exp and ln: the same bits on
//! every machine.

use nalgebra::DMatrix;

use crate::gradient::{Gradient, KernelGradient, PosteriorGradient};
use crate::params::{Kernel, Likelihood, Params, Posterior};

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
        all.extend(flow.inducing.iter().map(|&slope| (Group::FlowInducing, slope)));
        for kernel in &flow.kernels {
            push_kernel(kernel, Group::FlowVariance, Group::FlowLengthScale, &mut all);
        }
        if let Some(temporal) = &flow.temporal {
            all.extend(temporal.times.iter().map(|&slope| (Group::InducingTime, slope)));
            all.push((Group::TemporalLengthScale, temporal.length_scale));
        }
        for posterior in &flow.posteriors {
            push_posterior(posterior, Group::FlowMean, Group::FlowFactor, &mut all);
        }
    }
    let predictor = &gradient.predictor;
    all.extend(predictor.inducing.iter().map(|&slope| (Group::PredictorInducing, slope)));
    push_kernel(&predictor.kernel, Group::PredictorVariance, Group::PredictorLengthScale, &mut all);
    push_posterior(&predictor.posterior, Group::PredictorMean, Group::PredictorFactor, &mut all);
    all.extend(gradient.noise.map(|slope| (Group::Noise, slope)));
    all
}

fn push_kernel(kernel: &KernelGradient, variance: Group, length_scale: Group, all: &mut Vec<(Group, f64)>) {
    all.push((variance, kernel.variance));
    all.extend(kernel.length_scales.iter().map(|&slope| (length_scale, slope)));
}

fn push_posterior(posterior: &PosteriorGradient, mean: Group, factor: Group, all: &mut Vec<(Group, f64)>) {
    all.extend(posterior.mean.iter().map(|&slope| (mean, slope)));
    for (column, values) in posterior.factor.column_iter().enumerate() {
        all.extend(values.iter().skip(column).map(|&slope| (factor, slope)));
    }
}

fn visit(params: &mut Params, f: &mut dyn FnMut(Group, &mut f64)) {
    if let Some(flow) = &mut params.flow {
        flow.inducing.iter_mut().for_each(|value| f(Group::FlowInducing, value));
        for kernel in &mut flow.kernels {
            visit_kernel(kernel, Group::FlowVariance, Group::FlowLengthScale, f);
        }
        if let Some(temporal) = &mut flow.temporal {
            temporal.times.iter_mut().for_each(|value| f(Group::InducingTime, value));
            f(Group::TemporalLengthScale, &mut temporal.length_scale);
        }
        for posterior in &mut flow.posteriors {
            visit_posterior(posterior, Group::FlowMean, Group::FlowFactor, f);
        }
    }
    let predictor = &mut params.predictor;
    predictor.inducing.iter_mut().for_each(|value| f(Group::PredictorInducing, value));
    visit_kernel(&mut predictor.kernel, Group::PredictorVariance, Group::PredictorLengthScale, f);
    visit_posterior(&mut predictor.posterior, Group::PredictorMean, Group::PredictorFactor, f);
    if let Likelihood::Gaussian { noise } = &mut params.likelihood {
        f(Group::Noise, noise);
    }
}

fn visit_kernel(kernel: &mut Kernel, variance: Group, length_scale: Group, f: &mut dyn FnMut(Group, &mut f64)) {
    f(variance, &mut kernel.variance);
    kernel.length_scales.iter_mut().for_each(|value| f(length_scale, value));
}

fn visit_posterior(posterior: &mut Posterior, mean: Group, factor: Group, f: &mut dyn FnMut(Group, &mut f64)) {
    posterior.mean.iter_mut().for_each(|value| f(mean, value));
    visit_lower_triangle(&mut posterior.factor, &mut |value| f(factor, value));
}

fn visit_lower_triangle(matrix: &mut DMatrix<f64>, f: &mut dyn FnMut(&mut f64)) {
    for (column, mut values) in matrix.column_iter_mut().enumerate() {
        values.iter_mut().skip(column).for_each(&mut *f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Temporal;
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
        assert_eq!(back.flow.as_ref().unwrap().posteriors, params.flow.as_ref().unwrap().posteriors);
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
