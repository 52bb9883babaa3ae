use super::*;

/// A likelihood, a target, means and variances.
fn cases() -> Vec<(Likelihood, Vec<f64>, Vec<f64>, Vec<f64>)> {
    let mut cases = Vec::new();
    for (y, mean, variance) in [(1.0, 0.4, 0.7), (0.0, 2.0, 0.2), (1.0, -3.0, 1.5)] {
        let two = (vec![y, 0.3], vec![mean, -0.7], vec![variance, 0.4]);
        cases.push((Likelihood::Gaussian { noise: vec![0.3, 0.8] }, two.0, two.1, two.2));
        cases.push((Likelihood::Bernoulli { epsilon: 1e-3 }, vec![y], vec![mean], vec![variance]));
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
