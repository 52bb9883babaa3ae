use super::quadrature::GAUSS_HERMITE;
use super::*;
use crate::noise::NoiseKey;
use crate::philox::Purpose;

/// A likelihood, a target, means and variances.
type Case = (Likelihood, Vec<f64>, Vec<f64>, Vec<f64>);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (y, mean, variance) in [(1.0, 0.4, 0.7), (0.0, 2.0, 0.2), (1.0, -3.0, 1.5)] {
        let two = (vec![y, 0.3], vec![mean, -0.7], vec![variance, 0.4]);
        cases.push((Likelihood::Gaussian { noise: vec![0.3, 0.8] }, two.0, two.1, two.2));
        cases.push((Likelihood::Bernoulli { epsilon: 1e-3 }, vec![y], vec![mean], vec![variance]));
        cases.push((Likelihood::Softmax, vec![2.0 * y], vec![mean, 0.3, -0.5, 1.0], vec![variance, 0.6, 2.0, 0.1]));
    }
    cases
}

#[test]
fn derivatives_are_those_of_the_value() {
    for (likelihood, y, mean, variance) in cases() {
        let outputs = mean.len();
        let evaluate = |likelihood: &Likelihood, mean: &[f64], variance: &[f64]| {
            let (mut by_mean, mut by_variance) = (vec![0.0; outputs], vec![0.0; outputs]);
            let mut own = vec![0.0; likelihood.noise().len()];
            let mut slopes = Slopes { mean: &mut by_mean, variance: &mut by_variance, own: &mut own };
            let value = likelihood.with(|density| density.expectation(&y, Latent { mean, variance }, &mut slopes));
            (value, [by_mean, by_variance, own].concat())
        };
        let (_, slopes) = evaluate(&likelihood, &mean, &variance);
        let moved = |index: usize, by: f64| {
            let (mut likelihood, mut moments) = (likelihood.clone(), [mean.clone(), variance.clone()].concat());
            match moments.get_mut(index) {
                Some(moment) => *moment += by,
                None => likelihood.noise_mut()[index - 2 * outputs] += by,
            }
            evaluate(&likelihood, &moments[..outputs], &moments[outputs..]).0
        };
        let h = 1e-6;
        for (index, slope) in slopes.into_iter().enumerate() {
            let difference = (moved(index, h) - moved(index, -h)) / (2.0 * h);
            // Central differences with h = 1e-6 keep eight digits of values of order 1 to 10.
            assert!((slope - difference).abs() < 1e-8 * (1.0 + slope.abs()), "{likelihood:?} {index}");
        }
    }
}

/// Means and variances of digits, vehicles and soils as trained models gave them, and some that are harder.
fn classes() -> Vec<(Vec<f64>, Vec<f64>)> {
    vec![
        (
            vec![-0.4, 4.6, 0.3, -2.0, 4.2, -1.2, 10.1, -3.2, 3.2, -5.2],
            vec![4.3, 2.0, 3.4, 5.3, 2.3, 4.5, 1.7, 5.3, 2.2, 6.3],
        ),
        (
            vec![-3.7, 3.1, 0.3, 0.4, 2.9, -2.3, -5.4, 8.5, 1.4, 2.7],
            vec![7.3, 3.3, 4.6, 4.5, 2.8, 5.3, 7.8, 1.9, 3.2, 3.0],
        ),
        (vec![-1.7, 2.5, 1.3, 0.5], vec![0.8, 0.4, 0.4, 0.8]),
        (vec![-2.1, 4.2, 4.9, -2.0], vec![1.8, 0.3, 0.3, 2.8]),
        (vec![-1.1, -1.3, 0.4, 1.4, 1.7, -0.2], vec![2.4, 1.6, 1.6, 1.7, 1.8, 1.8]),
        (vec![0.0; 3], vec![1.0; 3]),
        (vec![3.0, 0.0, 0.0], vec![9.0, 0.1, 4.0]),
    ]
}

/// E[softmax(g)] and E[log Σ exp g] from so many normal numbers, each with its mirror image.
fn sampled(mean: &[f64], variance: &[f64], draws: usize) -> (Vec<f64>, f64) {
    let (mut probabilities, mut log_sum, mut normals) = (vec![0.0; mean.len()], 0.0, Vec::new());
    let key = NoiseKey { seed: 1, purpose: Purpose::Validation, iteration: 0 };
    crate::noise::fill(&mut normals, key, &(0..draws).collect::<Vec<_>>(), 1, 1, mean.len());
    for normals in normals.chunks_exact(mean.len()) {
        for sign in [1.0, -1.0] {
            let moments = mean.iter().zip(variance).zip(normals);
            let e: Vec<f64> = moments.map(|((m, v), &e)| (m + sign * v.sqrt() * f64::from(e)).exp()).collect();
            let sum: f64 = e.iter().sum();
            log_sum += sum.ln() / (2 * draws) as f64;
            probabilities.iter_mut().zip(e).for_each(|(p, e)| *p += e / sum / (2 * draws) as f64);
        }
    }
    (probabilities, log_sum)
}

/// E_q[log p(class | g)] of a softmax, and p(c | q).
fn softmax(class: usize, mean: &[f64], variance: &[f64]) -> (f64, Vec<f64>) {
    let (mut by_mean, mut by_variance, mut own) = (mean.to_vec(), mean.to_vec(), []);
    let mut slopes = Slopes { mean: &mut by_mean, variance: &mut by_variance, own: &mut own };
    let (at, mut probabilities) = (Latent { mean, variance }, vec![0.0; mean.len()]);
    let value = Likelihood::Softmax.with(|density| {
        density.probabilities(at, &mut probabilities);
        density.expectation(&[class as f64], at, &mut slopes)
    });
    (value, probabilities)
}

#[test]
fn softmax_agrees_with_exhaustive_sampling() {
    for (mean, variance) in classes() {
        let (probabilities, log_sum) = sampled(&mean, &variance, 200_000);
        let (value, found) = softmax(1, &mean, &variance);
        // 400,000 draws are right to 0.001. The cubature is of third degree: 0.037 off at a variance of 9.
        assert!((value - (mean[1] - log_sum)).abs() < 0.045, "{mean:?}: {value}, {}", mean[1] - log_sum);
        // One Gaussian stands for all other classes: 0.005 off at most as models are trained, 0.036 where one class has
        // ninety times the variance of another.
        let worst = found.iter().zip(&probabilities).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let allowed = if variance.iter().any(|&v| v > 8.0) { 0.045 } else { 0.008 };
        assert!(worst < allowed, "{worst}: {mean:?} {variance:?}: {found:?}, {probabilities:?}");
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn softmax_of_two_classes_is_a_logistic_sigmoid() {
    for (difference, variance) in [(0.3, 0.5), (-2.0, 1.5), (4.0, 3.0)] {
        let (mean, variances) = ([0.5, 0.5 + difference], [0.4 * variance, 0.6 * variance]);
        let (value, found) = softmax(1, &mean, &variances);
        // The difference of both outputs is a Gaussian: one dimension, 20 nodes.
        let at = |node: f64| 1.0 / (1.0 + (-difference - (2.0_f64 * variance).sqrt() * node).exp());
        let exact =
            |f: &dyn Fn(f64) -> f64| GAUSS_HERMITE.iter().map(|&(node, weight)| weight * f(at(node))).sum::<f64>();
        assert!((found[1] - exact(&|p| p)).abs() < 2e-3, "{difference}: {found:?}");
        assert!((value - exact(&f64::ln)).abs() < 1e-2, "{difference}: {value} {}", exact(&f64::ln));
    }
}

#[test]
fn softmax_of_certain_outputs_is_the_softmax_and_shifts_change_nothing() {
    let mean = [0.3_f64, -1.2, 2.0, 0.0];
    let sum: f64 = mean.iter().map(|m| m.exp()).sum();
    let (value, found) = softmax(0, &mean, &[1e-12; 4]);
    assert!((value - (mean[0] - sum.ln())).abs() < 1e-9);
    assert!(found.iter().zip(mean).all(|(p, m)| (p - m.exp() / sum).abs() < 1e-9));
    let variance = [0.5, 2.0, 1.0, 3.0];
    let ((value, found), (shifted, moved)) =
        (softmax(2, &mean, &variance), softmax(2, &mean.map(|m| m + 7.0), &variance));
    // Rounding of numbers near 10.
    assert!((value - shifted).abs() < 1e-13 && found.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-13));
}

#[test]
fn extreme_outputs_leave_softmax_finite() {
    for (mean, variance) in [(vec![-300.0, 0.0, 300.0], vec![1e-8; 3]), (vec![0.0; 32], vec![100.0; 32])] {
        let (value, found) = softmax(0, &mean, &variance);
        assert!(value.is_finite() && found.iter().all(|&p| p > 0.0 && p.ln().is_finite()), "{value}: {found:?}");
    }
}
